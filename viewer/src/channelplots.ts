// Channels over time: a few plots to begin with, and a list of all to choose from.
import { firstPanes, makePanes, paneTitle, type Pane } from "./channels";
import { byId, make } from "./dom";
import type { Playback } from "./playback";
import { TimePlot } from "./plot";
import type { Theme } from "./theme";

const plotHeight = 96;
const axisHeight = 18;
const shownAtFirst = 4;
const searchFrom = 9; // panes; fewer are seen at a glance
const listedAtMost = 80; // the rest is found by its name

/** Beside 1 m, 4e-17 m is nothing. */
function withoutRoundOff(columns: Float64Array[]): Float64Array[] {
  const largest = columns.reduce((most, c) => c.reduce((m, v) => (Math.abs(v) > m ? Math.abs(v) : m), most), 0);
  return columns.map((c) => c.map((v) => (Math.abs(v) < 1e-12 * largest ? 0 : v)));
}

export class ChannelPlots {
  plots: TimePlot[] = [];
  readonly panes: Pane[];
  private shown: Set<Pane>;
  private filter = "";
  private readonly host = make("div", "channel-plots");
  private readonly rows = make("div", "channel-list");
  private readonly count = make("span", "channel-count");
  private readonly times: Float64Array;

  constructor(
    private readonly playback: Playback,
    private readonly theme: Theme,
  ) {
    const { header, channelTimes } = playback.motion;
    const joints = new Set(header.joints.map((j) => j.name).filter(Boolean));
    this.times = channelTimes;
    this.panes = this.times.length > 0 ? makePanes(header.channels.list, joints) : [];
    this.shown = new Set(firstPanes(this.panes.filter((p) => this.varies(p)), shownAtFirst));
    if (this.panes.length > 0) this.fillSection();
  }

  /** What was zero or not known all the time is not worth a plot that nobody asked for. */
  private varies(pane: Pane): boolean {
    return pane.curves.some((c) => this.playback.motion.channel(c.channel).some((v) => v !== 0 && !Number.isNaN(v)));
  }

  private fillSection(): void {
    const { header } = this.playback.motion;
    const section = byId("channels");
    section.querySelector("h2")!.append(this.count);
    section.append(this.host);
    if (header.channels.total > header.channels.list.length) {
      const note = `This page holds ${header.channels.list.length} of ${header.channels.total} channels; the result file has all.`;
      section.append(make("p", "notice", note));
    }
    if (this.panes.length > this.shown.size) section.append(this.chooser());
    section.hidden = false;
    byId("side").classList.add("sensed");
    this.fillList();
    this.fillPlots();
  }

  private chooser(): HTMLElement {
    const details = make("details", "channel-chooser", make("summary", "", "All channels"));
    if (this.panes.length >= searchFrom) details.append(this.search());
    details.append(this.rows);
    details.open = this.shown.size === 0;
    return details;
  }

  private search(): HTMLElement {
    const input = make("input");
    input.type = "search";
    input.placeholder = "Find a channel";
    input.setAttribute("aria-label", "Find a channel by name");
    input.spellcheck = false;
    input.addEventListener("input", () => {
      this.filter = input.value;
      this.fillList();
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") input.blur();
      if (event.key === "Enter") this.rows.querySelector<HTMLInputElement>("input:not(:checked)")?.click();
    });
    return input;
  }

  /** Every word that is looked for is somewhere in the name, the unit or the labels. */
  private matches(pane: Pane): boolean {
    const all = `${pane.owner} ${pane.unit} ${pane.curves.map((c) => c.label).join(" ")}`.toLowerCase();
    const names = pane.curves.map((c) => `${pane.owner}.${c.label}`.toLowerCase());
    const words = this.filter.toLowerCase().split(/\s+/).filter(Boolean);
    return words.every((w) => all.includes(w) || names.some((n) => n.includes(w)));
  }

  private fillList(): void {
    const found = this.panes.filter((p) => this.matches(p));
    this.rows.replaceChildren(...found.slice(0, listedAtMost).map((p, i) => this.row(p, found[i - 1])));
    const more = found.length - listedAtMost;
    if (more > 0) this.rows.append(make("p", "notice", `and ${more} more; look for them by name`));
    if (found.length === 0) this.rows.append(make("p", "notice", "No channel has such a name."));
  }

  /** What it is of stands once, before the first of its panes. */
  private row(pane: Pane, before: Pane | undefined): HTMLElement {
    const box = make("input");
    box.type = "checkbox";
    box.checked = this.shown.has(pane);
    const names = pane.curves.map((c) => c.label).join(", ");
    box.setAttribute("aria-label", `${pane.owner} ${names}`.trim());
    box.addEventListener("change", () => this.show(pane, box.checked));
    const what = make("span", "channel-what", names);
    if (pane.unit) what.append(make("span", "unit", ` ${pane.unit}`));
    const owner = make("span", "channel-owner", pane.owner === before?.owner ? "" : pane.owner);
    return make("label", pane.owner === before?.owner ? "" : "first", owner, box, what);
  }

  private show(pane: Pane, shown: boolean): void {
    if (shown) this.shown.add(pane);
    else this.shown.delete(pane);
    this.fillPlots();
  }

  private fillPlots(): void {
    const panes = this.panes.filter((p) => this.shown.has(p));
    for (const plot of this.plots) plot.dispose();
    this.plots = panes.map((pane, i) => this.plot(pane, i === panes.length - 1));
    this.host.replaceChildren(...this.plots.map((p) => p.element));
    if (panes.length > 0) this.host.append(make("p", "axis-name", "time in s"));
    this.count.textContent = panes.length < this.panes.length ? `${panes.length} of ${this.panes.length} plots` : "";
    for (const plot of this.plots) plot.update();
  }

  private plot(pane: Pane, last: boolean): TimePlot {
    const title = paneTitle(pane);
    const columns = withoutRoundOff(pane.curves.map((c) => this.playback.motion.channel(c.channel)));
    const series = pane.curves.map((c, i) => ({ label: pane.curves.length === 1 ? title : c.label, values: columns[i]! }));
    const height = plotHeight + (last ? axisHeight : 0);
    const options = { title, unit: pane.unit, series, height, timeAxis: last, readouts: true, times: this.times };
    return new TimePlot(options, this.playback, this.theme);
  }

  /** Titles of the plots, for the page's state. */
  get titles(): string[] {
    return this.panes.filter((p) => this.shown.has(p)).map(paneTitle);
  }
}
