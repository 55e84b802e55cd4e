// Picks a body by its name, for keyboards and for crowds.
import { byId } from "./dom";
import type { Header } from "./types";

const offered = 60;

export function makeFinder(header: Header, pick: (body: number) => void): void {
  const input = byId<HTMLInputElement>("find");
  const names = byId<HTMLDataListElement>("names");
  input.disabled = header.bodies.length === 0;

  function matches(text: string): number[] {
    const wanted = text.toLowerCase();
    const found: number[] = [];
    for (let i = 0; i < header.bodies.length && found.length < offered; i++) {
      if (header.bodies[i]!.name.toLowerCase().includes(wanted)) found.push(i);
    }
    return found;
  }

  function offer(): void {
    names.replaceChildren(...matches(input.value).map((i) => new Option("", header.bodies[i]!.name)));
  }

  /** An exact name wins over the first of several that contain the text. */
  function choose(exactOnly: boolean): void {
    const exact = header.bodies.findIndex((b) => b.name === input.value);
    const body = exact >= 0 ? exact : exactOnly || input.value === "" ? undefined : matches(input.value)[0];
    if (body === undefined) return;
    input.value = "";
    input.blur();
    pick(body);
  }

  input.addEventListener("focus", offer);
  input.addEventListener("input", (event) => {
    // A choice from the list comes without a typed character.
    if ((event as InputEvent).inputType === "insertReplacementText" || !(event instanceof InputEvent)) choose(true);
    offer();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") choose(false);
    if (event.key === "Escape") input.blur();
  });
}
