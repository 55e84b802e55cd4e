// The ground grid and the faces of half-spaces: lit surfaces that take shadows
// and carry a grid of round spacing. The ground is a disc which fades towards
// its rim, a half-space a plate with a border, so that its slope can be seen.
import { CircleGeometry, Color, DoubleSide, Mesh, MeshLambertMaterial, PlaneGeometry, Vector2, type Matrix4, type Plane } from "three";
import type { Colors } from "./theme";

const vertexHead = /* glsl */ `
varying vec2 vPlane;
`;

const fragmentHead = /* glsl */ `
varying vec2 vPlane;
uniform vec2 caromOrigin;
uniform vec3 caromGrid;
uniform float caromSpacing;
uniform float caromReach;
float caromLines(vec2 p) {
  vec2 w = max(fwidth(p), vec2(1e-6));
  vec2 d = abs(fract(p - 0.5) - 0.5) / w;
  vec2 visible = 1.0 - smoothstep(vec2(0.12), vec2(0.45), w);
  vec2 line = (1.0 - smoothstep(vec2(0.2), vec2(1.1), d)) * visible;
  return max(line.x, line.y);
}
`;

// From its solid side a half-space is only a veil: a box of walls stays open to the eye.
const fragmentColor = /* glsl */ `
#include <color_fragment>
vec2 caromPoint = (vPlane + caromOrigin) / caromSpacing;
float caromMark = max(0.4 * caromLines(caromPoint), 0.85 * caromLines(caromPoint / 5.0));
#ifdef CAROM_PLATE
vec2 caromRim = (caromReach - abs(vPlane)) / max(fwidth(vPlane), vec2(1e-9));
caromMark = max(caromMark, 1.0 - smoothstep(1.0, 2.0, min(caromRim.x, caromRim.y)));
diffuseColor.a *= gl_FrontFacing ? 1.0 : 0.12;
#else
diffuseColor.a *= 1.0 - smoothstep(0.35, 1.0, length(vPlane) / caromReach);
#endif
diffuseColor.rgb = mix(diffuseColor.rgb, caromGrid, caromMark);
`;

export interface SurfaceOptions {
  /** Radius of the disc, or half the side of the plate. */
  reach: number;
  spacing: number;
  /** Where the grid has its zero, seen from the middle of the surface. */
  origin: [number, number];
  opacity: number;
  /** The colour of a plate; the ground takes the one of the theme. */
  color: string | null;
  /** Nothing is drawn inside of other half-spaces. */
  clip: Plane[];
}

export class Surface {
  readonly mesh: Mesh;
  private readonly material: MeshLambertMaterial;
  private readonly grid = { value: new Color() };

  constructor(
    place: Matrix4,
    private readonly options: SurfaceOptions,
  ) {
    this.material = this.makeMaterial();
    const { reach, color } = options;
    const geometry = color === null ? new CircleGeometry(reach, 64) : new PlaneGeometry(2 * reach, 2 * reach);
    this.mesh = new Mesh(geometry, this.material);
    this.mesh.receiveShadow = true;
    this.mesh.renderOrder = color === null ? -2 : -1;
    this.mesh.applyMatrix4(place);
  }

  private makeMaterial(): MeshLambertMaterial {
    const { options } = this;
    const plate = options.color !== null;
    const material = new MeshLambertMaterial({
      transparent: true,
      depthWrite: false,
      side: DoubleSide,
      forceSinglePass: true, // in two passes three.js calls both sides the front
      opacity: options.opacity,
      clippingPlanes: options.clip,
    });
    if (plate) (material as { defines?: Record<string, string> }).defines = { CAROM_PLATE: "" };
    material.onBeforeCompile = (shader) => {
      shader.uniforms.caromOrigin = { value: new Vector2(...options.origin) };
      shader.uniforms.caromGrid = this.grid;
      shader.uniforms.caromSpacing = { value: options.spacing };
      shader.uniforms.caromReach = { value: options.reach };
      shader.vertexShader =
        vertexHead + shader.vertexShader.replace("#include <begin_vertex>", "#include <begin_vertex>\nvPlane = position.xy;");
      shader.fragmentShader = fragmentHead + shader.fragmentShader.replace("#include <color_fragment>", fragmentColor);
    };
    return material;
  }

  setColors(colors: Colors): void {
    const { color } = this.options;
    this.material.color.set(color ?? colors.ground);
    this.grid.value.set(colors.grid);
    if (color !== null) this.grid.value.set(color).lerp(new Color(colors.ink), 0.35);
  }
}

/** A round length (1, 2 or 5 times a power of ten) of about a tenth of the scene. */
export function gridSpacing(sceneRadius: number): number {
  const wanted = sceneRadius / 6;
  const power = 10 ** Math.floor(Math.log10(wanted));
  const factor = [1, 2, 5, 10].find((f) => f * power >= wanted * 0.99) ?? 10;
  return factor * power;
}
