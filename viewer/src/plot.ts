// One uPlot chart over time, with a marker at the present time. Pressing or
// dragging in it seeks.
import uPlot from "uplot";
import { make } from "./dom";
import { number, ticks } from "./format";
import { locate } from "./motion";
import type { Playback } from "./playback";
import type { Theme } from "./theme";

export interface Series {
  label: string;
  values: ArrayLike<number>;
}

export interface PlotOptions {
  title: string;
  unit: string;
  series: Series[];
  height: number;
  /** Only the lowest plot of a stack carries the time axis. */
  timeAxis: boolean;
  /** Values at the present time; the panel shows them elsewhere. */
  readouts: boolean;
  /** A value holds from its frame to the next, as planned forces do. */
  stepped?: boolean;
  /** Of the values, where they are not those of the frames. */
  times?: Float64Array;
}

const axisWidth = 54;

/**
 * A quantity that hardly varies, as a conserved one should, is plotted as the
 * difference from its first value: ticks like 14.71500001 tell nobody anything.
 */
function findOffset(series: Series[]): number {
  let lo = Infinity;
  let hi = -Infinity;
  for (const { values } of series) {
    for (let i = 0; i < values.length; i++) {
      const v = values[i]!;
      if (v < lo) lo = v;
      if (v > hi) hi = v;
    }
  }
  const size = Math.max(Math.abs(lo), Math.abs(hi));
  if (!(hi > lo) || hi - lo > 2e-3 * size) return 0;
  return Array.from(series[0]!.values).find((v) => Number.isFinite(v)) ?? 0;
}

/** uPlot breaks a line at null, not at NaN. */
function gaps(values: ArrayLike<number>, offset: number): Array<number | null> {
  return Array.from(values, (v) => (Number.isFinite(v) ? v - offset : null));
}

/** Some room above and below, also for a constant. */
function yRange(_: uPlot, lo: number, hi: number): uPlot.Range.MinMax {
  if (lo === null || hi === null) return [0, 1];
  const pad = hi > lo ? 0.08 * (hi - lo) : Math.abs(hi) * 0.1 || 1;
  return [lo - pad, hi + pad];
}

export class TimePlot {
  readonly element: HTMLElement;
  private readonly chart: uPlot;
  private readonly marker = make("div", "plot-now");
  private readonly readouts: HTMLElement[] = [];
  private readonly offset: number;
  private readonly resize: ResizeObserver;

  constructor(
    private readonly options: PlotOptions,
    private readonly playback: Playback,
    private readonly theme: Theme,
  ) {
    this.offset = findOffset(options.series);
    const host = make("div", "plot-canvas");
    this.element = make("figure", "plot", this.caption(), host);
    this.chart = new uPlot(this.settings(), this.data(), host);
    this.chart.over.append(this.marker);
    this.enableSeeking();
    this.resize = new ResizeObserver(() => this.fit(host));
    this.resize.observe(host);
  }

  dispose(): void {
    this.resize.disconnect();
    this.chart.destroy();
  }

  private get times(): Float64Array {
    return this.options.times ?? this.playback.motion.times;
  }

  private color(index: number): string {
    const { series } = this.theme.colors;
    return series[index % series.length]!;
  }

  private caption(): HTMLElement {
    const { title, unit, series } = this.options;
    const name = make("span", "plot-title", title);
    if (unit) name.append(make("span", "unit", ` ${unit}`));
    if (this.offset !== 0) name.append(make("span", "unit", `, change from ${number(this.offset, 6)}`));
    const caption = make("figcaption", "", name);
    caption.append(...series.map((s, i) => this.key(s, i)));
    return caption;
  }

  /** Colour, name and value of a curve. A lone curve named like its plot needs no colour. */
  private key(series: Series, index: number): HTMLElement {
    const lone = this.options.series.length === 1;
    const key = make("span", "plot-key");
    if (!lone || series.label !== this.options.title) {
      const swatch = make("i", "swatch");
      swatch.style.background = `var(--series-${index % this.theme.colors.series.length})`;
      key.append(swatch, series.label, " ");
    }
    if (!this.options.readouts) return key;
    const value = make("span", "plot-value");
    this.readouts.push(value);
    key.append(value);
    return key;
  }

  private data(): uPlot.AlignedData {
    const columns = this.options.series.map((s) => gaps(s.values, this.offset));
    return [this.times, ...columns] as uPlot.AlignedData;
  }

  private settings(): uPlot.Options {
    const { timeAxis, height, series } = this.options;
    const axis = { stroke: () => this.theme.colors.muted, font: "11px system-ui, sans-serif", ticks: { show: false } };
    const grid = { stroke: () => this.theme.colors.line, width: 1 };
    const { start, end } = this.playback.motion;
    return {
      width: 300,
      height,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      padding: [6, 14, timeAxis ? 0 : 4, 0],
      pxAlign: 0, // else slow curves turn into stairs
      scales: { x: { time: false, range: () => [start, end > start ? end : start + 1] }, y: { range: yRange } },
      axes: [
        { ...axis, grid, size: timeAxis ? 22 : 0, gap: 2, space: 56, values: (_, v) => (timeAxis ? ticks(v) : v.map(() => "")) },
        { ...axis, grid, size: axisWidth, gap: 6, space: 18, values: (_, v) => ticks(v) },
      ],
      series: [{}, ...series.map((s, i) => this.curve(s, i))],
    };
  }

  private curve(series: Series, index: number): uPlot.Series {
    const paths = this.options.stepped ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {};
    return { label: series.label, stroke: () => this.color(index), width: 1.5, points: { show: false }, ...paths };
  }

  private enableSeeking(): void {
    const { over } = this.chart;
    const seek = (event: PointerEvent) => {
      const x = event.clientX - over.getBoundingClientRect().left;
      this.playback.seek(this.chart.posToVal(x, "x"));
    };
    over.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      over.setPointerCapture(event.pointerId);
      seek(event);
    });
    over.addEventListener("pointermove", (event) => {
      if (over.hasPointerCapture(event.pointerId)) seek(event);
    });
  }

  private fit(host: HTMLElement): void {
    if (host.clientWidth < 50) return;
    this.chart.setSize({ width: host.clientWidth, height: this.options.height });
    this.update();
  }

  /** Moves the marker and the read-outs; the curves stay as they are. */
  update(): void {
    const x = this.chart.valToPos(this.playback.time, "x");
    this.marker.style.transform = `translateX(${Math.round(x)}px)`;
    const { frame, alpha } = locate(this.times, this.playback.time);
    this.readouts.forEach((readout, i) => {
      const value = this.options.series[i]!.values[alpha > 0.5 && !this.options.stepped ? frame + 1 : frame];
      readout.textContent = value === undefined ? "" : number(value, 4);
    });
  }

  redraw(): void {
    this.chart.redraw(false, true);
  }
}
