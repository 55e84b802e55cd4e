// The directions x, y, z in the corner of the view.
import { Vector3, type PerspectiveCamera } from "three";

const axes: Array<[string, Vector3]> = [
  ["x", new Vector3(1, 0, 0)],
  ["y", new Vector3(0, 1, 0)],
  ["z", new Vector3(0, 0, 1)],
];
const length = 24;
const namespace = "http://www.w3.org/2000/svg";

export class Triad {
  private readonly arms = axes.map(([name, axis]) => {
    const line = document.createElementNS(namespace, "line");
    const text = document.createElementNS(namespace, "text");
    text.textContent = name;
    const group = document.createElementNS(namespace, "g");
    group.setAttribute("class", `axis-${name}`);
    group.append(line, text);
    return { axis, group, line, text };
  });

  constructor(private readonly svg: SVGSVGElement) {
    svg.append(...this.arms.map((a) => a.group));
  }

  update(camera: PerspectiveCamera): void {
    const turned = this.arms.map((arm) => ({ arm, v: arm.axis.clone().transformDirection(camera.matrixWorldInverse) }));
    // Nearest last, so that it lies on top.
    turned.sort((a, b) => a.v.z - b.v.z);
    for (const { arm, v } of turned) {
      arm.line.setAttribute("x2", (v.x * length).toFixed(1));
      arm.line.setAttribute("y2", (-v.y * length).toFixed(1));
      arm.text.setAttribute("x", (v.x * (length + 9)).toFixed(1));
      arm.text.setAttribute("y", (-v.y * (length + 9)).toFixed(1));
      this.svg.append(arm.group);
    }
  }
}
