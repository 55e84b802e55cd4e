// Everything drawn in three dimensions, behind a small interface, so that the
// rest of the page works without it where WebGL is missing.
import { Vector3 } from "three";
import { Bodies } from "./bodies";
import { radius, sceneBounds, typicalSize } from "./bounds";
import { contactColor, Contacts } from "./contacts";
import { byId } from "./dom";
import { Forces, type Arrow } from "./forces";
import { lengthLabel } from "./format";
import { Ghosts } from "./ghosts";
import { Joints } from "./joints";
import { Labels } from "./labels";
import { enablePicking } from "./picking";
import { Planes } from "./planes";
import type { Playback } from "./playback";
import { Quality } from "./quality";
import { Solids } from "./solids";
import { Stage } from "./stage";
import type { Theme } from "./theme";
import { enableTooltip } from "./tooltip";
import { Walls } from "./walls";
import { Trails, type TrailMode } from "./trails";
import { Triad } from "./triad";

export class View3d {
  readonly stage: Stage;
  readonly labels: Labels;
  readonly trails: Trails;
  readonly ghosts: Ghosts;
  readonly contacts: Contacts;
  readonly joints: Joints;
  /** Only in plans. */
  readonly forces: Forces | null;
  readonly planes: Planes | null;
  follow = false;
  readonly solids: Solids;
  private readonly bodies: Bodies;
  private readonly walls: Walls;
  private readonly triad = new Triad(byId<SVGSVGElement>("triad"));
  private picked: number | null = null;
  private readonly quality = new Quality((scale) => this.stage.setScale(scale));
  private stale = true;
  private readonly lastPlace = new Vector3();

  constructor(
    private readonly playback: Playback,
    private readonly theme: Theme,
    onPick: (body: number | null) => void,
  ) {
    const { motion } = playback;
    const bounds = sceneBounds(motion);
    this.stage = new Stage(motion.header, bounds, byId<HTMLCanvasElement>("canvas"));
    this.bodies = new Bodies(motion, this.stage.group);
    this.solids = new Solids(motion, this.bodies, this.stage.group);
    this.walls = new Walls(motion, this.stage.group);
    this.labels = new Labels(motion.header, this.stage, this.bodies, byId("labels"));
    this.trails = new Trails(motion, this.stage.group);
    this.ghosts = new Ghosts(motion, this.stage.group);
    const { header } = motion;
    const size = typicalSize(header);
    this.contacts = new Contacts(header.events, motion, size, this.stage.group);
    this.joints = new Joints(header, this.bodies, this.stage.group);
    const arrow = Math.max(2 * size, 0.4 * radius(bounds));
    this.forces = header.plan && new Forces(header.plan, this.bodies, arrow, this.stage.group);
    this.planes = header.plan && new Planes(header.plan, header, size, this.stage.group);
    byId("scale").textContent = `grid ${lengthLabel(this.stage.spacing)}`;
    enableTooltip(this.stage, this.solids, motion.header, byId("labels"));
    enablePicking(this.stage, this.bodies, this.solids, { pick: onPick, centre: (body) => this.centreOn(body) });
    playback.onChange(() => this.refresh());
    theme.onChange(() => this.applyTheme());
    this.applyTheme();
    this.watchSize();
  }

  private applyTheme(): void {
    this.bodies.material.setAccent(this.theme.colors.accent);
    this.solids.setAccent(this.theme.colors.accent);
    this.colorContacts();
    this.stage.setColors(this.theme.colors, this.theme.name === "dark");
    this.joints.setColor(this.theme.colors.joint);
    this.ghosts.setBackground(this.theme.colors.background);
    this.forces?.setColors(this.theme.colors.force, this.theme.colors.torque);
    this.planes?.setColor(this.theme.colors.accent);
  }

  /** Red arrows would be lost among the colours of stress. */
  private colorContacts(): void {
    const amongStress = this.solids.count > 0 && this.solids.stressShown;
    this.contacts.setColor(amongStress ? this.theme.colors.contact : contactColor);
  }

  private watchSize(): void {
    const box = this.stage.canvas.parentElement!;
    const fit = () => this.stage.resize(box.clientWidth, box.clientHeight);
    new ResizeObserver(fit).observe(box);
    fit();
  }

  private refresh(): void {
    this.stale = true;
    this.stage.invalidate();
  }

  setPicked(body: number | null): void {
    this.picked = body;
    this.bodies.highlight(body);
    this.solids.highlight(body);
    this.setTrails(this.trails.mode);
    this.setLabels(this.labels.all);
    this.setFollow(this.follow);
  }

  setTrails(mode: TrailMode): void {
    this.trails.show(mode, this.picked);
    this.refresh();
  }

  setGhosts(count: number): void {
    this.ghosts.show(count);
    this.refresh();
  }

  setLabels(all: boolean): void {
    this.labels.show(all, this.picked);
    this.refresh();
  }

  setContacts(shown: boolean): void {
    this.contacts.shown = shown;
    this.refresh();
  }

  setStress(shown: boolean): void {
    this.solids.stressShown = shown;
    this.colorContacts();
    this.refresh();
  }

  setJoints(shown: boolean): void {
    this.joints.shown = shown;
    this.refresh();
  }

  setForces(shown: boolean): void {
    if (this.forces) this.forces.shown = shown;
    this.refresh();
  }

  setPlanes(shown: boolean): void {
    if (this.planes) this.planes.shown = shown;
    this.refresh();
  }

  setFollow(follow: boolean): void {
    this.follow = follow;
    this.rememberPlace();
  }

  private rememberPlace(): boolean {
    return this.picked !== null && this.bodies.position(this.picked, this.lastPlace) !== null;
  }

  private followPicked(): void {
    const before = this.lastPlace.clone();
    if (this.follow && this.rememberPlace()) this.stage.moveBy(this.lastPlace.clone().sub(before));
  }

  centreOn(body: number): void {
    this.sync();
    const place = this.bodies.position(body, new Vector3());
    if (place) this.stage.centreOn(place);
  }

  /** Window coordinates of a body's origin. */
  project(body: number): { x: number; y: number } | null {
    this.sync();
    const place = this.bodies.position(body, new Vector3());
    const at = place && this.stage.project(place);
    const box = this.stage.canvas.getBoundingClientRect();
    return at && { x: at.x + box.left, y: at.y + box.top };
  }

  arrows(): Arrow[] {
    this.sync();
    return this.forces?.drawn ?? [];
  }

  /** Brings the bodies to the present time. */
  private sync(): void {
    if (!this.stale) return;
    this.stale = false;
    const cursor = this.playback.cursor;
    this.bodies.update(cursor);
    this.solids.update(cursor);
    this.walls.update(cursor);
    this.trails.update(cursor);
    this.contacts.update(this.playback.time, this.playback.motion.times[cursor.frame] ?? 0);
    this.joints.update();
    this.forces?.update(this.playback.time);
    this.planes?.update(this.playback.time);
    this.followPicked();
  }

  draw(milliseconds: number): void {
    this.quality.observe(milliseconds, this.playback.playing || this.stage.isTurning);
    this.sync();
    if (!this.stage.render()) return;
    this.labels.update();
    this.triad.update(this.stage.camera);
  }
}
