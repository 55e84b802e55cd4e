// Numbers as a reader wants them: a true minus sign and few digits.

const minus = (text: string) => text.replace(/-/g, "\u2212");

const superscript: Record<string, string> = {
  "-": "⁻", "0": "⁰", "1": "¹", "2": "²", "3": "³", "4": "⁴", "5": "⁵", "6": "⁶", "7": "⁷", "8": "⁸", "9": "⁹",
};

function scientific(value: number, digits: number): string {
  const [mantissa, exponent] = value.toExponential(digits).split("e");
  const power = `10${String(Number(exponent)).replace(/[-0-9]/g, (c) => superscript[c]!)}`;
  const factor = minus(String(Number(mantissa)));
  return factor === "1" ? power : `${factor}\u2009×\u2009${power}`;
}

/** A value with about this many significant digits. */
export function number(value: number | null, digits = 4): string {
  if (value === null || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "\u2212∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e6) return scientific(value, Math.min(digits - 1, 2));
  return minus(String(Number(value.toPrecision(digits))));
}

/** A value with a fixed number of decimals, for read-outs that must not jump about. */
export function fixed(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return "–";
  const text = value.toFixed(decimals);
  return minus(Number(text) === 0 ? text.replace("-", "") : text);
}

/** Decimals that show about five digits of a quantity which reaches this size. */
export function decimalsFor(size: number): number {
  if (!(size > 0)) return 3;
  return Math.min(Math.max(4 - Math.floor(Math.log10(size)), 1), 8);
}

/** Decimals of the clock: a thousandth of the span is still visible. */
export function timeDecimals(span: number): number {
  if (!(span > 0)) return 3;
  return Math.min(Math.max(3 - Math.floor(Math.log10(span)), 2), 9);
}

/** Decimals that write a step such as 0.25 in full. */
function decimalsOf(step: number): number {
  for (let decimals = 0; decimals < 8; decimals++) {
    const scaled = step * 10 ** decimals;
    if (scaled > 0.5 && Math.abs(scaled - Math.round(scaled)) < 1e-6 * scaled) return decimals;
  }
  return 8;
}

/** Labels for the ticks of an axis, all with the same number of decimals. */
export function ticks(values: number[]): string[] {
  const step = values.length > 1 ? Math.abs(values[1]! - values[0]!) : Math.abs(values[0] ?? 0);
  const largest = Math.max(...values.map(Math.abs), 0);
  if (step === 0 || largest === 0) return values.map((v) => number(v));
  if (largest < 1e-3 || largest >= 1e5) return values.map((v) => shortScientific(v, largest, step));
  const decimals = decimalsOf(step);
  return values.map((v) => (Math.abs(v) < step * 1e-6 ? "0" : fixed(v, decimals)));
}

/** Compact, as tick labels have little room: 2.5e−9 */
function shortScientific(value: number, largest: number, step: number): string {
  if (Math.abs(value) < step * 1e-6) return "0";
  const power = Math.floor(Math.log10(largest));
  const digits = decimalsOf(step / 10 ** power);
  return minus(`${(value / 10 ** power).toFixed(digits)}e${power}`);
}

/** A length in the unit that suits its size. */
export function lengthLabel(metres: number): string {
  if (metres < 1e-4) return `${number(metres * 1e6)} µm`;
  if (metres < 0.01) return `${number(metres * 1e3)} mm`;
  return metres < 1000 ? `${number(metres)} m` : `${number(metres / 1000)} km`;
}

/** A stress in the unit that suits its size. */
export function stressLabel(pascals: number): string {
  const units: Array<[number, string]> = [[1e9, "GPa"], [1e6, "MPa"], [1e3, "kPa"]];
  const [size, unit] = units.find(([least]) => pascals >= least) ?? [1, "Pa"];
  return `${number(pascals / size, 3)} ${unit}`;
}

export function speedLabel(speed: number): string {
  return `${speed}× real time`;
}
