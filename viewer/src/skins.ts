// The surfaces of solids that deform: what the page knows of them, and where their nodes are at a time.
import { fail, list, numbers, object, positive, type Json } from "./json";
import type { Cursor } from "./motion";
import type { Skin } from "./types";

export const skinBoxLength = 7; // lo, hi, largest stress
const levels = 65535;
const shades = 255;

function count(value: unknown, what: string): number {
  const n = positive(value, what);
  if (!Number.isInteger(n)) fail(`${what} is not a count`);
  return n;
}

export function readSkin(value: unknown, index: number, bodies: number): Skin {
  const what = `solid ${index}`;
  const json: Json = object(value, what);
  const nodes = count(json.nodes, `${what} nodes`);
  const triangles = numbers(json.triangles, -1, `${what} triangles`);
  const inRange = (i: number) => Number.isInteger(i) && i >= 0 && i < nodes;
  if (triangles.length % 3 !== 0 || !triangles.every(inRange)) fail(`${what} has a wrong triangle`);
  const body = count(json.body, `${what} body`);
  if (body >= bodies) fail(`${what} is of no body`);
  return { body, nodes, radius: positive(json.radius, `${what} radius`), triangles, tetrahedra: count(json.tetrahedra ?? 0, what) };
}

export function readSkins(value: unknown, bodies: number): Skin[] {
  return list(value, "solids").map((s, i) => readSkin(s, i, bodies));
}

/** As the data has them; nodes of all skins are counted together. */
export interface SkinStreams {
  boxes: Float32Array;
  /** Component-major, then by node, then by frame. */
  levels: Uint16Array;
  /** By node, then by frame. */
  shades: Uint8Array;
}

/** Smooth motion is stored as the change of its differences. */
export function undoSlopes(values: Uint16Array, frames: number): void {
  for (let start = 0; start < values.length; start += frames) {
    let slope = 0;
    for (let f = 1; f < frames; f++) {
      slope += values[start + f]!;
      values[start + f] = values[start + f - 1]! + slope;
    }
  }
}

export function undoShades(values: Uint8Array, frames: number): void {
  for (let start = 0; start < values.length; start += frames) {
    for (let f = 1; f < frames; f++) values[start + f] += values[start + f - 1]!;
  }
}

export class SkinMotion {
  private readonly starts: number[] = [];
  private readonly total: number;
  /** What the full colour of stress stands for, Pa; few are above it. */
  readonly fullStress: number;
  readonly largestStress: number;

  constructor(
    readonly skins: Skin[],
    private readonly data: SkinStreams,
    private readonly frames: number,
  ) {
    let next = 0;
    for (const skin of skins) {
      this.starts.push(next);
      next += skin.nodes;
    }
    this.total = next;
    this.largestStress = Math.max(0, ...skins.map((_, s) => this.box(s)[6]!));
    this.fullStress = this.usualMost();
  }

  /** Relative to the centre of mass: lo, hi, and the largest stress of a node. */
  box(skin: number): Float32Array {
    return this.data.boxes.subarray(skin * skinBoxLength, (skin + 1) * skinBoxLength);
  }

  /** A short blow must not turn all the rest pale: one in two hundred values may be above. Rounded up to two digits. */
  private usualMost(): number {
    const histogram = new Float64Array(1001);
    let all = 0;
    this.skins.forEach((skin, s) => {
      const scale = this.largestStress > 0 ? this.box(s)[6]! / this.largestStress / shades : 0;
      const from = this.starts[s]! * this.frames;
      for (let i = from; i < from + skin.nodes * this.frames; i++, all++) histogram[Math.ceil(this.data.shades[i]! * scale * 1000)]!++;
    });
    let above = 0;
    let bin = 1000;
    while (bin > 1 && above + histogram[bin]! <= all / 200) above += histogram[bin--]!;
    const wanted = (this.largestStress * bin) / 1000;
    if (!(wanted > 0)) return 0;
    const step = 10 ** (Math.floor(Math.log10(wanted)) - 1);
    return Math.min(Math.ceil(wanted / step - 1e-9) * step, Math.max(this.largestStress, wanted));
  }

  /** Positions of the nodes from the centre of mass, three numbers each. */
  positions(skin: number, cursor: Cursor, out: Float32Array): void {
    const box = this.box(skin);
    const { nodes } = this.skins[skin]!;
    const next = cursor.alpha > 0 ? 1 : 0;
    for (let c = 0; c < 3; c++) {
      const lo = box[c]!;
      const scale = (box[3 + c]! - lo) / levels;
      let at = (c * this.total + this.starts[skin]!) * this.frames + cursor.frame;
      for (let n = 0; n < nodes; n++, at += this.frames) {
        const here = this.data.levels[at]!;
        out[3 * n + c] = lo + scale * (here + (this.data.levels[at + next]! - here) * cursor.alpha);
      }
    }
  }

  /** The largest stress of a node of the surface, Pa. */
  largestAt(skin: number, cursor: Cursor): number {
    const stresses = new Float32Array(this.skins[skin]!.nodes);
    this.stresses(skin, cursor, stresses);
    return stresses.reduce((most, v) => Math.max(most, v), 0);
  }

  /** Von Mises' stress of the nodes, Pa. */
  stresses(skin: number, cursor: Cursor, out: Float32Array): void {
    const scale = this.box(skin)[6]! / shades;
    const next = cursor.alpha > 0 ? 1 : 0;
    let at = this.starts[skin]! * this.frames + cursor.frame;
    for (let n = 0; n < this.skins[skin]!.nodes; n++, at += this.frames) {
      const here = this.data.shades[at]!;
      out[n] = scale * (here + (this.data.shades[at + next]! - here) * cursor.alpha);
    }
  }
}
