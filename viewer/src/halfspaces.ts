// The half-spaces of a scene as planes.
import { Matrix4, Plane, Vector3 } from "three";
import { poseMatrix } from "./bodies";
import { isLevel } from "./bounds";
import type { Header } from "./types";

export interface Halfspace {
  place: Matrix4;
  color: string;
  /** Positive on the free side. */
  plane: Plane;
  /** Level ones are the ground, and drawn as such. */
  level: boolean;
}

/** They belong to fixed bodies; a moving one has no place of its own to draw. */
export function findHalfspaces(header: Header): Halfspace[] {
  const found: Halfspace[] = [];
  for (const body of header.bodies) {
    for (const part of body.parts) {
      if (header.shapes[part.shape]!.kind !== "halfspace" || !body.pose) continue;
      const place = poseMatrix(body.pose).multiply(poseMatrix(part));
      const normal = new Vector3(0, 0, 1).transformDirection(place);
      const plane = new Plane().setFromNormalAndCoplanarPoint(normal, new Vector3().setFromMatrixPosition(place));
      found.push({ place, color: body.color, plane, level: isLevel(body, part) });
    }
  }
  return found;
}
