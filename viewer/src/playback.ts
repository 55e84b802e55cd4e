// The clock of the replay. Everything that shows the time listens to it.
import type { Cursor, Motion } from "./motion";

export const speeds = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100, 250, 1000];

/** Real time where that is watchable, else the speed nearest to ten seconds. */
export function defaultSpeed(duration: number): number {
  if (duration <= 0 || (duration >= 4 && duration <= 20)) return 1;
  const distance = (speed: number) => Math.abs(Math.log(duration / speed / 10));
  return speeds.reduce((best, speed) => (distance(speed) < distance(best) ? speed : best));
}

export class Playback {
  time: number;
  playing = false;
  loop = false;
  speed: number;
  private readonly listeners: Array<() => void> = [];

  constructor(readonly motion: Motion) {
    this.time = motion.start;
    this.speed = defaultSpeed(motion.end - motion.start);
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }

  get cursor(): Cursor {
    return this.motion.locate(this.time);
  }

  get frame(): number {
    return this.cursor.frame;
  }

  seek(time: number): void {
    if (!Number.isFinite(time)) return;
    this.time = Math.min(Math.max(time, this.motion.start), this.motion.end);
    this.changed();
  }

  play(): void {
    if (this.motion.end <= this.motion.start) return;
    if (this.time >= this.motion.end) this.time = this.motion.start;
    this.playing = true;
    this.changed();
  }

  pause(): void {
    this.playing = false;
    this.changed();
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  /** Pauses on a recorded frame; from between two frames the first step completes the way. */
  step(count: number): void {
    const { frame, alpha } = this.cursor;
    const from = count < 0 && alpha > 0 ? frame + 1 : frame;
    const target = Math.min(Math.max(from + count, 0), this.motion.frames - 1);
    this.playing = false;
    this.seek(this.motion.times[target] ?? 0);
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    this.changed();
  }

  /** The next faster (or slower) of the listed speeds. */
  changeSpeed(direction: 1 | -1): void {
    const sorted = direction > 0 ? speeds : [...speeds].reverse();
    const next = sorted.find((s) => (s - this.speed) * direction > 1e-12);
    if (next !== undefined) this.setSpeed(next);
  }

  setLoop(loop: boolean): void {
    this.loop = loop;
    this.changed();
  }

  /** Advances by this many seconds on the wall clock. */
  tick(seconds: number): void {
    if (!this.playing) return;
    const { start, end } = this.motion;
    let time = this.time + seconds * this.speed;
    if (time >= end && this.loop) time = start + ((time - start) % (end - start));
    if (time >= end) this.playing = false;
    this.seek(time);
  }
}
