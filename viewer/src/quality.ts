// Keeps the motion fluent where drawing is slow, as without a graphics card:
// while things move the picture gets coarser, at rest it is sharp again.

const scales = [1, 0.7, 0.5];
const slow = 70; // ms for one picture
const patience = 5; // slow pictures in a row

export class Quality {
  private level = 0;
  private slowOnes = 0;

  constructor(private readonly apply: (scale: number) => void) {}

  /** Called once for each turn of the loop, with the time since the last one. */
  observe(milliseconds: number, moving: boolean): void {
    if (!moving) {
      this.slowOnes = 0;
      return this.set(0);
    }
    this.slowOnes = milliseconds > slow ? this.slowOnes + 1 : 0;
    if (this.slowOnes < patience || this.level + 1 >= scales.length) return;
    this.slowOnes = 0;
    this.set(this.level + 1);
  }

  private set(level: number): void {
    if (level === this.level) return;
    this.level = level;
    this.apply(scales[level]!);
  }
}
