// Title, description and the facts of the run.
import { byId, make } from "./dom";
import { number } from "./format";
import type { Motion } from "./motion";

function facts(motion: Motion): Array<[string, string]> {
  const { header } = motion;
  const solids = header.solids.length;
  const moving = motion.moving - solids;
  const fixedBodies = header.bodies.length - motion.moving;
  const tetrahedra = header.solids.reduce((sum, s) => sum + s.tetrahedra, 0);
  const span = motion.end - motion.start;
  const all: Array<[string, string]> = [
    ["Bodies", solids > 0 && header.bodies.length === solids ? "" : `${moving} moving${fixedBodies > 0 ? `, ${fixedBodies} fixed` : ""}`],
    ["Solids", solids > 0 ? `${solids} that deform, ${tetrahedra} tetrahedra` : ""],
    ["Duration", `${number(span)} s in ${header.frames} frames`],
    ["Integrator", header.integrator],
    ["Step", header.step === null ? "" : `${number(header.step)} s`],
    ["Made by", header.generator],
  ];
  return all.filter(([, value]) => value !== "");
}

export function showAbout(motion: Motion): void {
  const { header } = motion;
  document.title = header.title;
  byId("title").textContent = header.title;
  const section = byId("about");
  if (header.description) section.append(make("p", "description", header.description));
  const dl = make("dl", "facts");
  for (const [name, value] of facts(motion)) dl.append(make("div", "", make("dt", "", name), make("dd", "", value)));
  section.append(dl);
  section.hidden = false;
  if (header.frames === 0) section.append(make("p", "notice", "This run recorded no frames, so there is nothing to play."));
}
