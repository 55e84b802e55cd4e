// Geometry of the shapes. Each shape becomes a standard geometry and a scale:
// balls of all sizes, and boxes of all proportions, then share one draw call.
import { BufferAttribute, BufferGeometry, CapsuleGeometry, Matrix4, SphereGeometry } from "three";
import type { CapsuleShape, MeshShape, Shape, SphereShape, Vec3 } from "./types";

export interface Model {
  /** Models with equal keys have equal geometry. */
  key: string;
  /** From the standard geometry to the shape. */
  fit: Matrix4;
  /** Round shapes carry a pattern, as their rotation could not be seen otherwise. */
  round: boolean;
  /** Its fineness depends on how many shapes the scene has in total. */
  build(total: number): BufferGeometry;
}

/** Coarser where there are so many that each is small on the screen. */
function segments(total: number): number {
  if (total > 4000) return 12;
  return total > 400 ? 20 : 48;
}

function sphereModel(shape: SphereShape): Model {
  return {
    key: "sphere",
    fit: new Matrix4().makeScale(shape.radius, shape.radius, shape.radius),
    round: true,
    build: (total) => new SphereGeometry(1, segments(total), segments(total) / 2),
  };
}

function capsuleModel(shape: CapsuleShape): Model {
  const slenderness = shape.radius > 0 ? shape.half_length / shape.radius : 0;
  return {
    key: `capsule ${slenderness.toPrecision(6)}`,
    fit: new Matrix4().makeScale(shape.radius, shape.radius, shape.radius),
    round: true,
    // three.js lays the axis along y; ours is z.
    build: (total) =>
      new CapsuleGeometry(1, 2 * slenderness, segments(total) / 4, segments(total)).rotateX(Math.PI / 2),
  };
}

function vertex(shape: MeshShape, index: number): Vec3 {
  return shape.vertices.slice(3 * index, 3 * index + 3) as Vec3;
}

/** Newell's method: right for any planar polygon. */
function faceNormal(shape: MeshShape, face: number[]): Vec3 {
  const n: Vec3 = [0, 0, 0];
  face.forEach((index, i) => {
    const a = vertex(shape, index);
    const b = vertex(shape, face[(i + 1) % face.length]!);
    n[0] += (a[1] - b[1]) * (a[2] + b[2]);
    n[1] += (a[2] - b[2]) * (a[0] + b[0]);
    n[2] += (a[0] - b[0]) * (a[1] + b[1]);
  });
  const length = Math.hypot(...n) || 1;
  return [n[0] / length, n[1] / length, n[2] / length];
}

const crispCosine = Math.cos((22 * Math.PI) / 180);

/** For each face, which of its edges are sharp enough to be drawn as a line. */
function sharpEdges(shape: MeshShape): boolean[][] {
  const normals = shape.faces.map((f) => faceNormal(shape, f));
  const owner = new Map<string, number>();
  shape.faces.forEach((face, f) => face.forEach((a, i) => owner.set(`${a} ${face[(i + 1) % face.length]!}`, f)));
  return shape.faces.map((face, f) =>
    face.map((a, i) => {
      const other = owner.get(`${face[(i + 1) % face.length]!} ${a}`);
      if (other === undefined) return true;
      const n = normals[f]!;
      const m = normals[other]!;
      return n[0] * m[0] + n[1] * m[1] + n[2] * m[2] < crispCosine;
    }),
  );
}

/** Scales the mesh to the cube from -1 to 1. */
function standardise(shape: MeshShape): { shape: MeshShape; fit: Matrix4 } {
  const lo = [Infinity, Infinity, Infinity];
  const hi = [-Infinity, -Infinity, -Infinity];
  shape.vertices.forEach((v, i) => {
    lo[i % 3] = Math.min(lo[i % 3]!, v);
    hi[i % 3] = Math.max(hi[i % 3]!, v);
  });
  const half = lo.map((l, i) => (hi[i]! - l) / 2 || 1);
  const middle = lo.map((l, i) => (hi[i]! + l) / 2);
  const vertices = shape.vertices.map((v, i) => (v - middle[i % 3]!) / half[i % 3]!);
  const fit = new Matrix4().makeTranslation(middle[0]!, middle[1]!, middle[2]!);
  fit.multiply(new Matrix4().makeScale(half[0]!, half[1]!, half[2]!));
  return { shape: { kind: "mesh", vertices, faces: shape.faces }, fit };
}

function faceCentre(shape: MeshShape, face: number[]): Vec3 {
  const sum: Vec3 = [0, 0, 0];
  for (const index of face) vertex(shape, index).forEach((v, i) => (sum[i]! += v / face.length));
  return sum;
}

/**
 * Each face is a fan about its centre. The attribute "edge" is 0 on a sharp
 * edge and 1 at the centre, from which the shader draws lines of even width
 * without a second pass over the bodies.
 */
function meshGeometry(shape: MeshShape, sharp: boolean[][]): BufferGeometry {
  const positions: number[] = [];
  const normals: number[] = [];
  const edge: number[] = [];
  shape.faces.forEach((face, f) => {
    const c = faceCentre(shape, face);
    const n = faceNormal(shape, face);
    face.forEach((index, i) => {
      const rim = sharp[f]![i] ? 0 : 1;
      positions.push(...c, ...vertex(shape, index), ...vertex(shape, face[(i + 1) % face.length]!));
      normals.push(...n, ...n, ...n);
      edge.push(1, rim, rim);
    });
  });
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(positions), 3));
  geometry.setAttribute("normal", new BufferAttribute(new Float32Array(normals), 3));
  geometry.setAttribute("edge", new BufferAttribute(new Float32Array(edge), 1));
  return geometry;
}

function meshModel(original: MeshShape): Model {
  const sharp = sharpEdges(original);
  const { shape, fit } = standardise(original);
  const rounded = shape.vertices.map((v) => Math.round(v * 1e5));
  return {
    key: JSON.stringify([rounded, shape.faces, sharp.map((s) => s.map(Number))]),
    fit,
    round: false,
    build: () => meshGeometry(shape, sharp),
  };
}

/** Half-spaces have no model: they are drawn as planes. */
export function modelOf(shape: Shape): Model | null {
  switch (shape.kind) {
    case "sphere":
      return sphereModel(shape);
    case "capsule":
      return capsuleModel(shape);
    case "mesh":
      return shape.faces.length > 0 ? meshModel(shape) : null;
    case "halfspace":
      return null;
  }
}
