// Paths of the bodies' origins up to the present time.
import { Color, type Group, type InterleavedBufferAttribute } from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import type { Cursor, Motion } from "./motion";

export type TrailMode = "off" | "picked" | "all";

const segmentLimit = 600_000; // about 30 MB of vertices

export class Trails {
  mode: TrailMode = "off";
  private bodies: number[] = [];
  private past: LineSegments2 | null = null;
  /** From the last whole frame to the present place, rewritten on every draw. */
  private tip: LineSegments2 | null = null;
  private readonly values = new Float64Array(7);

  constructor(
    private readonly motion: Motion,
    private readonly group: Group,
  ) {}

  /** All trails of ten thousand bodies would be a ball of wool, and too much memory. */
  get allAllowed(): boolean {
    return this.motion.moving * this.motion.frames <= segmentLimit;
  }

  show(mode: TrailMode, picked: number | null): void {
    this.mode = mode;
    const wanted = this.wanted(picked);
    if (wanted.length === this.bodies.length && wanted.every((b, i) => b === this.bodies[i])) return;
    this.clear();
    this.bodies = wanted;
    const steps = this.motion.frames - 1;
    if (wanted.length === 0 || steps < 1) return;
    this.past = this.lines(this.pastPoints(steps), steps);
    this.tip = this.lines(new Float32Array(6 * wanted.length), 1);
    this.group.add(this.past, this.tip);
  }

  private wanted(picked: number | null): number[] {
    const { bodies } = this.motion.header;
    if (this.mode === "picked") return picked !== null && !bodies[picked]!.fixed ? [picked] : [];
    if (this.mode === "off" || !this.allAllowed) return [];
    return bodies.map((_, i) => i).filter((i) => !bodies[i]!.fixed);
  }

  private clear(): void {
    for (const lines of [this.past, this.tip]) {
      lines?.removeFromParent();
      lines?.geometry.dispose();
      lines?.material.dispose();
    }
    this.past = this.tip = null;
  }

  private lines(points: Float32Array, steps: number): LineSegments2 {
    const geometry = new LineSegmentsGeometry().setPositions(points).setColors(this.colors(steps));
    const lines = new LineSegments2(geometry, new LineMaterial({ linewidth: 2, vertexColors: true }));
    lines.frustumCulled = false;
    return lines;
  }

  private colors(steps: number): Float32Array {
    const row = new Float32Array(this.bodies.length * 6);
    const color = new Color();
    this.bodies.forEach((body, i) => {
      color.set(this.motion.header.bodies[body]!.color);
      row.set([color.r, color.g, color.b, color.r, color.g, color.b], 6 * i);
    });
    const all = new Float32Array(row.length * steps);
    for (let s = 0; s < steps; s++) all.set(row, s * row.length);
    return all;
  }

  private put(points: Float32Array, at: number, body: number, cursor: Cursor): void {
    this.motion.sample(body, cursor, this.values);
    points.set(this.values.subarray(0, 3), at);
  }

  /** Frame-major, so that "up to now" is one contiguous range. */
  private pastPoints(steps: number): Float32Array {
    const points = new Float32Array(6 * steps * this.bodies.length);
    for (let frame = 0; frame < steps; frame++) {
      this.bodies.forEach((body, i) => {
        const at = 6 * (frame * this.bodies.length + i);
        this.put(points, at, body, { frame, alpha: 0 });
        this.put(points, at + 3, body, { frame: frame + 1, alpha: 0 });
      });
    }
    return points;
  }

  update(cursor: Cursor): void {
    if (!this.past || !this.tip) return;
    this.past.geometry.instanceCount = cursor.frame * this.bodies.length;
    this.past.visible = cursor.frame > 0;
    const { data } = this.tip.geometry.attributes.instanceStart as InterleavedBufferAttribute;
    this.bodies.forEach((body, i) => {
      this.put(data.array as Float32Array, 6 * i, body, { frame: cursor.frame, alpha: 0 });
      this.put(data.array as Float32Array, 6 * i + 3, body, cursor);
    });
    data.needsUpdate = true;
  }
}
