// The checks that the run made of itself.
import { byId, make } from "./dom";
import { number } from "./format";
import type { Header, VerdictRow } from "./types";

function withUnit(value: number | null, unit: string): string {
  return value === null || unit === "" ? number(value, 3) : `${number(value, 3)} ${unit}`;
}

function row(check: VerdictRow): HTMLTableRowElement {
  const mark = make("td", "mark", check.pass ? "✓" : "✗");
  mark.append(make("span", "unseen", check.pass ? "pass" : "fail"));
  const name = make("td", "", check.name);
  if (check.note) name.append(make("small", "", check.note));
  if (check.where) name.append(make("small", "where", check.where));
  const value = make("td", "num", withUnit(check.value, check.unit));
  if (check.bound !== null) value.append(make("small", "", `bound ${withUnit(check.bound, check.unit)}`));
  return make("tr", check.pass ? "pass" : "fail", mark, name, value);
}

/** A run that did not come to its end never shows as one that passes. */
function showBadge(header: Header): void {
  const rows = header.verdict;
  const failed = rows.filter((r) => !r.pass).length;
  const passed = failed === 0 && header.outcome !== "INCOMPLETE" && header.outcome !== "FAIL";
  const badge = byId("badge");
  if (failed > 0) badge.textContent = `✗ ${failed} of ${rows.length} checks fail`;
  else badge.textContent = passed ? `✓ ${rows.length} checks pass` : `✗ ${header.outcome.toLowerCase()}`;
  badge.classList.toggle("fail", !passed);
  badge.title = header.reason;
  badge.hidden = false;
}

export function showVerdict(header: Header): void {
  if (header.verdict.length === 0 && header.outcome === "") return;
  showBadge(header);
  const section = byId("verdict");
  if (header.reason) section.append(make("p", "reason", `${header.outcome}: ${header.reason}`));
  section.append(make("table", "verdict", make("tbody", "", ...header.verdict.map(row))));
  section.hidden = false;
}
