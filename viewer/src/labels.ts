// Names beside the bodies, as HTML over the canvas.
import { Vector3 } from "three";
import type { Bodies } from "./bodies";
import { make } from "./dom";
import type { Stage } from "./stage";
import type { Header } from "./types";

const manyBodies = 40;

export class Labels {
  all = false;
  private readonly shown = new Map<number, HTMLElement>();
  private readonly point = new Vector3();

  constructor(
    private readonly header: Header,
    private readonly stage: Stage,
    private readonly bodies: Bodies,
    private readonly layer: HTMLElement,
  ) {}

  get allAllowed(): boolean {
    return this.header.bodies.length <= manyBodies;
  }

  show(all: boolean, picked: number | null): void {
    this.all = all && this.allAllowed;
    const wanted = new Set<number>();
    if (this.all) this.header.bodies.forEach((_, i) => this.drawn(i) && wanted.add(i));
    if (picked !== null && this.drawn(picked)) wanted.add(picked);
    for (const [body, element] of this.shown) {
      if (wanted.has(body)) continue;
      element.remove();
      this.shown.delete(body);
    }
    for (const body of wanted) if (!this.shown.has(body)) this.add(body);
    for (const [body, element] of this.shown) element.classList.toggle("picked", body === picked);
    this.update();
  }

  /** A half-space is everywhere, and so has no place for its name. */
  private drawn(body: number): boolean {
    const { parts, solid } = this.header.bodies[body]!;
    return solid !== null || parts.some((p) => this.header.shapes[p.shape]!.kind !== "halfspace");
  }

  private add(body: number): void {
    const element = make("span", "label", this.header.bodies[body]!.name);
    this.layer.append(element);
    this.shown.set(body, element);
  }

  update(): void {
    for (const [body, element] of this.shown) {
      const place = this.bodies.position(body, this.point);
      const at = place && this.stage.project(place);
      element.hidden = !at;
      if (at) element.style.transform = `translate(${at.x.toFixed(1)}px, ${at.y.toFixed(1)}px)`;
    }
  }
}
