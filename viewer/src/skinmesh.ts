// How a skin is cut into corners for drawing: each triangle has three of its own, so that edges can be drawn, and
// corners of a node share a normal where the surface is smooth there.

const creaseCosine = Math.cos((38 * Math.PI) / 180);

export interface SkinMesh {
  /** The node of each corner. */
  nodes: Uint32Array;
  /** Which normal each corner has. */
  normals: Uint32Array;
  normalCount: number;
  /** Per corner: which of the edges opposite to the three corners of its triangle are creases, 1 or 0. */
  creases: Float32Array;
}

function triangleNormal(triangles: number[], t: number, x: Float32Array): [number, number, number] {
  const [a, b, c] = [0, 1, 2].map((k) => 3 * triangles[3 * t + k]!) as [number, number, number];
  const u = [0, 1, 2].map((i) => x[b + i]! - x[a + i]!) as [number, number, number];
  const v = [0, 1, 2].map((i) => x[c + i]! - x[a + i]!) as [number, number, number];
  const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]] as const;
  const size = Math.hypot(...n) || 1;
  return [n[0] / size, n[1] / size, n[2] / size];
}

/** Corners that belong together, as a forest. */
class Sets {
  private readonly parent: Uint32Array;
  constructor(count: number) {
    this.parent = Uint32Array.from({ length: count }, (_, i) => i);
  }
  find(i: number): number {
    while (this.parent[i] !== i) i = this.parent[i] = this.parent[this.parent[i]!]!;
    return i;
  }
  join(a: number, b: number): void {
    this.parent[this.find(a)] = this.find(b);
  }
}

/** Creases are found in the positions given, those of the first frame. */
export function makeSkinMesh(triangles: number[], x: Float32Array): SkinMesh {
  const count = triangles.length / 3;
  const faces = Array.from({ length: count }, (_, t) => triangleNormal(triangles, t, x));
  const nodes = Uint32Array.from(triangles);
  const creases = new Float32Array(3 * triangles.length);
  const sets = new Sets(triangles.length);
  const owner = new Map<number, number>(); // an edge, from one node to the other, and its corner
  const key = (a: number, b: number) => a * 0x4000000 + b;
  triangles.forEach((a, corner) => owner.set(key(a, triangles[next(corner)]!), corner));
  triangles.forEach((a, corner) => {
    const b = triangles[next(corner)]!;
    const other = owner.get(key(b, a));
    const triangle = Math.floor(corner / 3);
    const dot = other === undefined ? -1 : faces[triangle]!.reduce((sum, n, i) => sum + n * faces[Math.floor(other / 3)]![i]!, 0);
    if (other !== undefined && dot >= creaseCosine) {
      sets.join(corner, next(other));
      sets.join(next(corner), other);
    } else {
      const opposite = next(next(corner)) % 3;
      for (let k = 0; k < 3; k++) creases[3 * (3 * triangle + k) + opposite] = 1;
    }
  });
  const numbers = new Map<number, number>();
  const normals = Uint32Array.from(triangles, (_, corner) => {
    const root = sets.find(corner);
    if (!numbers.has(root)) numbers.set(root, numbers.size);
    return numbers.get(root)!;
  });
  return { nodes, normals, normalCount: numbers.size, creases };
}

/** The corner after this one in its triangle. */
function next(corner: number): number {
  return corner % 3 === 2 ? corner - 2 : corner + 1;
}

/** Writes the positions of all corners, and normals weighted by area. */
export function deform(mesh: SkinMesh, x: Float32Array, positions: Float32Array, normals: Float32Array, sums: Float32Array): void {
  sums.fill(0);
  for (let corner = 0; corner < mesh.nodes.length; corner += 3) {
    const [a, b, c] = [3 * mesh.nodes[corner]!, 3 * mesh.nodes[corner + 1]!, 3 * mesh.nodes[corner + 2]!] as const;
    const ux = x[b]! - x[a]!, uy = x[b + 1]! - x[a + 1]!, uz = x[b + 2]! - x[a + 2]!;
    const vx = x[c]! - x[a]!, vy = x[c + 1]! - x[a + 1]!, vz = x[c + 2]! - x[a + 2]!;
    const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    for (let k = 0; k < 3; k++) {
      const from = 3 * mesh.nodes[corner + k]!;
      const to = 3 * (corner + k);
      positions[to] = x[from]!;
      positions[to + 1] = x[from + 1]!;
      positions[to + 2] = x[from + 2]!;
      const n = 3 * mesh.normals[corner + k]!;
      sums[n]! += nx;
      sums[n + 1]! += ny;
      sums[n + 2]! += nz;
    }
  }
  for (let n = 0; n < sums.length; n += 3) {
    const size = Math.hypot(sums[n]!, sums[n + 1]!, sums[n + 2]!) || 1;
    for (let i = 0; i < 3; i++) sums[n + i]! /= size;
  }
  for (let corner = 0; corner < mesh.normals.length; corner++) {
    const n = 3 * mesh.normals[corner]!;
    for (let i = 0; i < 3; i++) normals[3 * corner + i] = sums[n + i]!;
  }
}
