// The state of the page beyond the clock: picked body, toggles, and who hears of them.
import { showArrowKey } from "./arrowkey";
import { ChannelPlots } from "./channelplots";
import { byId, press } from "./dom";
import { makeFinder } from "./finder";
import { makeForcePlots } from "./forceplots";
import { showPlan } from "./history";
import { showHits } from "./hits";
import { fillHelp, listen, type Shortcut } from "./keyboard";
import type { Options } from "./options";
import { BodyPanel } from "./panel";
import type { TimePlot } from "./plot";
import type { Playback } from "./playback";
import type { Theme } from "./theme";
import type { TrailMode } from "./trails";
import { Transport } from "./transport";
import { showStressKey } from "./stresskey";
import { showVerdict } from "./verdict";
import type { View3d } from "./view3d";

const mouse: Array<[string, string]> = [
  ["Drag", "turn the view (right button: shift, wheel: zoom)"],
  ["Click", "pick a body"],
  ["Double click", "turn the view about a body"],
  ["Drag in a plot", "go to that time"],
];

export class Page {
  private picked: number | null = null;
  private readonly panel: BodyPanel;
  private readonly charts: number;
  private readonly forcePlots: TimePlot[];
  private readonly channels: ChannelPlots;
  private readonly help = byId<HTMLDialogElement>("help");

  constructor(
    readonly playback: Playback,
    private readonly theme: Theme,
    readonly view: View3d | null,
    private readonly plots: TimePlot[],
  ) {
    this.panel = new BodyPanel(playback, theme, () => this.pick(null));
    showVerdict(playback.motion.header);
    this.charts = showPlan(playback.motion.header.plan, theme);
    this.forcePlots = makeForcePlots(playback, theme);
    this.channels = new ChannelPlots(playback, theme);
    if (view?.forces) showArrowKey(view.forces);
    if (view?.solids.count) showStressKey(playback.motion.skins);
    makeFinder(playback.motion.header, (body) => this.pick(body));
    this.connectButtons();
    const shortcuts = this.shortcuts();
    listen(shortcuts);
    fillHelp(shortcuts, mouse);
    playback.onChange(() => this.update());
    theme.onChange(() => this.redraw());
  }

