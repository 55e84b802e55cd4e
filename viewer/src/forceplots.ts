// Planned forces and torques over time, one curve an actuator, and what holds the joints.
import { byId, make } from "./dom";
import type { Playback } from "./playback";
import { TimePlot, type Series } from "./plot";
import type { Theme } from "./theme";
import type { Plan } from "./types";

const height = 96;
const axisHeight = 18;
const most = 6; // curves that can be told apart

type Vector = [number, number, number];
const vectorAt = (all: number[], at: number): Vector => [all[3 * at]!, all[3 * at + 1]!, all[3 * at + 2]!];
const dot = (a: Vector, b: Vector) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** A torque about one axis has a sign: positive about the axis's larger component. Others have a size only. */
function signed(vectors: Vector[]): number[] {
  const sizes = vectors.map((v) => Math.hypot(...v));
  const peak = Math.max(...sizes, 0);
  const longest = vectors[sizes.indexOf(peak)];
  if (!longest || peak === 0) return sizes;
  const lead = longest.reduce((best, c) => (Math.abs(c) > Math.abs(best) ? c : best), 0);
  const axis = longest.map((c) => (c / peak) * Math.sign(lead)) as Vector;
  const straight = vectors.every((v, k) => sizes[k]! - Math.abs(dot(v, axis)) <= 1e-6 * peak);
  return straight ? vectors.map((v) => dot(v, axis)) : sizes;
}

/** Only those that ever do something, the strongest first when there are many. */
function busiest(all: Series[]): Series[] {
  const peak = (s: Series) => Math.max(0, ...Array.from(s.values, Math.abs));
  const busy = all.filter((s) => peak(s) > 0);
  return busy.length > most ? busy.sort((a, b) => peak(b) - peak(a)).slice(0, most) : busy;
}

function curves(plan: Plan, all: number[], frames: number): Series[] {
  const intervals = plan.time.length - 1;
  return busiest(
    plan.actuators.map(({ name, kind }, i) => {
      const vectors = Array.from({ length: frames }, (_, k) =>
        vectorAt(all, Math.min(k, intervals - 1) * plan.actuators.length + i),
      );
      const values = kind === "joint" ? signed(vectors) : vectors.map((v) => Math.hypot(...v));
      return { label: name, values: Float64Array.from(values) };
    }),
  );
}

function jointCurves(plan: Plan, frames: number): Series[] {
  return busiest(
    plan.joints.map((label, i) => ({
      label,
      values: Float64Array.from({ length: frames }, (_, k) => Math.hypot(...vectorAt(plan.jointForce, k * plan.joints.length + i))),
    })),
  );
}

export function makeForcePlots(playback: Playback, theme: Theme): TimePlot[] {
  const { header, frames } = playback.motion;
  const { plan } = header;
  if (!plan || plan.time.length !== frames || frames < 2) return [];
  const kinds = [
    { title: "Planned force", unit: "N", series: curves(plan, plan.force, frames) },
    { title: "Planned torque", unit: "N m", series: curves(plan, plan.torque, frames) },
    { title: "Force in joints", unit: "N", series: jointCurves(plan, frames), stepped: false },
  ].filter((k) => k.series.length > 0);
  const plots = kinds.map((kind, i) => {
    const timeAxis = i === kinds.length - 1;
    const options = { stepped: true, ...kind, timeAxis, readouts: true, height: height + (timeAxis ? axisHeight : 0) };
    return new TimePlot(options, playback, theme);
  });
  if (plots.length > 0) byId("plan").append(...plots.map((p) => p.element), make("p", "axis-name", "time in s"));
  return plots;
}
