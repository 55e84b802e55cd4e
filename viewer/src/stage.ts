// The three.js scene: renderer, lights, camera and controls.
import {
  Color,
  DirectionalLight,
  Group,
  HemisphereLight,
  Matrix4,
  PCFSoftShadowMap,
  Plane,
  PerspectiveCamera,
  Scene,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { centre, groundHeight, radius, type Bounds } from "./bounds";
import { fitDistance } from "./framing";
import { gridSpacing, Surface, type SurfaceOptions } from "./ground";
import { findHalfspaces, type Halfspace } from "./halfspaces";
import type { Colors } from "./theme";
import type { Header, Vec3 } from "./types";

/** Planar scenes lie in x and y, with y up, and are looked at from z. */
const planarViews: Record<string, Vec3> = {
  oblique: [0.18, 0.12, 1],
  front: [0, 0, 1],
  side: [1, 0, 0],
  top: [0, 1, 1e-4],
};

const views: Record<string, Vec3> = {
  oblique: [0.62, -1, 0.52],
  front: [0, -1, 0],
  side: [1, 0, 0],
  top: [0, -1e-4, 1],
};

export class Stage {
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(34, 1, 0.01, 1000);
  readonly group = new Group();
  readonly controls: OrbitControls;
  readonly spacing: number;
  private readonly renderer: WebGLRenderer;
  private readonly surfaces: Surface[] = [];
  private readonly sky = new HemisphereLight(0xffffff, 0xffffff, 1);
  private readonly sun = new DirectionalLight(0xffffff, 2);
  private readonly size: number;
  private readonly slopes: Halfspace[];
  private framed = true;
  private scale = 1;
  private turning = false;
  private dirty = true;

  /** Throws where WebGL is missing. */
  constructor(
    private readonly header: Header,
    private readonly bounds: Bounds,
    readonly canvas: HTMLCanvasElement,
  ) {
    // Asking ourselves keeps three.js from filling the console where there is none.
    const attributes = { alpha: false, antialias: true, depth: true, powerPreference: "high-performance" } satisfies WebGLContextAttributes;
    const context = canvas.getContext("webgl2", attributes) as WebGL2RenderingContext | null;
    if (!context) throw new Error("The canvas gave no WebGL 2 context.");
    this.renderer = new WebGLRenderer({ canvas, context, antialias: true });
    this.renderer.localClippingEnabled = true;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFSoftShadowMap;
    this.size = radius(bounds);
    this.spacing = gridSpacing(this.size);
    this.scene.add(this.group, this.sky, this.sun, this.sun.target);
    this.addLight();
    const slopes = findHalfspaces(header).filter((h) => header.planar || !h.level);
    this.slopes = slopes;
    if (!header.planar) this.addGround(slopes);
    this.addSlopes(slopes);
    this.camera.up.copy(this.up);
    this.controls = this.addControls();
    canvas.addEventListener("webglcontextrestored", () => this.invalidate());
  }

  private get up(): Vector3 {
    return this.header.planar ? new Vector3(0, 1, 0) : new Vector3(0, 0, 1);
  }

  private addLight(): void {
    const middle = new Vector3(...centre(this.bounds));
    const reach = this.size * 1.15;
    this.sun.target.position.copy(middle);
    this.sun.position.copy(middle).addScaledVector((this.header.planar ? new Vector3(0.3, 1.15, 0.9) : new Vector3(0.3, -0.7, 1.15)).normalize(), reach * 2.2);
    this.sun.castShadow = true;
    const { shadow } = this.sun;
    shadow.mapSize.set(2048, 2048);
    shadow.camera.left = shadow.camera.bottom = -reach;
    shadow.camera.right = shadow.camera.top = reach;
    shadow.camera.near = reach * 0.5;
    shadow.camera.far = reach * 6;
    shadow.normalBias = (2 * reach) / 2048; // about one texel
    shadow.bias = -2e-4;
    shadow.radius = 3;
    this.sky.position.copy(this.up);
  }

  private addSurface(place: Matrix4, options: Omit<SurfaceOptions, "spacing">): void {
    const surface = new Surface(place, { ...options, spacing: this.spacing });
    this.surfaces.push(surface);
    this.scene.add(surface.mesh);
  }

  private addGround(slopes: Halfspace[]): void {
    const [x, y] = centre(this.bounds);
    const z = groundHeight(this.header, this.bounds);
    const clip = slopes.map((s) => s.plane);
    this.addSurface(new Matrix4().makeTranslation(x, y, z), { reach: 6 * this.size, origin: [x, y], opacity: 1, color: null, clip });
  }

  private addSlopes(slopes: Halfspace[]): void {
    const ground = new Plane(new Vector3(0, 0, 1), -groundHeight(this.header, this.bounds));
    for (const slope of slopes) {
      // Slide the middle of the plate to where the scene is.
      const { x, y } = new Vector3(...centre(this.bounds)).applyMatrix4(slope.place.clone().invert());
      const place = slope.place.clone().multiply(new Matrix4().makeTranslation(x, y, 0));
      const clip = [...(this.header.planar ? [] : [ground]), ...slopes.filter((s) => s !== slope).map((s) => s.plane)];
      const opacity = slope.plane.normal.dot(this.up) < 0.3 ? 0.4 : 0.8; // walls stand back behind ramps
      this.addSurface(place, { reach: 1.3 * this.size, origin: [x, y], opacity, color: slope.color, clip });
    }
  }

  private addControls(): OrbitControls {
    const controls = new OrbitControls(this.camera, this.canvas);
    controls.enableDamping = true;
    controls.dampingFactor = 0.12;
    controls.minDistance = this.size * 0.002;
    controls.maxDistance = this.size * 30;
    controls.addEventListener("change", () => this.invalidate());
    controls.addEventListener("start", () => {
      this.framed = false;
      this.turning = true;
    });
    controls.addEventListener("end", () => (this.turning = false));
    return controls;
  }

  setColors(colors: Colors, dark: boolean): void {
    this.scene.background = new Color(colors.background);
    for (const surface of this.surfaces) surface.setColors(colors);
    this.sky.color.set(dark ? "#cfd8e6" : "#ffffff");
    this.sky.groundColor.set(dark ? "#454b54" : "#cfccc8");
    this.sky.intensity = dark ? 1.25 : 1.75;
    this.sun.intensity = dark ? 2.0 : 1.9;
    this.invalidate();
  }

  invalidate(): void {
    this.dirty = true;
  }

  /** Keeps a scene that was framed before framed in the new size. */
  resize(width: number, height: number): void {
    if (width < 1 || height < 1) return;
    this.applyPixelRatio();
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (this.framed) this.home();
    this.invalidate();
  }

  private applyPixelRatio(): void {
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2) * this.scale);
  }

  /** Share of the full resolution to draw with. */
  setScale(scale: number): void {
    this.scale = scale;
    this.applyPixelRatio();
    this.invalidate();
  }

  get isTurning(): boolean {
    return this.turning;
  }

  /** The view the page opens with. */
  home(): void {
    const given = this.header.camera;
    if (!given) return this.view("oblique");
    this.place(new Vector3(...given.position), new Vector3(...given.target));
    this.framed = true;
  }

  /** Shows the whole motion from a named direction, or from the present one. */
  view(name?: string): void {
    const towardsEye = name ? this.direction(name) : this.camera.position.clone().sub(this.controls.target);
    towardsEye.normalize();
    const target = new Vector3(...centre(this.bounds));
    const distance = fitDistance(this.camera, this.bounds, towardsEye);
    this.place(target.clone().addScaledVector(towardsEye, distance), target);
    this.framed = name === "oblique" && !this.header.camera;
  }

  /** The oblique view is taken from a side from which no wall hides the scene, if there is one. */
  private direction(name: string): Vector3 {
    const direction = new Vector3(...((this.header.planar ? planarViews : views)[name] ?? views.oblique!));
    if (name !== "oblique" || this.header.planar) return direction;
    const hidden = (d: Vector3) => this.slopes.filter((h) => h.plane.normal.dot(d) < 0.1 * d.length()).length;
    const sides = [[1, 1], [-1, 1], [1, -1], [-1, -1]].map(([x, y]) => direction.clone().multiply(new Vector3(x, y, 1)));
    const best = Math.min(...sides.map(hidden));
    return sides.find((d) => hidden(d) === best)!;
  }

  private place(position: Vector3, target: Vector3): void {
    this.camera.position.copy(position);
    this.controls.target.copy(target);
    this.controls.update();
    this.invalidate();
  }

  /** Turns about this point from now on, without a jump of the view direction. */
  centreOn(point: Vector3): void {
    this.moveBy(point.clone().sub(this.controls.target));
  }

  moveBy(shift: Vector3): void {
    this.framed = false;
    this.camera.position.add(shift);
    this.controls.target.add(shift);
    this.invalidate();
  }

  /** Draws when something changed; true if it did. */
  render(): boolean {
    this.controls.update();
    if (!this.dirty) return false;
    this.dirty = false;
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.camera.near = distance * 0.01;
    this.camera.far = distance + this.size * 12;
    this.camera.updateProjectionMatrix();
    this.renderer.render(this.scene, this.camera);
    return true;
  }

  /** Canvas coordinates in CSS pixels, or null when behind the eye. */
  project(point: Vector3): { x: number; y: number } | null {
    const p = point.clone().project(this.camera);
    if (p.z > 1 || p.z < -1) return null;
    return { x: ((p.x + 1) / 2) * this.canvas.clientWidth, y: ((1 - p.y) / 2) * this.canvas.clientHeight };
  }
}
