// Planes that keep bodies apart in a plan, those of the present node or interval: squares between the two bodies.
import { DoubleSide, InstancedMesh, Matrix4, MeshBasicMaterial, PlaneGeometry, Quaternion, Vector3 } from "three";
import type { Group, InterleavedBufferAttribute } from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import { bodyRadius } from "./bounds";
import type { Header, Plan, Plane } from "./types";

const north = new Vector3(0, 0, 1);
const rim: Array<[number, number]> = [[-1, -1], [1, -1], [1, 1], [-1, 1]];

export class Planes {
  shown = false;
  private readonly byNode = new Map<number, Plane[]>();
  private readonly halves = new Map<Plane, number>();
  private readonly sheets: InstancedMesh;
  private readonly edges: LineSegments2;

  constructor(
    private readonly plan: Plan,
    header: Header,
    size: number,
    group: Group,
  ) {
    const radii = header.bodies.map((b) => bodyRadius(b, header.shapes));
    for (const plane of plan.planes) {
      this.byNode.set(plane.node, [...(this.byNode.get(plane.node) ?? []), plane]);
      const both = plane.body.map((b) => radii[b]!).filter((r) => r > 0);
      this.halves.set(plane, both.length > 0 ? Math.min(...both) : size);
    }
    const room = Math.max(1, ...[...this.byNode.values()].map((p) => p.length));
    const material = new MeshBasicMaterial({ transparent: true, opacity: 0.16, side: DoubleSide, depthWrite: false });
    this.sheets = new InstancedMesh(new PlaneGeometry(2, 2), material, room);
    this.sheets.renderOrder = 3;
    const geometry = new LineSegmentsGeometry().setPositions(new Float32Array(24 * room));
    this.edges = new LineSegments2(geometry, new LineMaterial({ linewidth: 1.5, transparent: true, opacity: 0.8 }));
    this.edges.renderOrder = 3;
    this.sheets.frustumCulled = this.edges.frustumCulled = false;
    this.sheets.visible = this.edges.visible = false;
    this.sheets.count = 0;
    group.add(this.sheets, this.edges);
  }

  setColor(color: string): void {
    (this.sheets.material as MeshBasicMaterial).color.set(color);
    this.edges.material.color.set(color);
  }

  /** Those that hold at a time: of its interval, or of the node that is nearest. */
  private at(time: number): Plane[] {
    const { time: nodes } = this.plan;
    let k = 0;
    while (k + 1 < nodes.length && nodes[k + 1]! <= time) k++;
    const near = k + 1 < nodes.length && nodes[k + 1]! - time < time - nodes[k]! ? k + 1 : k;
    const last = Math.min(k, Math.max(nodes.length - 2, 0));
    return [
      ...(this.byNode.get(last) ?? []).filter((p) => p.span),
      ...(this.byNode.get(near) ?? []).filter((p) => !p.span),
    ];
  }

  update(time: number): void {
    const planes = this.shown ? this.at(time) : [];
    const matrix = new Matrix4();
    const turn = new Quaternion();
    const { data } = this.edges.geometry.attributes.instanceStart as InterleavedBufferAttribute;
    planes.forEach((plane, i) => {
      const half = this.halves.get(plane)!;
      turn.setFromUnitVectors(north, new Vector3(...plane.normal).normalize());
      matrix.compose(new Vector3(...plane.point), turn, new Vector3(half, half, half));
      this.sheets.setMatrixAt(i, matrix);
      rim.forEach((corner, c) => {
        const next = rim[(c + 1) % 4]!;
        new Vector3(...corner, 0).applyMatrix4(matrix).toArray(data.array, 24 * i + 6 * c);
        new Vector3(...next, 0).applyMatrix4(matrix).toArray(data.array, 24 * i + 6 * c + 3);
      });
    });
    this.sheets.count = planes.length;
    this.sheets.instanceMatrix.needsUpdate = true;
    this.edges.geometry.instanceCount = 4 * planes.length;
    this.sheets.visible = this.edges.visible = planes.length > 0;
    data.needsUpdate = true;
  }

  /** How many are on the screen. */
  get visible(): number {
    return this.sheets.count;
  }
}
