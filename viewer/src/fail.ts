// A readable message in place of a blank page.
import { byId } from "./dom";

export function showFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  byId("failure-text").textContent = message;
  byId("failure").hidden = false;
  byId("app").hidden = true;
  document.title = "Replay cannot be shown";
  return message;
}

export function showNoWebgl(reason: string): void {
  byId("no-webgl-reason").textContent = reason;
  byId("no-webgl").hidden = false;
  byId("canvas").hidden = true;
  byId("app").classList.add("no-webgl");
}
