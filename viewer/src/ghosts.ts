// Stick figures: the moving bodies at several instants in one picture, pale at the beginning and full at the end.
import { Color, InstancedMesh, Matrix4, MeshLambertMaterial, type BufferGeometry, type Group } from "three";
import { collectParts, writeMatrix } from "./bodies";
import type { Motion } from "./motion";

const most = 100;
const usual = 9;
const instanceLimit = 40_000;

export class Ghosts {
  /** Instants; 0: none are shown. */
  count = 0;
  private meshes: Array<{ mesh: InstancedMesh; bodies: number[] }> = [];
  private background = "#ffffff";

  constructor(
    private readonly motion: Motion,
    private readonly group: Group,
  ) {}

  /** A cloud of ten thousand bodies nine times over shows nothing. */
  get allowed(): boolean {
    const rigid = this.motion.moving > this.motion.header.solids.length; // of solids only the surface at one time is drawn
    return this.motion.frames > 1 && rigid && this.motion.moving * usual <= instanceLimit;
  }

  get usual(): number {
    return usual;
  }

  /** How many bodies are drawn. */
  get visible(): number {
    return this.meshes.reduce((sum, { bodies }) => sum + bodies.length, 0);
  }

  show(count: number): void {
    const room = Math.floor(instanceLimit / Math.max(this.motion.moving, 1));
    const wanted = this.allowed ? Math.min(Math.max(Math.round(count), 0), most, room) : 0;
    if (wanted === this.count) return;
    this.clear();
    this.count = wanted;
    if (wanted > 0) this.make();
  }

  setBackground(color: string): void {
    this.background = color;
    this.paint();
  }

  private clear(): void {
    for (const { mesh } of this.meshes) {
      mesh.removeFromParent();
      mesh.geometry.dispose();
      (mesh.material as MeshLambertMaterial).dispose();
      mesh.dispose();
    }
    this.meshes = [];
  }

  /** Instant i of all, from the first frame to the last. */
  private time(i: number): number {
    const { start, end } = this.motion;
    return this.count > 1 ? start + ((end - start) * i) / (this.count - 1) : end;
  }

  private make(): void {
    const { bodies } = this.motion.header;
    for (const { model, instances } of collectParts(this.motion).values()) {
      const moving = instances.filter(({ body }) => !bodies[body]!.fixed);
      if (moving.length > 0) this.add(model.build(this.count * moving.length), moving);
    }
    this.paint();
  }

  private add(geometry: BufferGeometry, parts: Array<{ body: number; local: Matrix4 }>): void {
    const material = new MeshLambertMaterial({ transparent: true, opacity: 0.45, depthWrite: false });
    const mesh = new InstancedMesh(geometry, material, parts.length * this.count);
    const values = new Float64Array(7);
    const place = new Matrix4();
    const drawn: number[] = [];
    mesh.frustumCulled = false;
    mesh.renderOrder = 1;
    for (let i = 0; i < this.count; i++) {
      const cursor = this.motion.locate(this.time(i));
      for (const { body, local } of parts) {
        if (!this.motion.sample(body, cursor, values)) continue;
        writeMatrix(values, place);
        mesh.setMatrixAt(drawn.length, place.multiply(local));
        drawn.push(body + i * this.motion.header.bodies.length); // body and instant
      }
    }
    mesh.count = drawn.length;
    this.meshes.push({ mesh, bodies: drawn });
    this.group.add(mesh);
  }

  /** From the background's colour to the body's own. */
  private paint(): void {
    const { bodies } = this.motion.header;
    const pale = new Color(this.background);
    const color = new Color();
    for (const { mesh, bodies: drawn } of this.meshes) {
      drawn.forEach((code, k) => {
        const instant = Math.floor(code / bodies.length);
        const share = this.count > 1 ? instant / (this.count - 1) : 1;
        color.set(bodies[code % bodies.length]!.color).lerp(pale, 0.45 * (1 - share));
        mesh.setColorAt(k, color);
      });
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }
}