  open(options: Options): void {
    new Transport(this.playback);
    showHits(this.playback, this.theme);
    this.apply(options);
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!options.paused && !still) this.playback.play();
    this.update();
    this.showToggles();
  }

  /** What the address asks for; also when it is edited later. */
  apply(options: Options): void {
    if (options.time !== null) this.playback.seek(options.time);
    if (options.speed !== null) this.playback.setSpeed(options.speed);
    if (options.labels) this.setLabels(true);
    if (options.contacts !== null) this.setContacts(options.contacts);
    if (options.stress !== null) this.setStress(options.stress);
    if (options.joints !== null) this.setJoints(options.joints);
    if (options.forces !== null) this.setForces(options.forces);
    if (options.planes !== null) this.setPlanes(options.planes);
    if (options.trails) this.setTrails(options.trails);
    if (options.ghosts !== null) this.setGhosts(options.ghosts < 0 ? (this.view?.ghosts.usual ?? 0) : options.ghosts);
    if (options.pick !== null) this.pick(this.find(options.pick));
    if (options.paused) this.playback.pause();
  }

  private get allPlots(): TimePlot[] {
    return [...this.plots, ...this.forcePlots, ...this.channels.plots];
  }

  private update(): void {
    for (const plot of this.allPlots) plot.update();
    this.panel.update();
  }

  private redraw(): void {
    for (const plot of this.allPlots) plot.redraw();
    this.panel.redraw();
  }

  /** Given the time since the last picture. */
  draw(milliseconds: number): void {
    this.view?.draw(milliseconds);
  }

  /** The index of a body, or -1. */
  find(body: string | number): number {
    const { bodies } = this.playback.motion.header;
    if (typeof body === "number") return body >= 0 && body < bodies.length ? body : -1;
    return bodies.findIndex((b) => b.name === body);
  }

  pick(body: number | null): void {
    this.picked = body !== null && body >= 0 ? body : null;
    this.panel.show(this.picked);
    this.view?.setPicked(this.picked);
    this.showToggles();
  }

  private pickNext(direction: 1 | -1): void {
    const count = this.playback.motion.header.bodies.length;
    if (count === 0) return;
    const from = this.picked ?? (direction > 0 ? -1 : 0);
    this.pick((from + direction + count) % count);
  }

  private setTrails(mode: TrailMode): void {
    this.view?.setTrails(mode);
    this.showToggles();
  }

  /** Off, the picked body, all bodies; without a picked body the middle one is skipped. */
  private cycleTrails(): void {
    if (!this.view) return;
    const modes: TrailMode[] = ["off"];
    if (this.picked !== null) modes.push("picked");
    if (this.view.trails.allAllowed) modes.push("all");
    const at = modes.indexOf(this.view.trails.mode);
    this.setTrails(modes[(at + 1) % modes.length]!);
  }

  private setGhosts(count: number): void {
    this.view?.setGhosts(count);
    this.showToggles();
  }

  private toggleGhosts(): void {
    const { ghosts } = this.view ?? {};
    if (ghosts?.allowed) this.setGhosts(ghosts.count > 0 ? 0 : ghosts.usual);
  }

  private setLabels(all: boolean): void {
    this.view?.setLabels(all);
    this.showToggles();
  }

  private setContacts(shown: boolean): void {
    this.view?.setContacts(shown);
    this.showToggles();
  }

  private setStress(shown: boolean): void {
    this.view?.setStress(shown);
    this.showToggles();
  }

  private setJoints(shown: boolean): void {
    this.view?.setJoints(shown);
    this.showToggles();
  }

  private setForces(shown: boolean): void {
    this.view?.setForces(shown);
    this.showToggles();
  }

  private setPlanes(shown: boolean): void {
    this.view?.setPlanes(shown);
    this.showToggles();
  }

  private toggleFollow(): void {
    this.view?.setFollow(!this.view.follow);
    this.showToggles();
  }

  private frameAll(): void {
    this.view?.setFollow(false);
    this.view?.stage.view();
    this.showToggles();
  }

  private toggleHelp(): void {
    if (this.help.open) this.help.close();
    else this.help.showModal();
  }

  private connectButtons(): void {
    const on = (id: string, run: () => void) => byId(id).addEventListener("click", run);
    on("frame-all", () => this.frameAll());
    on("trails", () => this.cycleTrails());
    on("ghosts", () => this.toggleGhosts());
    on("label-all", () => this.setLabels(!this.view?.labels.all));
    on("contacts", () => this.setContacts(!this.view?.contacts.shown));
    on("stress", () => this.setStress(!this.view?.solids.stressShown));
    on("joints", () => this.setJoints(!this.view?.joints.shown));
    on("forces", () => this.setForces(!this.view?.forces?.shown));
    on("planes", () => this.setPlanes(!this.view?.planes?.shown));
    on("follow", () => this.toggleFollow());
    on("theme", () => this.theme.toggle());
    on("show-help", () => this.toggleHelp());
    on("close-help", () => this.help.close());
    // A click outside of the sheet, which is on the dialog itself, closes it.
    this.help.addEventListener("click", (event) => event.target === this.help && this.help.close());
  }

  private showToggles(): void {
    const { view } = this;
    const mode = view?.trails.mode ?? "off";
    byId("trails-mode").textContent = mode === "off" ? "Trails" : `Trails: ${mode}`;
    press(byId("trails"), mode !== "off");
    press(byId("ghosts"), (view?.ghosts.count ?? 0) > 0);
    byId("ghosts").hidden = !view?.ghosts.allowed;
    press(byId("label-all"), view?.labels.all ?? false);
    byId<HTMLButtonElement>("label-all").disabled = !view?.labels.allAllowed;
    byId("contacts").hidden = this.playback.motion.header.events.time.length === 0;
    press(byId("contacts"), view?.contacts.shown ?? false);
    this.showPlanToggles();
    press(byId("follow"), view?.follow ?? false);
    byId<HTMLButtonElement>("follow").disabled = this.picked === null;
  }

  /** Buttons for what a page does not have stay away. */
  private showPlanToggles(): void {
    const { view } = this;
    const { joints, plan } = this.playback.motion.header;
    const show = (id: string, there: boolean, pressed: boolean) => {
      byId(id).hidden = !there;
      press(byId(id), pressed);
    };
    const solids = (view?.solids.count ?? 0) > 0;
    show("stress", solids, view?.solids.stressShown ?? false);
    byId("stress-key").hidden = !solids || !view?.solids.stressShown;
    show("joints", joints.length > 0, view?.joints.shown ?? false);
    show("forces", (plan?.actuators.length ?? 0) > 0, view?.forces?.shown ?? false);
    show("planes", (plan?.planes.length ?? 0) > 0, view?.planes?.shown ?? false);
    byId("arrows").hidden = !view?.forces?.shown;
  }

  private shortcuts(): Shortcut[] {
    const { playback } = this;
    const { motion } = playback;
    const view = (name: string) => () => this.view?.stage.view(name);
    return [
      { keys: [" ", "k"], shown: "Space", help: "play or pause", run: () => playback.toggle() },
      { keys: ["ArrowLeft"], shown: "←", help: "one frame back (Shift: ten)", run: (e) => playback.step(e.shiftKey ? -10 : -1) },
      { keys: ["ArrowRight"], shown: "→", help: "one frame on (Shift: ten)", run: (e) => playback.step(e.shiftKey ? 10 : 1) },
      { keys: ["Home"], shown: "Home", help: "to the start", run: () => playback.seek(motion.start) },
      { keys: ["End"], shown: "End", help: "to the end", run: () => playback.seek(motion.end) },
      { keys: ["-", "_"], shown: "−", help: "slower", run: () => playback.changeSpeed(-1) },
      { keys: ["+", "="], shown: "+", help: "faster", run: () => playback.changeSpeed(1) },
      { keys: ["r"], shown: "R", help: "repeat on or off", run: () => playback.setLoop(!playback.loop) },
      { keys: ["f"], shown: "F", help: "fit the whole motion into the view", run: () => this.frameAll() },
      { keys: ["1"], shown: "1", help: "the opening view", run: () => this.view?.stage.home() },
      { keys: ["2"], shown: "2", help: "view from the front, along y", run: view("front") },
      { keys: ["3"], shown: "3", help: "view from the side, along x", run: view("side") },
      { keys: ["4"], shown: "4", help: "view from above", run: view("top") },
      { keys: ["n"], shown: "N", help: "pick the next body", run: () => this.pickNext(1) },
      { keys: ["p"], shown: "P", help: "pick the previous body", run: () => this.pickNext(-1) },
      { keys: ["c"], shown: "C", help: "let the view follow the picked body", run: () => this.picked !== null && this.toggleFollow() },
      { keys: ["t"], shown: "T", help: "trails: off, picked, all", run: () => this.cycleTrails() },
      { keys: ["g"], shown: "G", help: "stick figures: all bodies at several instants", run: () => this.toggleGhosts() },
      { keys: ["l"], shown: "L", help: "labels on or off", run: () => this.setLabels(!this.view?.labels.all) },
      { keys: ["x"], shown: "X", help: "contacts on or off", run: () => this.setContacts(!this.view?.contacts.shown) },
      { keys: ["v"], shown: "V", help: "stress of solids as colours, or their own colours", run: () => this.setStress(!this.view?.solids.stressShown) },
      { keys: ["j"], shown: "J", help: "joints on or off", run: () => this.setJoints(!this.view?.joints.shown) },
      { keys: ["a"], shown: "A", help: "arrows of planned forces on or off", run: () => this.setForces(!this.view?.forces?.shown) },
      { keys: ["s"], shown: "S", help: "separating planes of a plan on or off", run: () => this.setPlanes(!this.view?.planes?.shown) },
      { keys: ["/"], shown: "/", help: "find a body by name", run: () => byId("find").focus() },
      { keys: ["d"], shown: "D", help: "light or dark", run: () => this.theme.toggle() },
      { keys: ["Escape"], shown: "Esc", help: "release the picked body", run: () => this.escape() },
      { keys: ["?", "h"], shown: "?", help: "this help", run: () => this.toggleHelp() },
    ];
  }

  private escape(): void {
    if (this.help.open) this.help.close();
    else this.pick(null);
  }

  state(): Record<string, unknown> {
    const { playback, view } = this;
    const { header } = playback.motion;
    return {
      error: null,
      time: playback.time,
      frame: playback.frame,
      frames: playback.motion.frames,
      start: playback.motion.start,
      end: playback.motion.end,
      playing: playback.playing,
      speed: playback.speed,
      loop: playback.loop,
      bodies: header.bodies.length,
      picked: this.picked === null ? null : header.bodies[this.picked]!.name,
      theme: this.theme.name,
      trails: view?.trails.mode ?? "off",
      ghosts: view?.ghosts.count ?? 0,
      ghostsVisible: view?.ghosts.visible ?? 0,
      labels: view?.labels.all ?? false,
      contacts: view?.contacts.shown ?? false,
      contactsVisible: view?.contacts.visible ?? 0,
      events: header.events.time.length,
      solids: view?.solids.count ?? 0,
      stress: (view?.solids.count ?? 0) > 0 && view!.solids.stressShown,
      joints: view?.joints.shown ?? false,
      jointsVisible: view?.joints.visible ?? 0,
      forces: view?.forces?.shown ?? false,
      forcesVisible: view?.forces?.visible ?? [0, 0],
      planes: view?.planes?.shown ?? false,
      planesVisible: view?.planes?.visible ?? 0,
      charts: this.charts + this.forcePlots.length,
      follow: view?.follow ?? false,
      webgl: view !== null,
      plots: this.plots.length,
      channels: header.channels.list.length,
      channelPlots: this.channels.titles,
    };
  }
}
