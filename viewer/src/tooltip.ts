// What is under the pointer: the name of a solid and the stress there.
import { make } from "./dom";
import { stressLabel } from "./format";
import { solidUnder } from "./picking";
import type { Solids } from "./solids";
import type { Stage } from "./stage";
import type { Header } from "./types";

export function enableTooltip(stage: Stage, solids: Solids, header: Header, layer: HTMLElement): void {
  if (solids.count === 0) return;
  const tip = make("span", "label tip");
  tip.hidden = true;
  layer.append(tip);
  stage.canvas.addEventListener("pointermove", (event) => {
    const hit = event.buttons === 0 ? solidUnder(stage, solids, event) : null;
    tip.hidden = !hit;
    if (!hit) return;
    const box = stage.canvas.getBoundingClientRect();
    tip.textContent = `${header.bodies[hit.body]!.name}: ${stressLabel(hit.stress)}`;
    tip.style.transform = `translate(${event.clientX - box.left + 6}px, ${event.clientY - box.top - 14}px)`;
  });
  stage.canvas.addEventListener("pointerleave", () => (tip.hidden = true));
}
