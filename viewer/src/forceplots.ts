// Sizes of the planned forces and torques over time, one curve an actuator.
import { byId, make } from "./dom";
import type { Playback } from "./playback";
import { TimePlot, type Series } from "./plot";
import type { Theme } from "./theme";
import type { Plan } from "./types";

const height = 96;
const axisHeight = 18;
const most = 6; // curves that can be told apart

/** Only actuators that ever do something, the strongest first when there are many. */
function curves(plan: Plan, vectors: number[], frames: number): Series[] {
  const intervals = plan.time.length - 1;
  const all = plan.actuators.map(({ name }, i) => {
    const values = new Float64Array(frames);
    for (let k = 0; k < frames; k++) {
      const at = 3 * (Math.min(k, intervals - 1) * plan.actuators.length + i);
      values[k] = Math.hypot(vectors[at]!, vectors[at + 1]!, vectors[at + 2]!);
    }
    return { label: name, values, peak: Math.max(...values) };
  });
  const busy = all.filter((c) => c.peak > 0);
  return busy.length > most ? busy.sort((a, b) => b.peak - a.peak).slice(0, most) : busy;
}

export function makeForcePlots(playback: Playback, theme: Theme): TimePlot[] {
  const { header, frames } = playback.motion;
  const { plan } = header;
  if (!plan || plan.time.length !== frames || frames < 2) return [];
  const kinds = [
    { title: "Planned force", unit: "N", series: curves(plan, plan.force, frames) },
    { title: "Planned torque", unit: "N m", series: curves(plan, plan.torque, frames) },
  ].filter((k) => k.series.length > 0);
  const plots = kinds.map((kind, i) => {
    const timeAxis = i === kinds.length - 1;
    const options = { ...kind, timeAxis, readouts: true, stepped: true, height: height + (timeAxis ? axisHeight : 0) };
    return new TimePlot(options, playback, theme);
  });
  if (plots.length > 0) byId("plan").append(...plots.map((p) => p.element), make("p", "axis-name", "time in s"));
  return plots;
}
