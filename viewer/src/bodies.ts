// All bodies as a few instanced meshes, one for each distinct geometry.
import {
  Color,
  InstancedBufferAttribute,
  InstancedMesh,
  Matrix4,
  Quaternion,
  Vector3,
  type Group,
  type Raycaster,
} from "three";
import { BodyMaterial } from "./material";
import type { Cursor, Motion } from "./motion";
import { modelOf, type Model } from "./shapes";
import type { Pose } from "./types";

export interface Instance {
  body: number;
  /** From the standard geometry to the frame of the body. */
  local: Matrix4;
}

interface Batch {
  mesh: InstancedMesh;
  instances: Instance[];
  picked: InstancedBufferAttribute;
}

const nowhere = new Matrix4().makeScale(0, 0, 0);

export function poseMatrix(pose: Pose): Matrix4 {
  const [w, x, y, z] = pose.rotation;
  return new Matrix4().compose(new Vector3(...pose.position), new Quaternion(x, y, z, w).normalize(), new Vector3(1, 1, 1));
}

/** The parts of all bodies, by what their geometry is. */
export function collectParts(motion: Motion): Map<string, { model: Model; instances: Instance[] }> {
  const { bodies, shapes } = motion.header;
  const models = shapes.map(modelOf);
  const found = new Map<string, { model: Model; instances: Instance[] }>();
  bodies.forEach((body, index) => {
    for (const part of body.parts) {
      const model = models[part.shape];
      if (!model) continue;
      const entry = found.get(model.key) ?? { model, instances: [] };
      entry.instances.push({ body: index, local: poseMatrix(part).multiply(model.fit) });
      found.set(model.key, entry);
    }
  });
  return found;
}

export class Bodies {
  readonly material = new BodyMaterial();
  private readonly batches: Batch[] = [];
  private readonly values = new Float64Array(7);
  /** One matrix for each body, shared by its parts. */
  private readonly matrices: Matrix4[];
  private readonly present: boolean[];

  constructor(
    private readonly motion: Motion,
    group: Group,
  ) {
    this.matrices = motion.header.bodies.map(() => new Matrix4());
    this.present = motion.header.bodies.map(() => false);
    const found = [...collectParts(motion).values()];
    const total = found.reduce((sum, { instances }) => sum + instances.length, 0);
    for (const { model, instances } of found) {
      const batch = this.makeBatch(model, instances, total);
      this.batches.push(batch);
      group.add(batch.mesh);
    }
  }

  private makeBatch(model: Model, instances: Instance[], total: number): Batch {
    const geometry = model.build(total);
    const picked = new InstancedBufferAttribute(new Float32Array(instances.length), 1);
    geometry.setAttribute("picked", picked);
    const mesh = new InstancedMesh(geometry, this.material.create(model.round), instances.length);
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.frustumCulled = false; // its bounds change with every frame
    const color = new Color();
    instances.forEach((instance, i) => mesh.setColorAt(i, color.set(this.motion.header.bodies[instance.body]!.color)));
    return { mesh, instances, picked };
  }

  update(cursor: Cursor): void {
    for (let i = 0; i < this.matrices.length; i++) {
      this.present[i] = this.motion.sample(i, cursor, this.values);
      if (this.present[i]) writeMatrix(this.values, this.matrices[i]!);
    }
    const matrix = new Matrix4();
    for (const { mesh, instances } of this.batches) {
      instances.forEach(({ body, local }, i) => {
        mesh.setMatrixAt(i, this.present[body] ? matrix.multiplyMatrices(this.matrices[body]!, local) : nowhere);
      });
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null; // the ray caster works it out again when asked
    }
  }

  highlight(picked: number | null): void {
    for (const batch of this.batches) {
      batch.instances.forEach(({ body }, i) => (batch.picked.array[i] = body === picked ? 1 : 0));
      batch.picked.needsUpdate = true;
    }
  }

  /** The nearest body under a ray. */
  cast(ray: Raycaster): { body: number; distance: number } | null {
    const hits = ray.intersectObjects(this.batches.map((b) => b.mesh), false);
    const hit = hits[0];
    if (!hit || hit.instanceId === undefined) return null;
    const batch = this.batches.find((b) => b.mesh === hit.object);
    const body = batch?.instances[hit.instanceId]?.body;
    return body === undefined ? null : { body, distance: hit.distance };
  }

  /** Of its frame at the present time. */
  matrix(body: number): Matrix4 {
    return this.matrices[body]!;
  }

  position(body: number, out: Vector3): Vector3 | null {
    return this.present[body] ? out.setFromMatrixPosition(this.matrices[body]!) : null;
  }
}

/** The rotation and translation of x y z qw qx qy qz. */
export function writeMatrix(v: Float64Array, out: Matrix4): void {
  const [px, py, pz, w, x, y, z] = v as unknown as [number, number, number, number, number, number, number];
  out.set(
    1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), px,
    2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x), py,
    2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y), pz,
    0, 0, 0, 1,
  );
}
