// Click: pick a body. Double click: turn about it. Dragging belongs to the camera.
import { Raycaster, Vector2 } from "three";
import type { Bodies } from "./bodies";
import type { Stage } from "./stage";

const clickSlack = 5; // pixels the pointer may wander during a click

export interface PickHandlers {
  pick(body: number | null): void;
  centre(body: number): void;
}

export function enablePicking(stage: Stage, bodies: Bodies, handlers: PickHandlers): void {
  const { canvas } = stage;
  const ray = new Raycaster();
  let down: { x: number; y: number } | null = null;

  function under(event: MouseEvent): number | null {
    const box = canvas.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * 2 - 1;
    const y = 1 - ((event.clientY - box.top) / box.height) * 2;
    ray.setFromCamera(new Vector2(x, y), stage.camera);
    return bodies.cast(ray);
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
