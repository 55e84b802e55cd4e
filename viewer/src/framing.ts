// Where to put the camera so that a box fills the view.
import { PerspectiveCamera, Vector3 } from "three";
import type { Bounds } from "./bounds";
import { centre } from "./bounds";

const margin = 0.97; // share of the view that the box may fill

function corners(bounds: Bounds): Vector3[] {
  const out: Vector3[] = [];
  for (let i = 0; i < 8; i++) {
    out.push(
      new Vector3(
        i & 1 ? bounds.hi[0] : bounds.lo[0],
        i & 2 ? bounds.hi[1] : bounds.lo[1],
        i & 4 ? bounds.hi[2] : bounds.lo[2],
      ),
    );
  }
  return out;
}

/** The distance from the centre at which every corner is inside the view. */
export function fitDistance(camera: PerspectiveCamera, bounds: Bounds, towardsEye: Vector3): number {
  const target = new Vector3(...centre(bounds));
  const right = new Vector3().crossVectors(camera.up, towardsEye).normalize();
  if (right.lengthSq() < 0.5) right.set(1, 0, 0);
  const up = new Vector3().crossVectors(towardsEye, right);
  const tanY = Math.tan((camera.fov * Math.PI) / 360) * margin;
  const tanX = tanY * camera.aspect;
  let distance = 0;
  for (const corner of corners(bounds)) {
    corner.sub(target);
    const near = corner.dot(towardsEye);
    distance = Math.max(distance, near + Math.abs(corner.dot(right)) / tanX, near + Math.abs(corner.dot(up)) / tanY);
  }
  return distance;
}
