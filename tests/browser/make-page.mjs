// Writes replay pages from synthetic motions. It follows viewer/FORMAT.md and
// shares no code with the C library or the page, so that the three check each
// other.
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
export const templatePath = process.env.CAROM_TEMPLATE ?? join(here, "..", "..", "viewer", "dist", "replay.html");
export const marker = "<!--CAROM-REPLAY-->";

/**
 * A state is { position, rotation, speed, spin }; motion(body, time) gives it. deformation(solid, time) gives the skin of
 * a solid: { nodes, stress }, relative to the position of its body.
 */
export function encode(header, times, audit, motion, channels = [], deformation = null) {
  const moving = header.bodies.map((b, i) => i).filter((i) => !header.bodies[i].fixed);
  const states = moving.map((body) => Array.from(times, (t) => motion(body, t)));
  const boxes = states.map(boxOf);
  const values = quantise(states, boxes, times.length);
  const parts = [
    Buffer.from(new Float64Array(times).buffer),
    ...audit.map((column) => Buffer.from(new Float64Array(column).buffer)),
    ...boxes.map((box) => Buffer.from(box.buffer)),
    bytePlanes(values),
    ...channelParts(channels),
    ...skinParts((header.solids ?? []).map((_, s) => Array.from(times, (t) => deformation(s, t)))),
  ];
  return deflateSync(Buffer.concat(parts), { level: 9 }).toString("base64");
}

/** float32 bounds that contain the float64 positions, also after rounding. */
function boxOf(run) {
  const box = new Float32Array(8);
  for (let c = 0; c < 3; c++) {
    const all = run.map((s) => s.position[c]);
    box[c] = all.length ? outward(Math.min(...all), -1) : 0;
    box[3 + c] = all.length ? outward(Math.max(...all), 1) : 0;
  }
  box[6] = outward(Math.max(0, ...run.map((s) => s.speed)), 1);
  box[7] = outward(Math.max(0, ...run.map((s) => s.spin)), 1);
  return box;
}

function outward(value, direction) {
  const near = Math.fround(value);
  if ((near - value) * direction >= 0) return near;
  return Math.fround(value + direction * Math.abs(value) * 2 ** -23);
}

function quantise(states, boxes, frames) {
  const out = new Uint16Array(9 * states.length * frames);
  const share = (v, lo, hi) => (hi > lo ? Math.min(65535, Math.max(0, Math.round(((v - lo) / (hi - lo)) * 65535))) : 0);
  const pick = (s, box, c) => {
    if (c < 3) return share(s.position[c], box[c], box[3 + c]);
    if (c < 7) return Math.round(s.rotation[c - 3] * 32767) + 32768;
    return c === 7 ? share(s.speed, 0, box[6]) : share(s.spin, 0, box[7]);
  };
  let at = 0;
  for (let c = 0; c < 9; c++) {
    states.forEach((run, b) => {
      let before = 0;
      for (const s of run) {
        const value = pick(s, boxes[b], c);
        out[at++] = value - before; // wraps modulo 65536
        before = value;
      }
    });
  }
  return out;
}

/** Bounds of each channel, then levels between them; 65535 is a gap. A channel is its points. */
function channelParts(channels) {
  const finite = channels.map((run) => run.filter(Number.isFinite));
  const ranges = finite.flatMap((run) => (run.length ? [Math.min(...run), Math.max(...run)] : [NaN, NaN]));
  const out = new Uint16Array(channels.reduce((sum, run) => sum + run.length, 0));
  let at = 0;
  channels.forEach((run, i) => {
    const [lo, hi] = ranges.slice(2 * i, 2 * i + 2);
    let before = 0;
    for (const v of run) {
      const level = !Number.isFinite(v) ? 65535 : hi > lo ? Math.round(((v - lo) / (hi - lo)) * 65534) : 0;
      out[at++] = level - before;
      before = level;
    }
  });
  return [Buffer.from(new Float64Array(ranges).buffer), bytePlanes(out)];
}

/** Boxes of all skins, then levels by component, node and frame as changes of slopes, then stresses by node and frame. */
function skinParts(skins) {
  if (skins.length === 0) return [];
  const box = (run) => Float32Array.from({ length: 7 }, (_, c) => {
    const all = run.flatMap((f) => (c === 6 ? f.stress : f.nodes.map((n) => n[c % 3])));
    return outward(all.reduce(c < 3 ? (a, b) => Math.min(a, b) : (a, b) => Math.max(a, b)), c < 3 ? -1 : 1);
  });
  const boxes = skins.map(box);
  const share = (v, lo, hi, top) => (hi > lo ? Math.min(top, Math.max(0, Math.round(((v - lo) / (hi - lo)) * top))) : 0);
  const levels = [];
  for (let c = 0; c < 3; c++) {
    skins.forEach((run, s) => run[0].nodes.forEach((_, n) => {
      let [before, slope] = [0, 0];
      run.forEach((f, i) => {
        const level = share(f.nodes[n][c], boxes[s][c], boxes[s][3 + c], 65535);
        levels.push(i === 0 ? level : level - before - slope);
        slope = i === 0 ? 0 : level - before;
        before = level;
      });
    }));
  }
  const shades = [];
  skins.forEach((run, s) => run[0].stress.forEach((_, n) => {
    let before = 0;
    for (const f of run) {
      const shade = share(f.stress[n], 0, boxes[s][6], 255);
      shades.push(shade - before);
      before = shade;
    }
  }));
  return [...boxes.map((b) => Buffer.from(b.buffer)), bytePlanes(Uint16Array.from(levels)), Buffer.from(Uint8Array.from(shades))];
}

function bytePlanes(values) {
  const bytes = Buffer.alloc(2 * values.length);
  values.forEach((v, i) => {
    bytes[i] = v & 255;
    bytes[values.length + i] = v >> 8;
  });
  return bytes;
}

export function assemble(template, headerText, base64) {
  const safe = headerText.replace(/<\//g, "<\\/");
  const data =
    `<script id="carom-replay" type="application/json">${safe}</script>\n` +
    `<script id="carom-data" type="text/plain">${base64}</script>`;
  return template.replace(marker, () => data);
}

export async function pageOf(scene) {
  const { header, times, audit, motion, channels, deformation } = scene;
  const full = { format: "carom-replay", version: 1, generator: "make-page", frames: times.length, ...header };
  const template = await readFile(templatePath, "utf8");
  return assemble(template, JSON.stringify(full), encode(full, times, audit ?? [], motion, channels, deformation));
}

export async function writePage(path, scene) {
  const html = await pageOf(scene);
  await writeFile(path, html);
  return html;
}
