// Walls of revolution that grains run along: drums, funnels, silos. Translucent, so that one sees what is inside.
import { DoubleSide, LatheGeometry, Matrix4, Mesh, MeshStandardMaterial, Vector2, type Group } from "three";
import { poseMatrix } from "./bodies";
import type { Cursor, Motion } from "./motion";
import type { Wall } from "./types";

const segments = 64;

export class Walls {
  private readonly meshes: Array<{ mesh: Mesh; wall: Wall; place: Matrix4 }> = [];

  constructor(
    private readonly motion: Motion,
    group: Group,
  ) {
    const material = new MeshStandardMaterial({ color: "#8fa3b8", transparent: true, opacity: 0.22, side: DoubleSide, depthWrite: false });
    for (const wall of motion.header.walls) {
      const points: Vector2[] = [];
      for (let i = 0; i + 1 < wall.profile.length; i += 2) points.push(new Vector2(wall.profile[i]!, wall.profile[i + 1]!));
      // A lathe turns about y; here the axis is z.
      const geometry = new LatheGeometry(points, segments).rotateX(Math.PI / 2);
      const mesh = new Mesh(geometry, material);
      mesh.matrixAutoUpdate = false;
      mesh.renderOrder = 2;
      const place = poseMatrix(wall);
      mesh.matrix.copy(place);
      this.meshes.push({ mesh, wall, place });
      group.add(mesh);
    }
  }

  update(cursor: Cursor): void {
    for (const { mesh, wall, place } of this.meshes) {
      const pose = wall.body >= 0 ? this.motion.pose(wall.body, cursor) : null;
      if (pose) mesh.matrix.copy(poseMatrix(pose).multiply(place));
    }
  }
}
