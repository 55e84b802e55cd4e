// The motion as a function of time: dequantises and interpolates on demand, so
// that ten thousand bodies need no more memory than their 16-bit streams.
import { valuesOf } from "./channels";
import { boxLength, type Streams } from "./decode";
import { SkinMotion } from "./skins";
import type { Header, Pose } from "./types";

/** A time expressed as "this far between a frame and the next". */
export interface Cursor {
  frame: number;
  alpha: number;
}

/** The last entry at or before the time, and the way to the next. */
export function locate(times: Float64Array, time: number): Cursor {
  const last = times.length - 1;
  if (last < 1 || time <= times[0]!) return { frame: 0, alpha: 0 };
  if (time >= times[last]!) return { frame: last, alpha: 0 };
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle]! <= time) low = middle;
    else high = middle;
  }
  const gap = times[high]! - times[low]!;
  return { frame: low, alpha: gap > 0 ? (time - times[low]!) / gap : 0 };
}

export class Motion {
  readonly frames: number;
  readonly moving: number;
  readonly start: number;
  readonly end: number;
  readonly skins: SkinMotion;
  /** Which stream a body has, -1 for a fixed one. */
  private readonly slot: Int32Array;
  private readonly a = new Float64Array(7);
  private readonly b = new Float64Array(7);

  constructor(
    readonly header: Header,
    private readonly data: Streams,
  ) {
    this.frames = header.frames;
    this.slot = new Int32Array(header.bodies.length).fill(-1);
    let next = 0;
    header.bodies.forEach((body, i) => {
      if (!body.fixed) this.slot[i] = next++;
    });
    this.moving = next;
    this.skins = new SkinMotion(header.solids, data.skins, this.frames);
    this.start = this.frames > 0 ? data.times[0]! : 0;
    this.end = this.frames > 0 ? data.times[this.frames - 1]! : 0;
  }

  get times(): Float64Array {
    return this.data.times;
  }

  get audit(): Float64Array[] {
    return this.data.audit;
  }

  locate(time: number): Cursor {
    return locate(this.times, time);
  }

  /** Of the points of channels: each two stand for some frames when there are fewer points than frames. */
  get channelTimes(): Float64Array {
    const { points } = this.header.channels;
    return Float64Array.from({ length: points }, (_, k) => this.times[Math.floor((k * this.frames) / points)]!);
  }

  /** All points of a channel; NaN where nothing is known. */
  channel(index: number): Float64Array {
    const { points } = this.header.channels;
    const { channelRanges, channelLevels } = this.data;
    return valuesOf(channelLevels.subarray(index * points, (index + 1) * points), channelRanges[2 * index]!, channelRanges[2 * index + 1]!);
  }

  /** The box of a moving body: lo, hi, greatest speed, greatest spin. */
  box(body: number): Float32Array | null {
    const slot = this.slot[body]!;
    return slot < 0 ? null : this.data.boxes.subarray(slot * boxLength, (slot + 1) * boxLength);
  }

  private raw(component: number, slot: number, frame: number): number {
    return this.data.values[(component * this.moving + slot) * this.frames + frame]!;
  }

  /** Writes x y z qw qx qy qz of one frame. */
  private readFrame(slot: number, frame: number, out: Float64Array): void {
    const boxes = this.data.boxes;
    const at = slot * boxLength;
    for (let c = 0; c < 3; c++) {
      const lo = boxes[at + c]!;
      out[c] = lo + ((boxes[at + 3 + c]! - lo) * this.raw(c, slot, frame)) / 65535;
    }
    for (let c = 3; c < 7; c++) out[c] = (this.raw(c, slot, frame) - 32768) / 32767;
    normalise(out);
  }

  /** Writes x y z qw qx qy qz; false when nothing was recorded. */
  sample(body: number, cursor: Cursor, out: Float64Array): boolean {
    const slot = this.slot[body]!;
    if (slot < 0) return writePose(this.header.bodies[body]!.pose, out);
    if (this.frames === 0) return false;
    this.readFrame(slot, cursor.frame, this.a);
    if (cursor.alpha === 0) {
      out.set(this.a);
      return true;
    }
    this.readFrame(slot, cursor.frame + 1, this.b);
    blend(this.a, this.b, cursor.alpha, out);
    return true;
  }

  pose(body: number, cursor: Cursor): Pose | null {
    const v = new Float64Array(7);
    if (!this.sample(body, cursor, v)) return null;
    return { position: [v[0]!, v[1]!, v[2]!], rotation: [v[3]!, v[4]!, v[5]!, v[6]!] };
  }

  private scalar(component: number, boxEntry: number, body: number, cursor: Cursor): number {
    const slot = this.slot[body]!;
    if (slot < 0) return 0;
    if (this.frames === 0) return NaN;
    const scale = this.data.boxes[slot * boxLength + boxEntry]! / 65535;
    const here = this.raw(component, slot, cursor.frame);
    if (cursor.alpha === 0) return here * scale;
    return (here + (this.raw(component, slot, cursor.frame + 1) - here) * cursor.alpha) * scale;
  }

  /** m/s */
  speed(body: number, cursor: Cursor): number {
    return this.scalar(7, 6, body, cursor);
  }

  /** rad/s */
  spin(body: number, cursor: Cursor): number {
    return this.scalar(8, 7, body, cursor);
  }
}

function writePose(pose: Pose | null, out: Float64Array): boolean {
  if (!pose) return false;
  out.set(pose.position, 0);
  out.set(pose.rotation, 3);
  normalise(out);
  return true;
}

function normalise(v: Float64Array): void {
  const length = Math.hypot(v[3]!, v[4]!, v[5]!, v[6]!);
  if (length < 1e-9) {
    v[3] = 1;
    v[4] = v[5] = v[6] = 0;
    return;
  }
  for (let c = 3; c < 7; c++) v[c]! /= length;
}

function blend(a: Float64Array, b: Float64Array, alpha: number, out: Float64Array): void {
  for (let c = 0; c < 3; c++) out[c] = a[c]! + (b[c]! - a[c]!) * alpha;
  const dot = a[3]! * b[3]! + a[4]! * b[4]! + a[5]! * b[5]! + a[6]! * b[6]!;
  const near = Math.abs(dot);
  let wa = 1 - alpha;
  let wb = alpha;
  if (near < 0.9995) {
    // Far apart: only the spherical blend turns at a constant rate.
    const angle = Math.acos(Math.min(near, 1));
    wa = Math.sin(angle * wa) / Math.sin(angle);
    wb = Math.sin(angle * wb) / Math.sin(angle);
  }
  if (dot < 0) wb = -wb;
  for (let c = 3; c < 7; c++) out[c] = wa * a[c]! + wb * b[c]!;
  normalise(out);
}
