// Joints, rigid links and springs: pins along axes, balls, rails, screws and lines, at the present time.
import { BoxGeometry, Color, CylinderGeometry, InstancedMesh, Matrix4, MeshStandardMaterial, SphereGeometry, Vector3 } from "three";
import type { BufferGeometry, Group, InterleavedBufferAttribute } from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import { poseMatrix, type Bodies } from "./bodies";
import { bodyRadius, outside, typicalSize } from "./bounds";
import type { Header, Joint } from "./types";

/** A solid that moves with a body, or stays in the world (-1). */
interface Solid {
  body: number;
  local: Matrix4;
}

/** Corners of a line, each in the frame of a body. */
type Corner = { body: number; point: Vector3 };

interface Coil {
  from: Corner;
  to: Corner;
  radius: number;
}

type Form = "ball" | "pin" | "block";

const coilTurns = 9;
const coilSteps = 10 * coilTurns;
const manySprings = 300; // beyond it they are drawn straight
const identity = new Matrix4();

const geometries: Record<Form, () => BufferGeometry> = {
  ball: () => new SphereGeometry(1, 20, 14),
  pin: () => new CylinderGeometry(1, 1, 2, 20).rotateX(Math.PI / 2), // along z, from -1 to 1
  block: () => new BoxGeometry(2, 2, 2),
};

/** Solids of one form, and their shadows through whatever hides them. */
class Batch {
  readonly meshes: InstancedMesh[];

  constructor(
    form: Form,
    private readonly solids: Solid[],
    materials: MeshStandardMaterial[],
  ) {
    const geometry = geometries[form]();
    this.meshes = materials.map((material) => {
      const mesh = new InstancedMesh(geometry, material, solids.length);
      mesh.frustumCulled = false;
      mesh.renderOrder = material.depthTest ? 0 : 2;
      return mesh;
    });
    this.meshes[0]!.castShadow = true;
  }

  update(place: (body: number) => Matrix4): void {
    const matrix = new Matrix4();
    this.solids.forEach(({ body, local }, i) => {
      matrix.multiplyMatrices(place(body), local);
      for (const mesh of this.meshes) mesh.setMatrixAt(i, matrix);
    });
    for (const mesh of this.meshes) mesh.instanceMatrix.needsUpdate = true;
  }
}

export class Joints {
  readonly count: number;
  private on = true;
  private readonly solids: Record<Form, Solid[]> = { ball: [], pin: [], block: [] };
  private readonly corners: Array<[Corner, Corner]> = [];
  private readonly coils: Coil[] = [];
  private readonly batches: Batch[] = [];
  private readonly lines: LineSegments2 | null = null;
  private readonly solid = new MeshStandardMaterial({ roughness: 0.45, metalness: 0.25 });
  private readonly ghost = new MeshStandardMaterial({ transparent: true, opacity: 0.28, depthTest: false, depthWrite: false });
  private readonly size: number;

  constructor(
    private readonly header: Header,
    private readonly bodies: Bodies,
    group: Group,
  ) {
    this.size = typicalSize(header);
    const drawn = header.joints.filter((j) => !j.latch); // where a latch takes hold is not known beforehand
    this.count = drawn.length;
    const springs = drawn.filter((j) => j.kind === "spring").length;
    for (const joint of drawn) this.add(joint, springs <= manySprings);
    for (const form of ["ball", "pin", "block"] as const) {
      if (this.solids[form].length > 0) this.batches.push(new Batch(form, this.solids[form], [this.solid, this.ghost]));
    }
    for (const batch of this.batches) group.add(...batch.meshes);
    if (this.segments > 0) group.add((this.lines = this.makeLines()));
  }

  private get segments(): number {
    return this.corners.length + this.coils.length * coilSteps;
  }

  private makeLines(): LineSegments2 {
    const geometry = new LineSegmentsGeometry().setPositions(new Float32Array(6 * this.segments));
    const lines = new LineSegments2(geometry, new LineMaterial({ linewidth: 2.5 }));
    lines.frustumCulled = false;
    return lines;
  }

  /** The smaller of the two bodies says how large a joint may be. */
  private sizeOf(joint: Joint): number {
    const radii = joint.body
      .filter((b) => b >= 0 && !this.header.bodies[b]!.fixed)
      .map((b) => bodyRadius(this.header.bodies[b]!, this.header.shapes))
      .filter((r) => r > 0);
    return radii.length > 0 ? Math.min(...radii, 2 * this.size) : this.size;
  }

  private add(joint: Joint, coiled: boolean): void {
    const s = this.sizeOf(joint);
    const [a, b] = [0, 1].map((i) => poseMatrix(joint.frames[i]!)) as [Matrix4, Matrix4];
    const ends = [a, b].map((m, i) => ({ body: joint.body[i]!, point: new Vector3().setFromMatrixPosition(m) })) as [Corner, Corner];
    if (joint.kind === "distance") return this.addLink(ends, s);
    if (joint.kind === "spring" && coiled) return void this.coils.push({ from: ends[0], to: ends[1], radius: 0.1 * s });
    if (joint.kind === "spring") return void this.corners.push(ends);
    this.addParts(joint, a, b, s);
    const reach = (joint.kind === "revolute" ? 0.15 : 0.06) * s;
    for (const end of ends) this.addStrut(end, reach);
  }

