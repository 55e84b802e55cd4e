// The replay data as written by the library; see FORMAT.md.

export type Vec3 = [number, number, number];
/** Unit quaternion, (w, x, y, z). */
export type Quat = [number, number, number, number];

export interface Pose {
  position: Vec3;
  rotation: Quat;
}

export interface MeshShape {
  kind: "mesh";
  vertices: number[];
  faces: number[][];
}
export interface SphereShape {
  kind: "sphere";
  radius: number;
}
export interface CapsuleShape {
  kind: "capsule";
  radius: number;
  half_length: number;
}
export interface HalfspaceShape {
  kind: "halfspace";
}
export type Shape = MeshShape | SphereShape | CapsuleShape | HalfspaceShape;

export interface Part extends Pose {
  shape: number;
}

export interface Body {
  name: string;
  color: string;
  mass: number | null;
  fixed: boolean;
  parts: Part[];
  /** Only fixed bodies carry their pose; the others have a stream. */
  pose: Pose | null;
  /** Which of the skins is its surface; null for bodies that do not deform. */
  solid: number | null;
}

/** The surface of a solid that deforms. */
export interface Skin {
  /** The body that stands for it: its frame is at the centre of mass, along the axes of the world. */
  body: number;
  nodes: number;
  /** At rest, about the centre of mass, m. */
  radius: number;
  /** Three nodes each, counter-clockwise seen from outside. */
  triangles: number[];
  /** Of the whole solid. */
  tetrahedra: number;
}

export interface AuditColumn {
  key: string;
  label: string;
  unit: string;
  group: string;
}

export interface VerdictRow {
  name: string;
  value: number | null;
  bound: number | null;
  unit: string;
  pass: boolean;
  note: string;
  /** Bodies and time of the worst, and a bound that the scene widened. */
  where: string;
}

/** Contact events in the order of time; vectors are three numbers an event, bodies two. */
export interface Events {
  time: number[];
  /** 0 impact, 1 lasting contact, 2 stick, 3 end of bouncing. */
  kind: number[];
  body: number[];
  point: number[];
  normal: number[];
  /** On the first body, N s. */
  impulse: number[];
  /** How many there were, if the page holds but a choice. */
  total: number;
}

/** A polyline (rho, z, ...) turned about the z axis of its pose, in the frame of a body or (-1) in the world. */
export interface Wall extends Pose {
  body: number;
  profile: number[];
}

export type JointKind = "spherical" | "revolute" | "prismatic" | "cylindrical" | "planar" | "screw" | "fixed" | "distance" | "spring";

/** A joint, a rigid link or a spring between two bodies; -1 is the world. */
export interface Joint {
  name: string;
  kind: JointKind;
  body: [number, number];
  /** In the frames of the bodies; z is the axis. */
  frames: [Pose, Pose];
  /** Gained when the bodies collide. */
  latch: boolean;
}

export interface Actuator {
  name: string;
  kind: "wrench" | "thruster" | "joint";
  body: number;
  /** The body along whose axes force and torque are told, or -1. */
  axes: number;
  /** In the frame of the body. */
  point: Vec3;
}

export interface Plane {
  node: number;
  /** Holds up to the next node as well. */
  span: boolean;
  body: [number, number];
  normal: Vec3;
  point: Vec3;
}

export interface Figure {
  label: string;
  unit: string;
  guess: number | null;
  optimum: number | null;
}

/** How a planned motion came about. */
export interface Plan {
  history: { solve: number[]; iteration: number[]; cost: Array<number | null>; infeasibility: Array<number | null> };
  actuators: Actuator[];
  /** Of the nodes: one more than there are intervals. */
  time: number[];
  /** Three numbers an actuator and interval, the intervals outside. */
  force: number[];
  torque: number[];
  /** Names of joints, and three numbers a joint and node: what holds its second body. */
  joints: string[];
  jointForce: number[];
  planes: Plane[];
  table: Figure[];
}

export interface ChannelInfo {
  /** What it is of, a dot, and what of it. */
  name: string;
  unit: string;
}

export interface Channels {
  /** Of each; as many as there are frames, or fewer. */
  points: number;
  /** How many there were, if the page holds but some. */
  total: number;
  list: ChannelInfo[];
}

export interface Header {
  title: string;
  description: string;
  generator: string;
  integrator: string;
  step: number | null;
  frames: number;
  /** Everything happens in the plane z = 0. */
  planar: boolean;
  shapes: Shape[];
  bodies: Body[];
  walls: Wall[];
  solids: Skin[];
  audit: AuditColumn[];
  verdict: VerdictRow[];
  /** PASS, FAIL or INCOMPLETE, and why in one line. */
  outcome: string;
  reason: string;
  events: Events;
  joints: Joint[];
  plan: Plan | null;
  channels: Channels;
  camera: { position: Vec3; target: Vec3 } | null;
}
