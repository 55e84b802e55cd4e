// Contacts at the present time: a dot at each contact point and an arrow along the impulse on the first body. Impacts
// light up when they happen and fade; contacts that last are shown frame by frame.
import { Color, DynamicDrawUsage, InstancedMesh, Matrix4, MeshBasicMaterial, SphereGeometry, Vector3, type Group } from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import type { InterleavedBufferAttribute } from "three";
import type { Motion } from "./motion";
import type { Events } from "./types";

export const contactColor = "#d1495b";
const most = 2000; // shown at once
const lasting = 1; // kind of event that belongs to a frame

/** The first index whose time is above. */
function after(times: number[], time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Contacts {
  shown = true;
  private readonly dots: InstancedMesh;
  private readonly arrows: LineSegments2;
  private readonly fade: number;
  private readonly strongest: [number, number];
  private readonly color = new Color();
  private readonly matrix = new Matrix4();
  private readonly tip = new Vector3();

  /** `size` is that of a typical body: arrows are at most that long. */
  constructor(
    private readonly events: Events,
    private readonly motion: Motion,
    private readonly size: number,
    group: Group,
  ) {
    const duration = motion.end - motion.start;
    const frame = motion.frames > 1 ? duration / (motion.frames - 1) : 0;
    this.fade = Math.max(2.5 * frame, Math.min(0.12, 0.1 * duration));
    this.strongest = [this.strongestOf(false), this.strongestOf(true)];
    const room = Math.min(most, Math.max(events.time.length, 1));
    this.dots = new InstancedMesh(new SphereGeometry(1, 10, 8), new MeshBasicMaterial({ depthTest: false, transparent: true }), room);
    this.dots.instanceMatrix.setUsage(DynamicDrawUsage);
    this.dots.renderOrder = 3;
    const geometry = new LineSegmentsGeometry().setPositions(new Float32Array(6 * room));
    this.arrows = new LineSegments2(geometry, new LineMaterial({ linewidth: 2.5, depthTest: false, transparent: true }));
    this.arrows.renderOrder = 3;
    this.arrows.frustumCulled = this.dots.frustumCulled = false;
    group.add(this.dots, this.arrows);
    this.setColor(contactColor);
  }

  setColor(color: string): void {
    this.color.set(color);
    (this.dots.material as MeshBasicMaterial).color.copy(this.color);
    this.arrows.material.color.copy(this.color);
  }

  private magnitude(i: number): number {
    const { impulse } = this.events;
    return Math.hypot(impulse[3 * i]!, impulse[3 * i + 1]!, impulse[3 * i + 2]!);
  }

  private strongestOf(lasts: boolean): number {
    let best = 0;
    this.events.kind.forEach((kind, i) => {
      if ((kind === lasting) === lasts) best = Math.max(best, this.magnitude(i));
    });
    return best;
  }

  /** From 1 at its moment down to 0; lasting contacts are there or not. */
  private strength(i: number, time: number, frameTime: number): number {
    const age = time - this.events.time[i]!;
    if (this.events.kind[i] === lasting) return Math.abs(frameTime - this.events.time[i]!) < 1e-9 + this.frameSlack() ? 1 : 0;
    return age >= 0 && age < this.fade ? 1 - age / this.fade : 0;
  }

  private frameSlack(): number {
    return 1.01 * (this.motion.header.step ?? 0);
  }

  update(time: number, frameTime: number): void {
    let count = 0;
    if (this.shown) {
      const last = after(this.events.time, Math.max(time, frameTime + this.frameSlack()));
      const first = after(this.events.time, Math.min(time - this.fade, frameTime - this.frameSlack()) - 1e-9);
      for (let i = last - 1; i >= first && count < this.capacity; i--) {
        const strength = this.strength(i, time, frameTime);
        if (strength > 0) this.put(count++, i, strength);
      }
    }
    this.dots.count = count;
    this.dots.instanceMatrix.needsUpdate = true;
    this.arrows.geometry.instanceCount = count;
    this.arrows.visible = this.dots.visible = count > 0;
    this.positions.needsUpdate = true;
  }

  private get capacity(): number {
    return this.dots.instanceMatrix.count;
  }

  private get positions(): InterleavedBufferAttribute["data"] {
    return (this.arrows.geometry.attributes.instanceStart as InterleavedBufferAttribute).data;
  }

  private put(slot: number, i: number, strength: number): void {
    const { point, impulse, kind } = this.events;
    const at: [number, number, number] = [point[3 * i]!, point[3 * i + 1]!, point[3 * i + 2]!];
    const radius = this.size * 0.035 * (0.5 + 0.5 * strength);
    this.matrix.makeScale(radius, radius, radius).setPosition(...at);
    this.dots.setMatrixAt(slot, this.matrix);
    const j = this.magnitude(i);
    const scale = this.strongest[kind[i] === lasting ? 1 : 0];
    // The square root keeps light touches visible beside hard blows.
    const length = j > 0 && scale > 0 ? (this.size * Math.sqrt(j / scale) * (0.35 + 0.65 * strength)) / j : 0;
    this.tip.set(impulse[3 * i]!, impulse[3 * i + 1]!, impulse[3 * i + 2]!).multiplyScalar(length);
    (this.positions.array as Float32Array).set([...at, at[0] + this.tip.x, at[1] + this.tip.y, at[2] + this.tip.z], 6 * slot);
  }

  /** How many are on the screen. */
  get visible(): number {
    return this.dots.count;
  }
}
