// How much room the scene takes, without any drawing library.
import type { Motion } from "./motion";
import type { Body, Header, Pose, Quat, Shape, Vec3 } from "./types";

export interface Bounds {
  lo: Vec3;
  hi: Vec3;
}

const empty = (): Bounds => ({ lo: [Infinity, Infinity, Infinity], hi: [-Infinity, -Infinity, -Infinity] });

export const isEmpty = (b: Bounds): boolean => !(b.lo[0] <= b.hi[0]);

export const centre = (b: Bounds): Vec3 => [0, 1, 2].map((i) => (b.lo[i]! + b.hi[i]!) / 2) as Vec3;

/** Half the diagonal. */
export const radius = (b: Bounds): number => Math.hypot(...b.hi.map((h, i) => h - b.lo[i]!)) / 2;

function grow(bounds: Bounds, point: ArrayLike<number>, margin: number): void {
  for (let i = 0; i < 3; i++) {
    bounds.lo[i] = Math.min(bounds.lo[i]!, point[i]! - margin);
    bounds.hi[i] = Math.max(bounds.hi[i]!, point[i]! + margin);
  }
}

function unite(bounds: Bounds, other: Bounds): void {
  if (isEmpty(other)) return;
  grow(bounds, other.lo, 0);
  grow(bounds, other.hi, 0);
}

export function rotate(q: Quat, v: Vec3): Vec3 {
  const [w, x, y, z] = q;
  const tx = 2 * (y * v[2] - z * v[1]);
  const ty = 2 * (z * v[0] - x * v[2]);
  const tz = 2 * (x * v[1] - y * v[0]);
  return [v[0] + w * tx + y * tz - z * ty, v[1] + w * ty + z * tx - x * tz, v[2] + w * tz + x * ty - y * tx];
}

export function place(pose: Pose, v: Vec3): Vec3 {
  const turned = rotate(pose.rotation, v);
  return [turned[0] + pose.position[0], turned[1] + pose.position[1], turned[2] + pose.position[2]];
}

/** Points, each with a ball around it, whose hull is the shape. */
function hull(shape: Shape): { points: Vec3[]; margin: number } {
  if (shape.kind === "sphere") return { points: [[0, 0, 0]], margin: shape.radius };
  if (shape.kind === "capsule") {
    return { points: [[0, 0, -shape.half_length], [0, 0, shape.half_length]], margin: shape.radius };
  }
  if (shape.kind === "halfspace") return { points: [], margin: 0 };
  const points: Vec3[] = [];
  for (let i = 0; i < shape.vertices.length; i += 3) points.push(shape.vertices.slice(i, i + 3) as Vec3);
  return { points, margin: 0 };
}

/** Greatest distance of a body's surface from its origin. */
export function bodyRadius(body: Body, shapes: Shape[]): number {
  let reach = 0;
  for (const part of body.parts) {
    const { points, margin } = hull(shapes[part.shape]!);
    for (const p of points) reach = Math.max(reach, Math.hypot(...place(part, p)) + margin);
  }
  return reach;
}

/** About how far a point, in the frame of a body, is outside of it; 0 or less inside. */
export function outside(body: Body, shapes: Shape[], point: Vec3): number {
  return Math.min(...body.parts.map((part) => outsideOf(shapes[part.shape]!, unplace(part, point))));
}

function outsideOf(shape: Shape, [x, y, z]: Vec3): number {
  if (shape.kind === "sphere") return Math.hypot(x, y, z) - shape.radius;
  if (shape.kind === "halfspace") return z;
  if (shape.kind === "capsule") return Math.hypot(x, y, Math.max(Math.abs(z) - shape.half_length, 0)) - shape.radius;
  return Math.max(...shape.faces.map((face) => above(shape.vertices, face, [x, y, z])));
}

