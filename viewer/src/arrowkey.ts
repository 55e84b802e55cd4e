// What the longest arrows stand for, in the corner of the view.
import { byId, make } from "./dom";
import type { Forces } from "./forces";
import { number } from "./format";

export function showArrowKey(forces: Forces): void {
  const key = byId("arrows");
  const add = (kind: string, sign: string, name: string, largest: number, unit: string) => {
    if (largest > 0) key.append(make("span", kind, make("b", "", sign), ` ${name} up to ${number(largest, 3)} ${unit}`));
  };
  add("force", "→", "force", forces.largestForce, "N");
  add("torque", "↻", "torque", forces.largestTorque, "N m");
}
