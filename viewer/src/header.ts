// Checks the JSON part and fills in what may be absent, so that the rest of
// the page never meets an undefined value.
import { readChannels } from "./channels";
import { bodyIndex, fail, list, maybeNumber, numbers, object, positive, readPose, text, type Json } from "./json";
import { readJoint, readPlan } from "./plandata";
import { readSkins } from "./skins";
import type { AuditColumn, Body, Events, Header, Part, Shape, Vec3, VerdictRow, Wall } from "./types";

// Paul Tol's "bright" scheme: told apart by colour-blind readers as well.
const palette = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377"];
const fixedColor = "#a3abb5";

function readMesh(json: Json, what: string): Shape {
  const vertices = numbers(json.vertices, -1, `${what} vertices`);
  const count = vertices.length / 3;
  const faces = list(json.faces, `${what} faces`).map((f) => numbers(f, -1, `${what} face`));
  const inRange = (i: number) => Number.isInteger(i) && i >= 0 && i < count;
  if (!Number.isInteger(count) || !faces.every((f) => f.length >= 3 && f.every(inRange))) fail(`${what} has a wrong face`);
  return { kind: "mesh", vertices, faces };
}

function readShape(value: unknown, index: number): Shape {
  const what = `shape ${index}`;
  const json = object(value, what);
  switch (json.kind) {
    case "mesh":
      return readMesh(json, what);
    case "sphere":
      return { kind: "sphere", radius: positive(json.radius, `${what} radius`) };
    case "capsule":
      return {
        kind: "capsule",
        radius: positive(json.radius, `${what} radius`),
        half_length: positive(json.half_length, `${what} half_length`),
      };
    case "halfspace":
      return { kind: "halfspace" };
    default:
      return fail(`${what} is of an unknown kind`);
  }
}

function readPart(value: unknown, shapes: number, what: string): Part {
  const shape = object(value, what).shape;
  if (typeof shape !== "number" || !Number.isInteger(shape) || shape < 0 || shape >= shapes) fail(`${what} names no shape`);
  return { shape: shape as number, ...readPose(value, what) };
}

function readColor(value: unknown, index: number, fixed: boolean): string {
  if (typeof value === "string" && /^#[0-9a-f]{6}$/i.test(value)) return value;
  return fixed ? fixedColor : palette[index % palette.length]!;
}

function readBody(value: unknown, index: number, shapes: number): Body {
  const what = `body ${index}`;
  const json = object(value, what);
  const fixed = json.fixed === true;
  return {
    name: text(json.name) || what,
    color: readColor(json.color, index, fixed),
    mass: maybeNumber(json.mass),
    fixed,
    parts: list(json.parts, `${what} parts`).map((p, i) => readPart(p, shapes, `${what} part ${i}`)),
    pose: fixed ? readPose(json.pose, `${what} pose`) : null,
    solid: null,
  };
}

function readWall(value: unknown, index: number, bodies: number): Wall {
  const what = `wall ${index}`;
  const json = object(value, what);
  const body = bodyIndex(json.body ?? -1, -1, bodies, what);
  return { body, profile: numbers(json.profile, -1, `${what} profile`), ...readPose(value, what) };
}

function readAudit(value: unknown, index: number): AuditColumn {
  const json = object(value, `audit column ${index}`);
  const key = text(json.key) || `column ${index}`;
  const label = text(json.label) || key;
  return { key, label, unit: text(json.unit), group: text(json.group) || label };
}

function readVerdict(value: unknown, index: number): VerdictRow {
  const json = object(value, `verdict row ${index}`);
  return {
    name: text(json.name) || `check ${index}`,
    value: maybeNumber(json.value),
    bound: maybeNumber(json.bound),
    unit: text(json.unit),
    pass: json.pass === true,
    note: text(json.note),
    where: text(json.where),
  };
}

function readCamera(value: unknown): Header["camera"] {
  if (value === undefined || value === null) return null;
  const json = object(value, "camera");
  return {
    position: numbers(json.position, 3, "camera position") as Vec3,
    target: numbers(json.target, 3, "camera target") as Vec3,
  };
}

function readEvents(value: unknown): Events {
  const none: Events = { time: [], kind: [], body: [], point: [], normal: [], impulse: [], total: 0 };
  if (value === undefined || value === null) return none;
  const json = object(value, "events");
  const time = numbers(json.time, -1, "event times");
  const n = time.length;
  if (time.some((t, i) => i > 0 && t < time[i - 1]!)) fail("the events are not in the order of time");
  return {
    time,
    kind: numbers(json.kind, n, "event kinds"),
    body: numbers(json.body, 2 * n, "event bodies"),
    point: numbers(json.point, 3 * n, "event points"),
    normal: numbers(json.normal, 3 * n, "event normals"),
    impulse: numbers(json.impulse, 3 * n, "event impulses"),
    total: maybeNumber(json.total) ?? n,
  };
}

function parse(source: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    fail("it is not JSON");
  }
  return object(value, "it");
}

export function readHeader(source: string): Header {
  const json = parse(source);
  if (json.format !== "carom-replay") fail("it is not a carom-replay");
  if (json.version !== 1) throw new Error(`This page reads version 1 of the replay format, not ${String(json.version)}.`);
  const frames = json.frames;
  if (typeof frames !== "number" || !Number.isInteger(frames) || frames < 0) fail("frames is not a count");
  const shapes = list(json.shapes, "shapes").map(readShape);
  const count = list(json.bodies, "bodies").length;
  const bodies = list(json.bodies, "bodies").map((b, i) => readBody(b, i, shapes.length));
  const solids = readSkins(json.solids, count);
  solids.forEach(({ body }, s) => (bodies[body]!.solid = s));
  return {
    title: text(json.title) || "Replay",
    description: text(json.description),
    generator: text(json.generator),
    integrator: text(json.integrator),
    step: maybeNumber(json.step),
    frames: frames as number,
    planar: json.planar === true,
    shapes,
    bodies,
    solids,
    walls: list(json.walls, "walls").map((w, i) => readWall(w, i, count)),
    audit: list(json.audit, "audit").map(readAudit),
    verdict: list(json.verdict, "verdict").map(readVerdict),
    outcome: text(json.outcome),
    reason: text(json.reason),
    events: readEvents(json.events),
    joints: list(json.joints, "joints").map((j, i) => readJoint(j, i, count)),
    plan: readPlan(json.plan, count),
    channels: readChannels(json.channels, frames as number),
    camera: readCamera(json.camera),
  };
}
