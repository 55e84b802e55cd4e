// Solids that deform, drawn by their skins: in their own colours, or coloured by von Mises' stress.
import { BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, Mesh, Vector3, type Group, type Intersection, type Raycaster } from "three";
import type { Bodies } from "./bodies";
import { SkinMaterial } from "./skinmaterial";
import { deform, makeSkinMesh, type SkinMesh } from "./skinmesh";
import type { Cursor, Motion } from "./motion";
import { stressColor } from "./stresskey";

interface Drawn {
  mesh: Mesh;
  skin: SkinMesh;
  body: number;
  color: Color;
  material: SkinMaterial;
  nodes: Float32Array;
  stress: Float32Array;
  sums: Float32Array;
}

export interface SolidHit {
  body: number;
  distance: number;
  /** Pa, where the ray meets the surface. */
  stress: number;
}

const dynamic = (length: number) => new BufferAttribute(new Float32Array(length), 3).setUsage(DynamicDrawUsage);

export class Solids {
  stressShown = true;
  private readonly drawn: Drawn[] = [];
  private readonly color = new Color();
  private readonly place = new Vector3();

  constructor(
    private readonly motion: Motion,
    private readonly bodies: Bodies,
    group: Group,
  ) {
    if (motion.frames === 0) return;
    motion.skins.skins.forEach((_, s) => this.drawn.push(this.make(s)));
    for (const { mesh } of this.drawn) group.add(mesh);
  }

  get count(): number {
    return this.drawn.length;
  }

  private make(s: number): Drawn {
    const { body, nodes, triangles } = this.motion.skins.skins[s]!;
    const positions = new Float32Array(3 * nodes);
    this.motion.skins.positions(s, { frame: 0, alpha: 0 }, positions);
    const skin = makeSkinMesh(triangles, positions);
    const geometry = new BufferGeometry();
    const corners = triangles.length;
    geometry.setAttribute("position", dynamic(3 * corners));
    geometry.setAttribute("normal", dynamic(3 * corners));
    geometry.setAttribute("color", dynamic(3 * corners));
    const sides = Float32Array.from({ length: 3 * corners }, (_, i) => (i % 3 === Math.floor(i / 3) % 3 ? 1 : 0));
    geometry.setAttribute("side", new BufferAttribute(sides, 3));
    geometry.setAttribute("crease", new BufferAttribute(skin.creases, 3));
    const material = new SkinMaterial();
    const mesh = new Mesh(geometry, material.material);
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.frustumCulled = false; // its bounds change with every frame
    const color = new Color(this.motion.header.bodies[body]!.color);
    return { mesh, skin, body, color, material, nodes: positions, stress: new Float32Array(nodes), sums: new Float32Array(3 * skin.normalCount) };
  }

  /** After the bodies. */
  update(cursor: Cursor): void {
    this.drawn.forEach((d, s) => {
      const place = this.bodies.position(d.body, this.place);
      d.mesh.visible = place !== null;
      if (!place) return;
      d.mesh.position.copy(place);
      d.mesh.updateMatrixWorld(); // for the ray caster, which may come before the next picture
      this.motion.skins.positions(s, cursor, d.nodes);
      this.motion.skins.stresses(s, cursor, d.stress);
      const { position, normal } = d.mesh.geometry.attributes;
      deform(d.skin, d.nodes, position!.array as Float32Array, normal!.array as Float32Array, d.sums);
      position!.needsUpdate = normal!.needsUpdate = true;
      d.mesh.geometry.boundingSphere = null; // the ray caster works it out again when asked
      this.paint(d);
    });
  }

  private paint(d: Drawn): void {
    const color = d.mesh.geometry.attributes.color!;
    const values = color.array as Float32Array;
    const full = this.motion.skins.fullStress;
    const byNode = Array.from(d.stress, (stress) => (this.stressShown ? stressColor(full > 0 ? stress / full : 0) : d.color));
    d.skin.nodes.forEach((node, corner) => byNode[node]!.toArray(values, 3 * corner));
    color.needsUpdate = true;
  }

  highlight(picked: number | null): void {
    for (const d of this.drawn) d.material.setPicked(d.body === picked);
  }

  setAccent(accent: string): void {
    this.color.set(accent);
    for (const d of this.drawn) d.material.setAccent(this.color);
  }

  /** The nearest solid under a ray. */
  cast(ray: Raycaster): SolidHit | null {
    const hit = ray.intersectObjects(this.drawn.map((d) => d.mesh), false)[0];
    const d = hit && this.drawn.find(({ mesh }) => mesh === hit.object);
    return hit && d ? { body: d.body, distance: hit.distance, stress: this.stressAt(d, hit) } : null;
  }

  /** Of the nearest corner of the triangle. */
  private stressAt(d: Drawn, hit: Intersection): number {
    if (!hit.face) return NaN;
    const local = hit.point.clone().sub(d.mesh.position);
    const distance = (corner: number) => {
      const n = 3 * d.skin.nodes[corner]!;
      return Math.hypot(d.nodes[n]! - local.x, d.nodes[n + 1]! - local.y, d.nodes[n + 2]! - local.z);
    };
    const nearest = [hit.face.a, hit.face.b, hit.face.c].sort((a, b) => distance(a) - distance(b))[0]!;
    return d.stress[d.skin.nodes[nearest]!]!;
  }
}
