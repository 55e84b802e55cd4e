// One table of shortcuts serves both the keys and the help.
import { byId, make } from "./dom";

export interface Shortcut {
  keys: string[];
  /** How the help writes the keys. */
  shown: string;
  help: string;
  run(event: KeyboardEvent): void;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches("input:not([type=range]), select, textarea") || target.isContentEditable);
}

/** Space on a focused button presses that button, as everywhere. */
function belongsToButton(event: KeyboardEvent): boolean {
  return (event.key === " " || event.key === "Enter") && event.target instanceof HTMLButtonElement;
}

export function listen(shortcuts: Shortcut[]): void {
  const table = new Map(shortcuts.flatMap((s) => s.keys.map((key) => [key, s] as const)));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target) || belongsToButton(event)) return;
    const shortcut = table.get(event.key) ?? table.get(event.key.toLowerCase());
    if (!shortcut) return;
    event.preventDefault();
    shortcut.run(event);
  });
}

export function fillHelp(shortcuts: Shortcut[], mouse: Array<[string, string]>): void {
  const list = byId("keys");
  const add = (keys: string, help: string, tag: "kbd" | "span") => {
    const shown = tag === "kbd" ? keys.split(" ").map((k) => make("kbd", "", k)) : [keys];
    list.append(make("div", "", make("dt", "", ...shown), make("dd", "", help)));
  };
  for (const s of shortcuts) add(s.shown, s.help, "kbd");
  for (const [action, help] of mouse) add(action, help, "span");
}
