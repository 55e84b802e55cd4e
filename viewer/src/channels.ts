// Channels of the run, sorted into panes: what can share a plot because it is of one thing and of one unit.
import { fail, list, maybeNumber, object, text } from "./json";
import type { ChannelInfo, Channels } from "./types";

const gap = 65535;
const curvesAtMost = 6; // that can be told apart

/** Some curves of one plot. */
export interface Pane {
  /** Joints tell of themselves, in many channels; the rest was asked for. Places: all joints beside each other. */
  role: "asked" | "joint" | "places";
  /** What they are of; "" for channels that are of nothing. */
  owner: string;
  unit: string;
  curves: Array<{ label: string; channel: number }>;
}

export function readChannels(value: unknown, frames: number): Channels {
  if (value === undefined || value === null) return { points: 0, total: 0, list: [] };
  const json = object(value, "channels");
  const points = maybeNumber(json.points) ?? -1;
  if (!Number.isInteger(points) || points < 0 || points > frames) fail("the channels have a wrong number of points");
  const all = list(json.list, "channels").map((c, i) => {
    const channel = object(c, `channel ${i}`);
    return { name: text(channel.name) || `channel ${i}`, unit: text(channel.unit) };
  });
  return { points, total: maybeNumber(json.total) ?? all.length, list: all };
}

/** The values of a channel out of its levels; NaN is a gap. */
export function valuesOf(levels: Uint16Array, lo: number, hi: number): Float64Array {
  return Float64Array.from(levels, (u) => (u === gap ? NaN : lo + ((hi - lo) * u) / (gap - 1)));
}

/** "hinge.angle" is the angle of the hinge; names of things may hold dots themselves. */
function split({ name }: ChannelInfo): [string, string] {
  const dot = name.lastIndexOf(".");
  return dot > 0 && dot < name.length - 1 ? [name.slice(0, dot), name.slice(dot + 1)] : ["", name];
}

/** Panes by a key that says which channels go together. */
class Collection {
  readonly panes: Pane[] = [];
  private readonly open = new Map<string, Pane>();

  add(key: string, pane: Pane): void {
    const known = this.open.get(key);
    if (known && known.curves.length < curvesAtMost) {
      known.curves.push(...pane.curves);
      return;
    }
    this.open.set(key, pane);
    this.panes.push(pane);
  }
}

/** What a controller makes a joint do is asked for, and not one of the many forces that the joint carries. */
const isInput = (what: string) => what === "torque" || what === "thrust";

const places = new Map([["angle", "Joint angles"], ["slide", "Joint slides"]]);

/** Where all joints are, a curve for each; for one joint its own pane is enough. */
function jointPlaces(channels: ChannelInfo[], joints: Set<string>): Pane[] {
  const found = new Collection();
  channels.forEach((info, channel) => {
    const [joint, what] = split(info);
    const owner = joints.has(joint) ? places.get(what) : undefined;
    if (owner) found.add(what, { role: "places", owner, unit: info.unit, curves: [{ label: joint, channel }] });
  });
  return found.panes.filter((p) => p.curves.length > 1);
}

/** All panes, in the order of the channels, with the places of all joints before the first joint. */
export function makePanes(channels: ChannelInfo[], joints: Set<string>): Pane[] {
  const found = new Collection();
  channels.forEach((info, channel) => {
    const [owner, label] = split(info);
    const role = joints.has(owner) && !isInput(label) ? "joint" : "asked";
    const key = JSON.stringify([role, owner, owner ? info.unit : channel]); // what is of nothing stands alone
    found.add(key, { role, owner, unit: info.unit, curves: [{ label, channel }] });
  });
  const { panes } = found;
  const at = panes.findIndex((p) => p.role === "joint");
  if (at >= 0) panes.splice(at, 0, ...jointPlaces(channels, joints));
  return panes;
}

export function paneTitle(pane: Pane): string {
  return pane.curves.length === 1 ? [pane.owner, pane.curves[0]!.label].filter(Boolean).join(" ") : pane.owner;
}

/**
 * Those that a page shows at first: one of each sensor and controller, then where the joints are, then more that was
 * asked for, but neither quaternions nor counts. How fast joints are and what they carry waits in the list.
 */
export function firstPanes(panes: Pane[], count: number): Pane[] {
  const owners = new Set<string>();
  const asked = panes.filter((p) => p.role === "asked");
  const leading = asked.filter((p) => p.owner === "" || (!owners.has(p.owner) && owners.add(p.owner)));
  const together = panes.filter((p) => p.role === "places");
  const single = panes.filter((p) => p.role === "joint" && p.curves.every((c) => places.has(c.label)));
  const more = asked.filter((p) => p.unit !== "");
  const wanted = [...leading.slice(0, count - 1), ...(together.length > 0 ? together : single), ...leading, ...more];
  const shown = new Set([...new Set(wanted)].slice(0, count));
  return panes.filter((p) => shown.has(p));
}
