// The checks that the run made of itself.
import { byId, make } from "./dom";
import { number } from "./format";
import type { VerdictRow } from "./types";

function withUnit(value: number | null, unit: string): string {
  return value === null || unit === "" ? number(value, 3) : `${number(value, 3)} ${unit}`;
}

function row(check: VerdictRow): HTMLTableRowElement {
  const mark = make("td", "mark", check.pass ? "✓" : "✗");
  mark.append(make("span", "unseen", check.pass ? "pass" : "fail"));
  const name = make("td", "", check.name);
  if (check.note) name.append(make("small", "", check.note));
  const value = make("td", "num", withUnit(check.value, check.unit));
  if (check.bound !== null) value.append(make("small", "", `bound ${withUnit(check.bound, check.unit)}`));
  return make("tr", check.pass ? "pass" : "fail", mark, name, value);
}

function showBadge(rows: VerdictRow[]): void {
  const failed = rows.filter((r) => !r.pass).length;
  const badge = byId("badge");
  badge.textContent = failed === 0 ? `✓ ${rows.length} checks pass` : `✗ ${failed} of ${rows.length} checks fail`;
  badge.classList.toggle("fail", failed > 0);
  badge.hidden = false;
}

export function showVerdict(rows: VerdictRow[]): void {
  if (rows.length === 0) return;
  showBadge(rows);
  const table = make("table", "verdict", make("tbody", "", ...rows.map(row)));
  const section = byId("verdict");
  section.append(table);
  section.hidden = false;
}
