// How a plan came about: the cost and the violation of the constraints from iteration to iteration, and a table of the
// first guess beside the optimum.
import uPlot from "uplot";
import { byId, make } from "./dom";
import { number, ticks } from "./format";
import type { Theme } from "./theme";
import type { Figure, Plan } from "./types";

const height = 96;
const axisHeight = 20;
const axisWidth = 54;

interface Curve {
  title: string;
  values: Array<number | null>;
  color: number;
  axis: boolean;
}

/** Costs and violations fall by powers of ten; what has no logarithm is left out. */
function isLogarithmic(values: Array<number | null>): boolean {
  const positive = values.filter((v): v is number => v !== null && v > 0);
  if (values.some((v) => v !== null && v < 0) || positive.length < 2) return false;
  return Math.max(...positive) > 30 * Math.min(...positive);
}

/** Powers of ten in a range, not too many of them. */
function powers(lo: number, hi: number): number[] {
  const from = Math.ceil(Math.log10(lo) - 1e-9);
  const to = Math.floor(Math.log10(hi) + 1e-9);
  const every = Math.max(1, Math.ceil((to - from) / 4));
  return Array.from({ length: Math.max(Math.floor((to - from) / every) + 1, 0) }, (_, i) => 10 ** (to - i * every)).reverse();
}

/** Dashed lines where another solve began: nodes were added, or bodies kept further apart. */
function markSolves(plan: Plan, theme: Theme): (chart: uPlot) => void {
  const { solve } = plan.history;
  const starts = solve.map((s, i) => (i > 0 && s !== solve[i - 1] ? i : -1)).filter((i) => i > 0);
  return (chart) => {
    const { ctx, bbox } = chart;
    ctx.save();
    ctx.strokeStyle = theme.colors.muted;
    ctx.setLineDash([3, 3]);
    for (const at of starts) {
      const x = Math.round(chart.valToPos(at - 0.5, "x", true));
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  };
}

function settings(plan: Plan, curve: Curve, theme: Theme): uPlot.Options {
  const axis = { stroke: () => theme.colors.muted, font: "11px system-ui, sans-serif", ticks: { show: false } };
  const grid = { stroke: () => theme.colors.line, width: 1 };
  const log = isLogarithmic(curve.values);
  const last = plan.history.iteration.length - 1;
  const splits = (_: uPlot, __: number, lo: number, hi: number) => powers(lo, hi);
  const linear = (_: uPlot, lo: number, hi: number): uPlot.Range.MinMax => {
    const pad = hi > lo ? 0.08 * (hi - lo) : Math.abs(hi) * 0.1 || 1;
    return [lo - pad, hi + pad];
  };
  return {
    width: 300,
    height: height + (curve.axis ? axisHeight : 0),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    padding: [6, 14, curve.axis ? 0 : 4, 0],
    scales: { x: { time: false, range: () => [0, Math.max(last, 1)] }, y: log ? { distr: 3 } : { range: linear } },
    axes: [
      { ...axis, grid, size: curve.axis ? 22 : 0, gap: 2, space: 56, values: (_, v) => v.map((x) => (curve.axis && Number.isInteger(x) ? String(x) : "")) },
      { ...axis, grid, size: axisWidth, gap: 6, space: 24, values: (_, v) => (log ? v.map((x) => number(x, 1)) : ticks(v)), ...(log && { splits, filter: (_, v) => v }) },
    ],
    series: [{}, { label: curve.title, stroke: () => theme.colors.series[curve.color]!, width: 1.5, points: { show: last < 40, size: 4 } }],
    hooks: { draw: [markSolves(plan, theme)] },
  };
}

function chartOf(plan: Plan, curve: Curve, theme: Theme): HTMLElement {
  const host = make("div", "plot-canvas");
  const log = isLogarithmic(curve.values);
  const values = curve.values.map((v) => (v === null || (log && v <= 0) ? null : v));
  const final = [...curve.values].reverse().find((v) => v !== null) ?? null;
  const name = make("span", "plot-title", curve.title);
  const caption = make("figcaption", "", name, make("span", "plot-key", "at the end ", make("span", "plot-value", number(final, 4))));
  const chart = new uPlot(settings(plan, curve, theme), [values.map((_, i) => i), values] as uPlot.AlignedData, host);
  new ResizeObserver(() => {
    if (host.clientWidth >= 50) chart.setSize({ width: host.clientWidth, height: chart.height });
  }).observe(host);
  theme.onChange(() => chart.redraw(false, true));
  return make("figure", "plot", caption, host);
}

function factor(row: Figure): string {
  const { guess, optimum } = row;
  if (guess === null || optimum === null || !(guess > 0) || !(optimum > 0) || guess === optimum) return "";
  const ratio = optimum / guess;
  if (!/Cost|Effort|Largest|Duration/.test(row.label) || Math.abs(Math.log(ratio)) < 0.005) return "";
  return ratio < 1 ? `÷ ${number(1 / ratio, 3)}` : `× ${number(ratio, 3)}`;
}

/** Bodies that touch are a rounding error apart; nobody wants to read that. */
function shown(row: Figure, value: number | null): string {
  return number(row.unit === "m" && value !== null && Math.abs(value) < 1e-9 ? 0 : value, 3);
}

function tableOf(rows: Figure[]): HTMLTableElement {
  const heading = ["", "first guess", "optimum", ""].map((t, i) => make("th", i > 0 ? "num" : "", t));
  const body = rows.map((row) => {
    const name = make("td", "label-cell", row.label);
    if (row.unit) name.append(make("span", "unit", `\u2009${row.unit}`));
    const cells = [shown(row, row.guess), shown(row, row.optimum), factor(row)].map((t) => make("td", "num", t));
    cells[2]!.classList.add("factor");
    return make("tr", "", name, ...cells);
  });
  return make("table", "verdict plan-table", make("thead", "", make("tr", "", ...heading)), make("tbody", "", ...body));
}

/** Fills the section; the number of charts. */
export function showPlan(plan: Plan | null, theme: Theme): number {
  if (!plan) return 0;
  const section = byId("plan");
  if (plan.table.length > 0) section.append(tableOf(plan.table));
  const { history } = plan;
  section.hidden = plan.table.length === 0 && history.iteration.length === 0;
  byId("side").classList.toggle("planned", !section.hidden);
  if (history.iteration.length < 2) return 0;
  const cost = { title: "Cost", values: history.cost, color: 0, axis: false };
  const violation = { title: "Infeasibility", values: history.infeasibility, color: 1, axis: true };
  section.append(chartOf(plan, cost, theme), chartOf(plan, violation, theme), make("p", "axis-name", "iteration"));
  return 2;
}
