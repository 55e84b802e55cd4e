// Joints, and what belongs to a plan, out of the JSON part.
import { bodyIndex, fail, list, maybeNumber, numbers, object, readPose, text } from "./json";
import type { Actuator, Figure, Joint, JointKind, Plan, Plane, Vec3 } from "./types";

const jointKinds: readonly string[] = [
  "spherical", "revolute", "prismatic", "cylindrical", "planar", "screw", "fixed", "distance", "spring",
];
const actuatorKinds: readonly string[] = ["wrench", "thruster", "joint"];

function pair(value: unknown, lowest: number, bodies: number, what: string): [number, number] {
  const both = numbers(value, 2, `${what} bodies`);
  return [bodyIndex(both[0], lowest, bodies, what), bodyIndex(both[1], lowest, bodies, what)];
}

export function readJoint(value: unknown, index: number, bodies: number): Joint {
  const what = `joint ${index}`;
  const json = object(value, what);
  const kind = text(json.kind);
  if (!jointKinds.includes(kind)) fail(`${what} is of an unknown kind`);
  const frames = list(json.frames, `${what} frames`).map((f) => readPose(f, `${what} frame`));
  if (frames.length !== 2) fail(`${what} has not two frames`);
  return {
    name: text(json.name),
    kind: kind as JointKind,
    body: pair(json.body, -1, bodies, what),
    frames: [frames[0]!, frames[1]!],
    latch: json.latch === true,
  };
}

function readActuator(value: unknown, index: number, bodies: number): Actuator {
  const what = `actuator ${index}`;
  const json = object(value, what);
  const kind = text(json.kind);
  if (!actuatorKinds.includes(kind)) fail(`${what} is of an unknown kind`);
  return {
    name: text(json.name) || what,
    kind: kind as Actuator["kind"],
    body: bodyIndex(json.body, 0, bodies, what),
    axes: bodyIndex(json.axes, -1, bodies, what),
    point: numbers(json.point, 3, `${what} point`) as Vec3,
  };
}

function readPlane(value: unknown, index: number, bodies: number, nodes: number): Plane {
  const what = `plane ${index}`;
  const json = object(value, what);
  const node = maybeNumber(json.node);
  if (node === null || !Number.isInteger(node) || node < 0 || node >= nodes) fail(`${what} is at no node`);
  return {
    node: node as number,
    span: json.span === true,
    body: pair(json.body, 0, bodies, what),
    normal: numbers(json.normal, 3, `${what} normal`) as Vec3,
    point: numbers(json.point, 3, `${what} point`) as Vec3,
  };
}

function readFigure(value: unknown): Figure {
  const json = object(value, "a row of the table");
  return { label: text(json.label), unit: text(json.unit), guess: maybeNumber(json.guess), optimum: maybeNumber(json.optimum) };
}

/** A column with gaps. */
function column(value: unknown, count: number, what: string): Array<number | null> {
  const all = list(value, what).map(maybeNumber);
  if (all.length !== count) fail(`${what} has not ${count} entries`);
  return all;
}

function readHistory(value: unknown): Plan["history"] {
  const json = object(value ?? {}, "history");
  const iteration = numbers(json.iteration, -1, "history iterations");
  const n = iteration.length;
  return {
    iteration,
    solve: numbers(json.solve, n, "history solves"),
    cost: column(json.cost, n, "history costs"),
    infeasibility: column(json.infeasibility, n, "history infeasibilities"),
  };
}

export function readPlan(value: unknown, bodies: number): Plan | null {
  if (value === undefined || value === null) return null;
  const json = object(value, "plan");
  const time = numbers(json.time, -1, "plan times");
  if (time.some((t, i) => i > 0 && t < time[i - 1]!)) fail("the nodes are not in the order of time");
  const actuators = list(json.actuators, "actuators").map((a, i) => readActuator(a, i, bodies));
  const joints = list(json.joints ?? [], "joints of the plan").map(text);
  const count = 3 * Math.max(time.length - 1, 0) * actuators.length;
  return {
    history: readHistory(json.history),
    actuators,
    time,
    force: numbers(json.force, count, "planned forces"),
    torque: numbers(json.torque, count, "planned torques"),
    joints,
    jointForce: numbers(json.joint_force ?? [], 3 * time.length * joints.length, "forces in joints"),
    planes: list(json.planes, "planes").map((p, i) => readPlane(p, i, bodies, time.length)),
    table: list(json.table, "table").map(readFigure),
  };
}
