// The audit columns as a stack of plots, one for each group.
import { make } from "./dom";
import { TimePlot } from "./plot";
import type { Playback } from "./playback";
import type { Theme } from "./theme";
import type { AuditColumn } from "./types";

const plotHeight = 104;
const axisHeight = 18;

interface Group {
  name: string;
  columns: Array<{ column: AuditColumn; values: Float64Array }>;
}

/** Of a plan only some columns are known. */
const known = ({ values }: Group["columns"][number]) => values.some((v) => !Number.isNaN(v));

/** Groups in which nothing ever happened (losses of a run without contacts, say) are left out. */
function grouped(playback: Playback): Group[] {
  const { header, audit } = playback.motion;
  const groups = new Map<string, Group>();
  header.audit.forEach((column, i) => {
    const group = groups.get(column.group) ?? { name: column.group, columns: [] };
    group.columns.push({ column, values: audit[i]! });
    groups.set(column.group, group);
  });
  for (const group of groups.values()) group.columns = group.columns.filter(known);
  return [...groups.values()].filter((g) => g.columns.some(({ values }) => values.some((v) => v !== 0 && !Number.isNaN(v))));
}

/** Written once for the plot if all its columns share it. */
function commonUnit(columns: AuditColumn[]): string | null {
  const { unit } = columns[0]!;
  return columns.every((c) => c.unit === unit) ? unit : null;
}

const withUnit = (column: AuditColumn) => (column.unit ? `${column.label} in ${column.unit}` : column.label);

export function makeAudit(host: HTMLElement, playback: Playback, theme: Theme): TimePlot[] {
  const groups = grouped(playback);
  if (groups.length === 0 || playback.motion.frames === 0) return [];
  const plots = groups.map(({ name, columns }, i) => {
    const last = i === groups.length - 1;
    const unit = commonUnit(columns.map((c) => c.column));
    const series = columns.map(({ column, values }) => ({ label: unit === null ? withUnit(column) : column.label, values }));
    const options = { title: name, unit: unit ?? "", series, timeAxis: last, readouts: true };
    return new TimePlot({ ...options, height: plotHeight + (last ? axisHeight : 0) }, playback, theme);
  });
  host.append(...plots.map((p) => p.element), make("p", "axis-name", "time in s"));
  host.hidden = false;
  return plots;
}
