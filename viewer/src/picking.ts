// Click: pick a body. Double click: turn about it. Dragging belongs to the camera.
import { Raycaster, Vector2 } from "three";
import type { Bodies } from "./bodies";
import type { SolidHit, Solids } from "./solids";
import type { Stage } from "./stage";

const clickSlack = 5; // pixels the pointer may wander during a click

export interface PickHandlers {
  pick(body: number | null): void;
  centre(body: number): void;
}

function rayUnder(stage: Stage, event: MouseEvent): Raycaster {
  const ray = new Raycaster();
  const box = stage.canvas.getBoundingClientRect();
  const x = ((event.clientX - box.left) / box.width) * 2 - 1;
  const y = 1 - ((event.clientY - box.top) / box.height) * 2;
  ray.setFromCamera(new Vector2(x, y), stage.camera);
  return ray;
}

/** Bodies in front of it are not asked. */
export function solidUnder(stage: Stage, solids: Solids, event: MouseEvent): SolidHit | null {
  return solids.cast(rayUnder(stage, event));
}

export function enablePicking(stage: Stage, bodies: Bodies, solids: Solids, handlers: PickHandlers): void {
  const { canvas } = stage;
  let down: { x: number; y: number } | null = null;

  function under(event: MouseEvent): number | null {
    const ray = rayUnder(stage, event);
    const rigid = bodies.cast(ray);
    const soft = solids.cast(ray);
    const nearer = rigid && soft ? (soft.distance < rigid.distance ? soft : rigid) : (rigid ?? soft);
    return nearer?.body ?? null;
  }

  canvas.addEventListener("pointerdown", (event) => {
    down = event.button === 0 ? { x: event.clientX, y: event.clientY } : null;
  });
  canvas.addEventListener("pointerup", (event) => {
    const still = down && Math.hypot(event.clientX - down.x, event.clientY - down.y) < clickSlack;
    down = null;
    if (still) handlers.pick(under(event));
  });
  canvas.addEventListener("dblclick", (event) => {
    const body = under(event);
    if (body !== null) handlers.centre(body);
  });
}
