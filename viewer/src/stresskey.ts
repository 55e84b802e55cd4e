// The colours of stress, and the legend that says what they stand for. From pale to dark: told apart by colour-blind
// readers as well, and the same on a light and on a dark ground.
import { Color } from "three";
import { byId, make } from "./dom";
import { stressLabel } from "./format";
import type { SkinMotion } from "./skins";

// ColorBrewer's YlOrRd (Brewer 2013).
const stops = ["#ffffe0", "#ffeda0", "#fed976", "#feb24c", "#fd8d3c", "#fc4e2a", "#e31a1c", "#bd0026", "#800026"];
const entries = 256;
const table = Array.from({ length: entries }, (_, i) => {
  const at = (i / (entries - 1)) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  return new Color(stops[low]).lerp(new Color(stops[low + 1]), at - low);
});

/** Of a share of the full stress; above 1 it stays the last one. */
export function stressColor(share: number): Color {
  return table[Math.min(entries - 1, Math.max(0, Math.round(share * (entries - 1))))]!;
}

export function showStressKey(skins: SkinMotion): void {
  const key = byId("stress-key");
  const { fullStress, largestStress } = skins;
  const bar = make("i", "ramp");
  bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  const cut = largestStress > fullStress * 1.005;
  const ends = make("span", "ends", make("span", "", "0"), make("span", "", `${cut ? "≥ " : ""}${stressLabel(fullStress)}`));
  key.append(make("span", "", "von Mises stress"), bar, ends);
  if (cut) key.append(make("span", "most", `up to ${stressLabel(largestStress)}`));
}