  private put(form: Form, body: number, frame: Matrix4, x: number, y: number, z: number): void {
    this.solids[form].push({ body, local: frame.clone().scale(new Vector3(x, y, z)) });
  }

  private addLink(ends: [Corner, Corner], s: number): void {
    this.corners.push(ends);
    // A knob where the link ends beside its body shows that it is held there.
    for (const { body, point } of ends) {
      if (body < 0 || point.length() > 0) this.put("ball", body, new Matrix4().setPosition(point), 0.06 * s, 0.06 * s, 0.06 * s);
    }
  }

  private addParts(joint: Joint, a: Matrix4, b: Matrix4, s: number): void {
    const [first, second] = joint.body;
    const rail = 1.3 * s;
    switch (joint.kind) {
      case "spherical":
        return this.put("ball", first, a, 0.11 * s, 0.11 * s, 0.11 * s);
      case "revolute":
        return this.put("pin", first, a, 0.05 * s, 0.05 * s, 0.2 * s);
      case "prismatic":
        this.put("block", first, a, 0.025 * s, 0.025 * s, rail);
        return this.put("block", second, b, 0.1 * s, 0.1 * s, 0.16 * s);
      case "cylindrical":
        this.put("pin", first, a, 0.03 * s, 0.03 * s, rail);
        return this.put("pin", second, b, 0.1 * s, 0.1 * s, 0.16 * s);
      case "screw":
        this.put("pin", first, a, 0.03 * s, 0.03 * s, rail);
        this.addThread(first, a, 0.055 * s, rail);
        return this.put("block", second, b, 0.1 * s, 0.1 * s, 0.07 * s);
      case "planar":
        this.put("block", first, a, 0.5 * s, 0.5 * s, 0.008 * s);
        return this.put("ball", second, b, 0.08 * s, 0.08 * s, 0.08 * s);
      default:
        return this.put("block", first, a, 0.08 * s, 0.08 * s, 0.08 * s);
    }
  }

  private addThread(body: number, frame: Matrix4, radius: number, half: number): void {
    const steps = 16 * 10;
    const at = (i: number): Corner => {
      const angle = (2 * Math.PI * i) / 16;
      const point = new Vector3(radius * Math.cos(angle), radius * Math.sin(angle), half * ((2 * i) / steps - 1));
      return { body, point: point.applyMatrix4(frame) };
    };
    for (let i = 0; i < steps; i++) this.corners.push([at(i), at(i + 1)]);
  }

  /** From the middle of a body to a joint that lies further outside than it reaches: one sees what holds it. */
  private addStrut(end: Corner, reach: number): void {
    if (end.body < 0 || this.header.bodies[end.body]!.fixed) return;
    if (outside(this.header.bodies[end.body]!, this.header.shapes, end.point.toArray()) <= reach) return;
    this.corners.push([{ body: end.body, point: new Vector3() }, end]);
  }

  setColor(color: string): void {
    const tint = new Color(color);
    this.solid.color.copy(tint);
    this.ghost.color.copy(tint);
    if (this.lines) this.lines.material.color.copy(tint);
  }

  get shown(): boolean {
    return this.on;
  }

  set shown(on: boolean) {
    this.on = on;
    for (const batch of this.batches) for (const mesh of batch.meshes) mesh.visible = on;
    if (this.lines) this.lines.visible = on;
  }

  /** How many are on the screen. */
  get visible(): number {
    return this.on ? this.count : 0;
  }

  /** After the bodies. */
  update(): void {
    if (!this.on || this.count === 0) return;
    const place = (body: number) => (body < 0 ? identity : this.bodies.matrix(body));
    for (const batch of this.batches) batch.update(place);
    if (!this.lines) return;
    const { data } = this.lines.geometry.attributes.instanceStart as InterleavedBufferAttribute;
    const out = data.array as Float32Array;
    const point = new Vector3();
    let at = 0;
    for (const ends of this.corners) {
      for (const end of ends) {
        point.copy(end.point).applyMatrix4(place(end.body)).toArray(out, at);
        at += 3;
      }
    }
    for (const coil of this.coils) at = writeCoil(coil, place, out, at);
    data.needsUpdate = true;
  }
}

function writeCoil(coil: Coil, place: (body: number) => Matrix4, out: Float32Array, at: number): number {
  const from = coil.from.point.clone().applyMatrix4(place(coil.from.body));
  const axis = coil.to.point.clone().applyMatrix4(place(coil.to.body)).sub(from);
  const u = new Vector3(Math.abs(axis.x) < Math.abs(axis.z) ? 1 : 0, 0, Math.abs(axis.x) < Math.abs(axis.z) ? 0 : 1).cross(axis).normalize();
  const v = u.clone().cross(axis).normalize();
  const corner = (i: number) => {
    const share = i / coilSteps;
    const radius = coil.radius * Math.min(1, 8 * share, 8 * (1 - share)); // straight at the ends
    const angle = 2 * Math.PI * coilTurns * share;
    return from.clone().addScaledVector(axis, share).addScaledVector(u, radius * Math.cos(angle)).addScaledVector(v, radius * Math.sin(angle));
  };
  for (let i = 0; i < coilSteps; i++) {
    corner(i).toArray(out, at);
    corner(i + 1).toArray(out, at + 3);
    at += 6;
  }
  return at;
}
