// The surface of solids: a standard material that also draws the edges of triangles, faint where the surface is smooth
// and plain where it has a crease, and the highlight of what is picked.
import { Color, MeshStandardMaterial } from "three";

const vertexHead = /* glsl */ `
attribute vec3 side;
attribute vec3 crease;
centroid varying vec3 vSide;
flat varying vec3 vCrease;
`;

const fragmentHead = /* glsl */ `
uniform vec3 caromAccent;
uniform float caromPicked;
centroid varying vec3 vSide;
flat varying vec3 vCrease;
`;

// Lines fade where a triangle is only a few pixels wide, else far solids turn black.
const fragmentColor = /* glsl */ `
#include <color_fragment>
vec3 caromWidth = max(fwidth(vSide), vec3(1e-6));
vec3 caromLines = 1.0 - smoothstep(vec3(0.4), vec3(1.4), vSide / caromWidth);
caromLines *= mix(vec3(0.16) * (1.0 - smoothstep(0.04, 0.14, caromWidth)), vec3(0.55) * (1.0 - smoothstep(0.12, 0.5, caromWidth)), vCrease);
float caromLine = max(caromLines.x, max(caromLines.y, caromLines.z));
diffuseColor.rgb *= 1.0 - caromLine;
`;

const fragmentGlow = /* glsl */ `
#include <emissivemap_fragment>
float caromRim = 1.0 - abs(dot(normal, normalize(vViewPosition)));
totalEmissiveRadiance += caromAccent * caromPicked * (0.06 + 0.6 * caromRim * caromRim + 1.5 * caromLine);
`;

export class SkinMaterial {
  readonly material = new MeshStandardMaterial({ roughness: 0.62, metalness: 0, vertexColors: true });
  private readonly accent = { value: new Color() };
  private readonly picked = { value: 0 };

  constructor() {
    this.material.onBeforeCompile = (shader) => {
      shader.uniforms.caromAccent = this.accent;
      shader.uniforms.caromPicked = this.picked;
      shader.vertexShader =
        vertexHead + shader.vertexShader.replace("#include <begin_vertex>", "#include <begin_vertex>\nvSide = side;\nvCrease = crease;");
      shader.fragmentShader =
        fragmentHead +
        shader.fragmentShader
          .replace("#include <color_fragment>", fragmentColor)
          .replace("#include <emissivemap_fragment>", fragmentGlow);
    };
  }

  setPicked(picked: boolean): void {
    this.picked.value = picked ? 1 : 0;
  }

  setAccent(color: Color): void {
    this.accent.value.copy(color);
  }
}
