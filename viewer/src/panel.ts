// The picked body: its state now, and over time.
import { byId, make } from "./dom";
import { decimalsFor, fixed, number, stressLabel } from "./format";
import { TimePlot, type Series } from "./plot";
import type { Playback } from "./playback";
import type { Theme } from "./theme";

const plotHeight = 84;
const axisHeight = 18;

export class BodyPanel {
  private readonly section = byId("body");
  private readonly fields = new Map<string, HTMLElement>();
  private plots: TimePlot[] = [];
  private body: number | null = null;
  private decimals = 3;

  constructor(
    private readonly playback: Playback,
    private readonly theme: Theme,
    private readonly onClose: () => void,
  ) {}

  show(body: number | null): void {
    this.body = body;
    for (const plot of this.plots) plot.dispose();
    this.plots = [];
    this.fields.clear();
    this.section.replaceChildren();
    this.section.hidden = body === null;
    if (body === null) return;
    this.section.append(this.heading(body), this.table(body));
    if (!this.playback.motion.header.bodies[body]!.fixed && this.playback.motion.frames > 1) this.addPlots(body);
    this.update();
    this.section.scrollIntoView({ block: "nearest" });
  }

  private heading(body: number): HTMLElement {
    const { name, color } = this.playback.motion.header.bodies[body]!;
    const swatch = make("i", "swatch big");
    swatch.style.background = color;
    const close = make("button", "quiet", "×");
    close.setAttribute("aria-label", "Release the picked body");
    close.addEventListener("click", this.onClose);
    return make("h2", "", swatch, make("span", "name", name), close);
  }

  private table(body: number): HTMLElement {
    const { mass, fixed: isFixed } = this.playback.motion.header.bodies[body]!;
    const box = this.playback.motion.box(body);
    this.decimals = decimalsFor(box ? Math.max(...Array.from(box.subarray(0, 6), Math.abs)) : 1);
    const dl = make("dl", "state");
    const add = (label: string, key: string) => {
      const value = make("dd");
      this.fields.set(key, value);
      dl.append(make("dt", "", label), value);
    };
    add("Mass", "mass");
    add("Position", "position");
    if (this.solidOf(body) === null) add("Orientation", "rotation");
    else add("Stress", "stress");
    add("Speed", "speed");
    add("Spin", "spin");
    this.set("mass", isFixed ? "fixed" : mass === null ? "–" : `${number(mass)} kg`);
    return dl;
  }

  /** Which of the skins a body is; null when it is rigid. */
  private solidOf(body: number): number | null {
    return this.playback.motion.header.bodies[body]!.solid;
  }

  private set(key: string, text: string): void {
    const field = this.fields.get(key);
    if (field) field.textContent = text;
  }

  private columns(body: number): Record<"place" | "turn" | "speed" | "spin", Series[]> {
    const { motion } = this.playback;
    const names = ["x", "y", "z", "w", "x", "y", "z"];
    const seven = names.map((label) => ({ label, values: new Float64Array(motion.frames) }));
    const speed = new Float64Array(motion.frames);
    const spin = new Float64Array(motion.frames);
    const values = new Float64Array(7);
    for (let frame = 0; frame < motion.frames; frame++) {
      const cursor = { frame, alpha: 0 };
      motion.sample(body, cursor, values);
      seven.forEach((s, c) => (s.values[frame] = values[c]!));
      speed[frame] = motion.speed(body, cursor);
      spin[frame] = motion.spin(body, cursor);
    }
    return {
      place: seven.slice(0, 3),
      turn: seven.slice(3),
      speed: [{ label: "Speed", values: speed }],
      spin: [{ label: "Spin", values: spin }],
    };
  }

  private addPlots(body: number): void {
    const { place, turn, speed, spin } = this.columns(body);
    const add = (title: string, unit: string, series: Series[], last = false) => {
      const height = plotHeight + (last ? axisHeight : 0);
      const plot = new TimePlot({ title, unit, series, height, timeAxis: last, readouts: false }, this.playback, this.theme);
      this.plots.push(plot);
      this.section.append(plot.element);
    };
    add("Position", "m", place);
    if (this.solidOf(body) === null) add("Orientation", "quaternion", turn);
    add("Speed", "m/s", speed);
    add("Spin", "rad/s", spin, true);
    this.section.append(make("p", "axis-name", "time in s"));
  }

  update(): void {
    if (this.body === null) return;
    const { motion, cursor } = this.playback;
    const pose = motion.pose(this.body, cursor);
    const list = (v: number[], decimals: number) => v.map((x) => fixed(x, decimals)).join(", ");
    this.set("position", pose ? `${list(pose.position, this.decimals)} m` : "–");
    this.set("rotation", pose ? list(pose.rotation, 4) : "–");
    this.set("speed", `${number(motion.speed(this.body, cursor), 4)} m/s`);
    this.set("spin", `${number(motion.spin(this.body, cursor), 4)} rad/s`);
    const solid = this.solidOf(this.body);
    if (solid !== null && motion.frames > 0) this.set("stress", `up to ${stressLabel(motion.skins.largestAt(solid, cursor))}`);
    for (const plot of this.plots) plot.update();
  }

  redraw(): void {
    for (const plot of this.plots) plot.redraw();
  }
}
