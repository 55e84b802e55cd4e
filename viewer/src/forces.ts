// Planned forces and torques of the present interval: straight arrows at the points where forces act, bent ones around
// the axes of torques. Both are drawn over the bodies, since most act at centres of mass.
import { ConeGeometry, CylinderGeometry, InstancedMesh, Matrix4, MeshLambertMaterial, Quaternion, TorusGeometry, Vector3 } from "three";
import type { BufferGeometry, Group, WebGLRenderer } from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import type { Bodies } from "./bodies";
import type { Actuator, Plan, Vec3 } from "./types";

/** An arrow as it is drawn: along the force, or along the axis of the torque. */
export interface Arrow {
  actuator: string;
  kind: "force" | "torque";
  from: Vec3;
  to: Vec3;
}

const north = new Vector3(0, 0, 1);
const faint = 0.01; // share of the largest below which nothing is drawn

/** Along z, one long; the head is as long as wide whatever the length, so it is a mesh of its own. */
const shaft = (): BufferGeometry => new CylinderGeometry(1, 1, 1, 12).rotateX(Math.PI / 2).translate(0, 0, 0.5);
const head = (): BufferGeometry => new ConeGeometry(1, 2.4, 16).rotateX(Math.PI / 2).translate(0, 0, -1.2);

/** Three quarters of a ring around z with a head at its end. */
function ring(): BufferGeometry {
  const turn = 1.5 * Math.PI;
  const arc = new TorusGeometry(1, 0.055, 10, 48, turn);
  // The ring ends on -y, where counter-clockwise means towards +x.
  const tip = new ConeGeometry(0.17, 0.42, 16).rotateZ(-Math.PI / 2).translate(0.19, -1, 0);
  return mergeGeometries([arc, tip])!;
}

export class Forces {
  shown = true;
  readonly largestForce: number;
  readonly largestTorque: number;
  private readonly intervals: number;
  private readonly shafts: InstancedMesh;
  private readonly heads: InstancedMesh;
  private readonly rings: InstancedMesh;
  private readonly forceMaterial = overlay();
  private readonly torqueMaterial = overlay();
  /** What is on the screen, for scripts. */
  drawn: Arrow[] = [];
  private cleared = -1;
  private readonly matrix = new Matrix4();
  private readonly turn = new Quaternion();

  /** The longest arrow has this length. */
  constructor(
    private readonly plan: Plan,
    private readonly bodies: Bodies,
    private readonly length: number,
    group: Group,
  ) {
    this.intervals = Math.max(plan.time.length - 1, 0);
    this.largestForce = largest(plan.force);
    this.largestTorque = largest(plan.torque);
    const room = Math.max(plan.actuators.length, 1);
    this.shafts = new InstancedMesh(shaft(), this.forceMaterial, room);
    this.heads = new InstancedMesh(head(), this.forceMaterial, room);
    this.rings = new InstancedMesh(ring(), this.torqueMaterial, room);
    for (const mesh of this.meshes) {
      mesh.frustumCulled = false;
      mesh.renderOrder = 4;
      mesh.count = 0;
      mesh.onBeforeRender = (renderer) => this.clearOnce(renderer);
    }
    group.add(...this.meshes);
  }

  private get meshes(): InstancedMesh[] {
    return [this.shafts, this.heads, this.rings];
  }

  /** The first of them in a picture forgets the depth of what was drawn before: over the bodies, but solid themselves. */
  private clearOnce(renderer: WebGLRenderer): void {
    if (this.cleared === renderer.info.render.frame) return;
    this.cleared = renderer.info.render.frame;
    renderer.state.buffers.depth.setMask(true); // a clear heeds the mask that the last drawing left
    renderer.clearDepth();
  }

  setColors(force: string, torque: string): void {
    this.forceMaterial.color.set(force);
    this.torqueMaterial.color.set(torque);
    for (const material of [this.forceMaterial, this.torqueMaterial]) material.emissive.copy(material.color).multiplyScalar(0.45);
  }

  /** The interval that holds a time; forces are constant in it. */
  interval(time: number): number {
    const { time: nodes } = this.plan;
    let k = 0;
    while (k + 1 < this.intervals && nodes[k + 1]! <= time) k++;
    return k;
  }

  update(time: number): void {
    let forces = 0;
    let torques = 0;
    this.drawn = [];
    if (this.shown && this.intervals > 0) {
      const k = this.interval(time);
      this.plan.actuators.forEach((actuator, i) => {
        const at = 3 * (k * this.plan.actuators.length + i);
        const force = new Vector3().fromArray(this.plan.force, at);
        const torque = new Vector3().fromArray(this.plan.torque, at);
        if (force.length() > faint * this.largestForce) this.putForce(forces++, actuator, force);
        if (torque.length() > faint * this.largestTorque) this.putTorque(torques++, actuator, torque);
      });
    }
    this.shafts.count = this.heads.count = forces;
    this.rings.count = torques;
    for (const mesh of this.meshes) {
      mesh.visible = mesh.count > 0;
      mesh.instanceMatrix.needsUpdate = true;
    }
  }

  private origin(actuator: Actuator): Vector3 {
    return new Vector3(...actuator.point).applyMatrix4(this.bodies.matrix(actuator.body));
  }

  /** From the axes in which it is told to those of the world. */
  private direct(actuator: Actuator, vector: Vector3): Vector3 {
    if (actuator.axes < 0) return vector.normalize();
    return vector.transformDirection(this.bodies.matrix(actuator.axes));
  }

  private putForce(slot: number, actuator: Actuator, force: Vector3): void {
    const share = force.length() / this.largestForce;
    const length = this.length * share;
    const thick = 0.02 * this.length * (0.6 + 0.4 * share);
    const from = this.origin(actuator);
    const along = this.direct(actuator, force);
    const tip = from.clone().addScaledVector(along, length);
    const wide = 2.4 * thick;
    const stem = Math.max(length - 2 * wide, 0.01 * thick);
    this.drawn.push({ actuator: actuator.name, kind: "force", from: from.toArray(), to: tip.toArray() });
    this.turn.setFromUnitVectors(north, along);
    this.shafts.setMatrixAt(slot, this.matrix.compose(from, this.turn, new Vector3(thick, thick, stem)));
    // A short arrow is all head.
    const part = Math.min(wide, length / 2.4);
    this.heads.setMatrixAt(slot, this.matrix.compose(tip, this.turn, new Vector3(part, part, part)));
  }

  private putTorque(slot: number, actuator: Actuator, torque: Vector3): void {
    const radius = this.length * (0.15 + 0.25 * (torque.length() / this.largestTorque));
    const from = this.origin(actuator);
    const axis = this.direct(actuator, torque);
    this.drawn.push({ actuator: actuator.name, kind: "torque", from: from.toArray(), to: from.clone().addScaledVector(axis, radius).toArray() });
    this.turn.setFromUnitVectors(north, axis);
    this.rings.setMatrixAt(slot, this.matrix.compose(from, this.turn, new Vector3(radius, radius, radius)));
  }

  /** How many arrows are on the screen, straight and bent. */
  get visible(): [number, number] {
    return [this.shafts.count, this.rings.count];
  }
}

function overlay(): MeshLambertMaterial {
  return new MeshLambertMaterial({ transparent: true, opacity: 0.95 }); // transparent: after all that is solid
}

function largest(vectors: number[]): number {
  let most = 0;
  for (let i = 0; i + 2 < vectors.length; i += 3) most = Math.max(most, Math.hypot(vectors[i]!, vectors[i + 1]!, vectors[i + 2]!));
  return most;
}