/** Height of a point above the plane of a face. */
function above(vertices: number[], face: number[], point: Vec3): number {
  const [a, b, c] = [0, 1, 2].map((i) => vertices.slice(3 * face[i]!, 3 * face[i]! + 3)) as [Vec3, Vec3, Vec3];
  const u = b.map((v, i) => v - a[i]!) as Vec3;
  const w = c.map((v, i) => v - a[i]!) as Vec3;
  const n = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]];
  const size = Math.hypot(...n);
  return size > 0 ? n.reduce((sum, v, i) => sum + v * (point[i]! - a[i]!), 0) / size : -Infinity;
}

/** A point in the frame of a pose that lies in the outer frame at `v`. */
function unplace(pose: Pose, v: Vec3): Vec3 {
  const [w, x, y, z] = pose.rotation;
  return rotate([w, -x, -y, -z], v.map((c, i) => c - pose.position[i]!) as Vec3);
}

function fixedBounds(body: Body, shapes: Shape[]): Bounds {
  const bounds = empty();
  for (const part of body.parts) {
    const { points, margin } = hull(shapes[part.shape]!);
    for (const p of points) grow(bounds, place(body.pose!, place(part, p)), margin);
  }
  return bounds;
}

function movingBounds(motion: Motion): Bounds {
  const { bodies, shapes } = motion.header;
  const bounds = empty();
  if (motion.frames === 0) return bounds;
  bodies.forEach((body, i) => {
    const box = motion.box(i);
    if (!box) return;
    const skin = body.solid === null ? null : motion.skins.box(body.solid);
    if (skin) {
      grow(bounds, [0, 1, 2].map((c) => box[c]! + skin[c]!), 0);
      grow(bounds, [0, 1, 2].map((c) => box[3 + c]! + skin[3 + c]!), 0);
      return;
    }
    const reach = bodyRadius(body, shapes);
    grow(bounds, box.subarray(0, 3), reach);
    grow(bounds, box.subarray(3, 6), reach);
  });
  return bounds;
}

/**
 * The whole motion, and those fixed bodies which do not dwarf it: a table top
 * of ten metres must not turn a rolling coin into a dot.
 */
export function sceneBounds(motion: Motion): Bounds {
  const { bodies, shapes } = motion.header;
  const bounds = movingBounds(motion);
  const limit = isEmpty(bounds) ? Infinity : 2.5 * radius(bounds);
  for (const body of bodies) {
    if (!body.fixed) continue;
    const own = fixedBounds(body, shapes);
    if (!isEmpty(own) && radius(own) <= limit) unite(bounds, own);
  }
  if (isEmpty(bounds)) return { lo: [-1, -1, 0], hi: [1, 1, 1] };
  if (radius(bounds) < 1e-9) grow(bounds, bounds.lo, 0.5);
  return bounds;
}

/** Height of a fixed level half-space, if there is one: that is the ground. */
export function levelGround(header: Header): number | null {
  for (const body of header.bodies) {
    if (!body.fixed) continue;
    for (const part of body.parts) {
      if (header.shapes[part.shape]!.kind === "halfspace" && isLevel(body, part)) return place(body.pose!, part.position)[2];
    }
  }
  return null;
}

export function isLevel(body: Body, part: Pose): boolean {
  return !!body.pose && rotate(body.pose.rotation, rotate(part.rotation, [0, 0, 1]))[2] > 1 - 1e-6;
}

/** The grid lies at z = 0 when the scene stands about there, else beneath everything. */
export function groundHeight(header: Header, bounds: Bounds): number {
  const level = levelGround(header);
  if (level !== null) return level;
  const low = bounds.lo[2];
  const size = radius(bounds);
  return low > -0.1 * size && low < 0.5 * size ? 0 : low;
}

/** The median size of the moving bodies, for things drawn beside them. */
export function typicalSize(header: Header): number {
  const sizes = header.bodies.filter((b) => !b.fixed).map((b) => (b.solid === null ? bodyRadius(b, header.shapes) : header.solids[b.solid]!.radius)).filter((r) => r > 0);
  sizes.sort((a, b) => a - b);
  return sizes[sizes.length >> 1] ?? 1;
}
