// The surface of bodies: a standard material which also draws crisp edges, a
// pattern on round shapes, and the highlight of the picked instance.
import { Color, MeshStandardMaterial, type WebGLProgramParametersWithUniforms } from "three";

type Shader = WebGLProgramParametersWithUniforms;

const vertexHead = /* glsl */ `
attribute float picked;
varying float vPicked;
varying vec3 vLocal;
#ifdef CAROM_EDGES
attribute float edge;
centroid varying float vEdge; // never extrapolated beyond the face
#endif
`;

const vertexBody = /* glsl */ `
vPicked = picked;
vLocal = position;
#ifdef CAROM_EDGES
vEdge = edge;
#endif
`;

const fragmentHead = /* glsl */ `
uniform vec3 caromAccent;
varying float vPicked;
varying vec3 vLocal;
#ifdef CAROM_EDGES
centroid varying float vEdge; // never extrapolated beyond the face
#endif
`;

// Lines fade where a face is only a few pixels wide, else far bodies turn black.
const fragmentColor = /* glsl */ `
#include <color_fragment>
#ifdef CAROM_EDGES
float caromWidth = max(fwidth(vEdge), 1e-6);
float caromReach = 0.9 + 1.2 * vPicked;
float caromLine = 1.0 - smoothstep(caromReach - 0.5, caromReach + 0.5, vEdge / caromWidth);
caromLine *= 1.0 - smoothstep(0.08, 0.35, caromWidth);
diffuseColor.rgb *= 1.0 - 0.55 * caromLine * (1.0 - vPicked);
#else
float caromLine = 0.0;
vec3 caromSide = smoothstep(-1.0, 1.0, vLocal / max(fwidth(vLocal), vec3(1e-6))) * 2.0 - 1.0;
diffuseColor.rgb *= 0.87 + 0.13 * caromSide.x * caromSide.y * caromSide.z;
#endif
`;

const fragmentGlow = /* glsl */ `
#include <emissivemap_fragment>
float caromRim = 1.0 - abs(dot(normal, normalize(vViewPosition)));
totalEmissiveRadiance += caromAccent * vPicked * (0.12 + 0.5 * caromRim * caromRim + caromLine);
`;

/** Present at run time, but not in the type declarations. */
function definesOf(material: MeshStandardMaterial): Record<string, string> {
  return (material as unknown as { defines: Record<string, string> }).defines;
}

export class BodyMaterial {
  private readonly accent = { value: new Color() };

  create(round: boolean): MeshStandardMaterial {
    const material = new MeshStandardMaterial({ roughness: 0.62, metalness: 0 });
    if (!round) Object.assign(definesOf(material), { CAROM_EDGES: "" });
    material.onBeforeCompile = (shader) => this.extend(shader);
    return material;
  }

  setAccent(color: string): void {
    this.accent.value.set(color);
  }

  private extend(shader: Shader): void {
    shader.uniforms.caromAccent = this.accent;
    shader.vertexShader = vertexHead + shader.vertexShader.replace("#include <begin_vertex>", `#include <begin_vertex>${vertexBody}`);
    shader.fragmentShader =
      fragmentHead +
      shader.fragmentShader
        .replace("#include <color_fragment>", fragmentColor)
        .replace("#include <emissivemap_fragment>", fragmentGlow);
  }
}
