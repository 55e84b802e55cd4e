// Synthetic motions with known poses at every time.

export function box(a, b, c) {
  const vertices = [];
  for (let i = 0; i < 8; i++) vertices.push(i & 1 ? a : -a, i & 2 ? b : -b, i & 4 ? c : -c);
  const faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
  return { kind: "mesh", vertices, faces };
}

/** A top: a disc with a spike, turned on a lathe about z. */
export function top(radius, height, sides) {
  const vertices = [0, 0, -height];
  for (const z of [0, 0.35 * height]) {
    for (let i = 0; i < sides; i++) {
      const angle = (2 * Math.PI * i) / sides;
      vertices.push(radius * Math.cos(angle), radius * Math.sin(angle), z);
    }
  }
  const ring = (level, i) => 1 + level * sides + (i % sides);
  const faces = [];
  for (let i = 0; i < sides; i++) {
    faces.push([0, ring(0, i + 1), ring(0, i)]);
    faces.push([ring(0, i), ring(0, i + 1), ring(1, i + 1), ring(1, i)]);
  }
  faces.push(Array.from({ length: sides }, (_, i) => ring(1, i)));
  return { kind: "mesh", vertices, faces };
}

export function turn(axis, angle) {
  const length = Math.hypot(...axis);
  const s = Math.sin(angle / 2) / length;
  return [Math.cos(angle / 2), axis[0] * s, axis[1] * s, axis[2] * s];
}

export function times(frames, end) {
  return Array.from({ length: frames }, (_, f) => (frames > 1 ? (end * f) / (frames - 1) : 0));
}

/** Repeatable pseudo-random numbers in [0, 1). */
export function dice(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

const origin = { position: [0, 0, 0], rotation: [1, 0, 0, 0] };
const whole = (shape) => [{ shape, ...origin }];

function conservation(frames, seed) {
  const random = dice(seed);
  const noise = (scale) => frames.map(() => scale * (random() - 0.5));
  const drift = noise(2e-10);
  return {
    columns: [
      { key: "energy", label: "Total", unit: "J", group: "Energy" },
      { key: "kinetic", label: "Kinetic", unit: "J", group: "Energy parts" },
      { key: "potential", label: "Potential", unit: "J", group: "Energy parts" },
      { key: "momentum", label: "Angular momentum error", unit: "kg m²/s", group: "Momentum" },
      { key: "gap", label: "Deepest penetration", unit: "m", group: "Contact" },
      { key: "norm", label: "Quaternion norm error", unit: "", group: "Rotation" },
    ],
    values: [
      frames.map((t, i) => 14.715 + drift[i] + 1e-10 * t),
      frames.map((t) => 7 + 5 * Math.sin(2 * t) ** 2),
      frames.map((t) => 7.715 - 5 * Math.sin(2 * t) ** 2),
      noise(1e-13),
      frames.map((t) => (t > 1 && t < 1.4 ? NaN : 1e-6 * Math.abs(Math.sin(5 * t)))),
      noise(4e-16),
    ],
  };
}

const verdict = [
  { name: "Energy drift", value: 1.2e-9, bound: 1e-6, unit: "", pass: true, note: "relative to kinetic scale" },
  { name: "Angular momentum", value: 4.1e-13, bound: 1e-9, unit: "kg m²/s", pass: true, note: "" },
  { name: "Penetration", value: 2.4e-6, bound: 1e-6, unit: "m", pass: false, note: "deepest over all contacts" },
  { name: "Quaternion norm", value: null, bound: 1e-12, unit: "", pass: true, note: "not measured" },
];

export function spinningBox() {
  const frames = times(241, 4);
  const audit = conservation(frames, 7);
  const axis = [1, 2, 3];
  const rate = 3;
  return {
    header: {
      title: "Spinning box <b>&</b> ground",
      description: "A box thrown upwards and turning at a constant rate about a fixed axis.",
      integrator: "variational",
      step: 0.001,
      shapes: [box(0.3, 0.2, 0.1), { kind: "halfspace" }],
      bodies: [
        { name: "box", color: "#4477aa", mass: 1.5, fixed: false, parts: whole(0) },
        { name: "floor", fixed: true, parts: whole(1), pose: origin },
      ],
      audit: audit.columns,
      verdict,
      camera: null,
      unknown: { ignored: true },
    },
    times: frames,
    audit: audit.values,
    motion: (_, t) => ({
      position: [0.4 * t - 0.8, 0.2 * Math.sin(t), 0.6 + 1.2 * t - 0.3 * t * t],
      rotation: turn(axis, rate * t),
      speed: Math.hypot(0.4, 0.2 * Math.cos(t), 1.2 - 0.6 * t),
      spin: rate,
    }),
  };
}

/** A ball that hits the floor every second and then lies on it. */
export function bouncingBall() {
  const frames = times(201, 4);
  const audit = conservation(frames, 5);
  const hits = [0.5, 1.5, 2.5];
  const rests = frames.filter((t) => t > 3);
  const all = [...hits, ...rests];
  const three = (v) => all.flatMap(() => v);
  return {
    header: {
      title: "Bouncing ball",
      description: "",
      integrator: "exact",
      step: 0.001,
      shapes: [{ kind: "sphere", radius: 0.2 }, { kind: "halfspace" }],
      bodies: [
        { name: "ball", color: "#4477aa", mass: 1, fixed: false, parts: whole(0) },
        { name: "floor", fixed: true, parts: whole(1), pose: origin },
      ],
      audit: [...audit.columns, { key: "restitution_loss", label: "Lost", unit: "J", group: "Losses" }],
      events: {
        time: all, kind: all.map((t) => (t > 3 ? 1 : 0)), body: all.flatMap(() => [0, 1]), point: three([0, 0, 0]),
        normal: three([0, 0, 1]), impulse: all.flatMap((t) => [0, 0, t > 3 ? 0.01 : 3 - t]), total: all.length,
      },
    },
    times: frames,
    audit: [...audit.values, frames.map(() => 0)],
    motion: (_, t) => ({
      position: [0, 0, 0.2 + (t > 3 ? 0 : Math.abs(Math.cos(Math.PI * t)) * (1 - t / 3))],
      rotation: [1, 0, 0, 0], speed: 1, spin: 0,
    }),
  };
}

export function mixedShapes() {
  const frames = times(201, 10);
  const audit = conservation(frames, 3);
  const slope = turn([0, 1, 0], 0.9);
  return {
    header: {
      title: "Every kind of shape",
      description: "Boxes, a top, balls, capsules and a dumb-bell circle above the floor, beside a fixed wall and an inclined plane.",
      integrator: "variational",
      step: 0.0005,
      shapes: [
        box(0.25, 0.25, 0.25), { kind: "sphere", radius: 0.3 }, { kind: "capsule", radius: 0.12, half_length: 0.35 },
        { kind: "halfspace" }, top(0.35, 0.5, 48), { kind: "sphere", radius: 0.16 }, box(0.06, 1.0, 0.5),
        { kind: "capsule", radius: 0.05, half_length: 0.3 },
      ],
      bodies: [
        { name: "cube", color: "#4477aa", mass: 1, fixed: false, parts: whole(0) },
        { name: "ball", color: "#ee6677", mass: 2, fixed: false, parts: whole(1) },
        { name: "capsule", color: "#228833", mass: 0.5, fixed: false, parts: whole(2) },
        { name: "top", color: "#ccbb44", mass: 0.8, fixed: false, parts: whole(4) },
        {
          name: "dumb-bell", color: "#aa3377", mass: 3, fixed: false,
          parts: [
            { shape: 5, position: [0, 0, 0.35], rotation: [1, 0, 0, 0] },
            { shape: 7, position: [0, 0, 0], rotation: [1, 0, 0, 0] },
            { shape: 5, position: [0, 0, -0.35], rotation: [1, 0, 0, 0] },
          ],
        },
        { name: "wall", fixed: true, parts: whole(6), pose: { position: [-2.2, 0.6, 0.5], rotation: [1, 0, 0, 0] } },
        { name: "floor", fixed: true, parts: whole(3), pose: origin },
        { name: "slope", color: "#7799bb", fixed: true, parts: whole(3), pose: { position: [-2.6, 0, 0], rotation: slope } },
      ],
      audit: audit.columns,
      verdict: verdict.map((v) => ({ ...v, pass: true })),
    },
    times: frames,
    audit: audit.values,
    motion: (body, t) => {
      const angle = (2 * Math.PI * body) / 5 + 0.4 * t;
      return {
        position: [1.3 * Math.cos(angle), 1.3 * Math.sin(angle), 0.6 + 0.12 * Math.sin(2 * t + body)],
        rotation: turn([Math.sin(body), 0.3, 1], (0.5 + 0.3 * body) * t),
        speed: Math.hypot(1.3 * 0.4, 0.24 * Math.cos(2 * t + body)),
        spin: 0.5 + 0.3 * body,
      };
    },
  };
}

/** Bodies dropped onto the ground with bounces and a spin that changes at each. */
export function crowd(count, frameCount, end) {
  const frames = times(frameCount, end);
  const audit = conservation(frames, 11);
  const random = dice(count);
  const colors = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377"];
  const shapes = [box(0.18, 0.18, 0.18), box(0.3, 0.15, 0.1), { kind: "sphere", radius: 0.2 }, { kind: "capsule", radius: 0.1, half_length: 0.2 }, { kind: "halfspace" }];
  const side = Math.ceil(Math.sqrt(count / 4));
  const runs = Array.from({ length: count }, (_, i) => ({
    x: ((i % side) - side / 2) * 0.8, y: ((Math.floor(i / side) % side) - side / 2) * 0.8,
    z: 0.5 + 0.8 * Math.floor(i / side / side), v: [random() - 0.5, random() - 0.5],
    axis: [random() - 0.5, random() - 0.5, random() - 0.5], rate: 6 * random() - 3,
  }));
  return {
    header: {
      title: `${count} bodies`,
      description: "Boxes, balls and capsules dropped together.",
      integrator: "variational",
      step: 0.001,
      shapes,
      bodies: [
        ...runs.map((_, i) => ({ name: `body ${i}`, color: colors[i % 6], mass: 1, fixed: false, parts: whole(i % 4) })),
        { name: "floor", fixed: true, parts: whole(4), pose: origin },
      ],
      audit: audit.columns,
      verdict: verdict.slice(0, 2),
    },
    times: frames,
    audit: audit.values,
    motion: (body, t) => bounce(runs[body], t),
  };
}

function bounce(run, t) {
  const g = 9.81;
  let speed = Math.sqrt(2 * g * (run.z - 0.2));
  let start = -speed / g;
  let turned = 0;
  let rate = run.rate;
  let path = t;
  // The first arc begins at its highest point, each later one is half as high.
  while (t > start + (2 * speed) / g && speed > 0.4) {
    const next = start + (2 * speed) / g;
    turned += rate * (next - Math.max(start, 0));
    start = next;
    speed *= 0.7;
    rate *= -0.6;
  }
  const resting = speed <= 0.4;
  const s = t - start;
  if (resting) path = start;
  const vz = resting ? 0 : speed - g * s;
  return {
    position: [run.x + 0.3 * run.v[0] * path, run.y + 0.3 * run.v[1] * path, resting ? 0.2 : 0.2 + speed * s - (g / 2) * s * s],
    rotation: turn(run.axis, turned + (resting ? 0 : rate * (t - Math.max(start, 0)))),
    speed: resting ? 0 : Math.hypot(vz, 0.3 * run.v[0], 0.3 * run.v[1]),
    spin: resting ? 0 : Math.abs(rate),
  };
}

/** A run that recorded nothing. */
export function noFrames() {
  const scene = spinningBox();
  return { ...scene, times: [], audit: scene.audit.map(() => []) };
}

export function oneFrame() {
  const scene = spinningBox();
  return { ...scene, times: [0], audit: scene.audit.map((c) => c.slice(0, 1)) };
}

/** Only fixed bodies, and none of the optional keys. */
export function nothingMoves() {
  return {
    header: {
      title: "Still", integrator: "variational", step: 0.01, shapes: [box(1, 1, 0.2)],
      bodies: [{ name: "slab", mass: 1, fixed: true, parts: whole(0), pose: { position: [0, 0, 5], rotation: turn([1, 0, 0], 0.3) } }],
    },
    times: times(11, 1),
    motion: () => { throw new Error("nothing moves"); },
  };
}

/** A ball that rolls down an inclined plane, with nothing level about. */
export function incline() {
  const angle = 0.4;
  const tilt = turn([0, 1, 0], angle);
  const [s, c] = [Math.sin(angle), Math.cos(angle)];
  const rate = (5 / 7) * 9.81 * s;
  return {
    header: {
      title: "Rolling down",
      description: "A ball rolls down an inclined plane without slipping.",
      integrator: "variational",
      step: 0.001,
      shapes: [{ kind: "sphere", radius: 0.2 }, { kind: "halfspace" }],
      bodies: [
        { name: "ball", color: "#ee6677", mass: 1, fixed: false, parts: whole(0) },
        { name: "slope", color: "#7799bb", fixed: true, parts: whole(1), pose: { position: [0, 0, 2], rotation: tilt } },
      ],
    },
    times: times(121, 1.2),
    motion: (_, t) => {
      const along = 0.5 * rate * t * t;
      return {
        position: [along * c + 0.2 * s, 0, 2 - along * s + 0.2 * c],
        rotation: turn([0, 1, 0], along / 0.2),
        speed: rate * t,
        spin: (rate * t) / 0.2,
      };
    },
  };
}

const frameAt = (x, y, z, rotation = [1, 0, 0, 0]) => ({ position: [x, y, z], rotation });

/** A box on each kind of joint, all in the world but the link and the spring, swaying together. */
export function jointed() {
  const kinds = ["spherical", "revolute", "prismatic", "cylindrical", "planar", "screw", "fixed"];
  const frames = times(41, 2);
  const audit = conservation(frames, 3);
  const bodies = kinds.map((name) => ({ name, color: "#4477aa", mass: 1, fixed: false, parts: whole(0) }));
  const place = (i) => [1.2 * (i - 3), 0, 1];
  const tilted = turn([1, 0, 0], Math.PI / 2);
  const joints = kinds.map((kind, i) => ({
    name: `a ${kind}`, kind, latch: false, body: [-1, i], frames: [frameAt(place(i)[0], 0, 1.5, tilted), frameAt(0, 0, 0.5, tilted)],
  }));
  joints.push({ name: "link", kind: "distance", latch: false, body: [0, 1], frames: [frameAt(0.2, 0, 0), frameAt(-0.2, 0, 0)] });
  joints.push({ name: "", kind: "spring", latch: false, body: [1, 2], frames: [frameAt(0.2, 0, 0), frameAt(-0.2, 0, 0)] });
  joints.push({ name: "hook", kind: "revolute", latch: true, body: [2, 3], frames: [frameAt(0, 0, 0), frameAt(0, 0, 0)] });
  return {
    header: {
      title: "Joints", description: "", integrator: "variational", step: 0.01, shapes: [box(0.2, 0.15, 0.3)], bodies,
      audit: audit.columns, verdict, camera: null, joints,
    },
    times: frames,
    audit: audit.values,
    motion: (i, t) => ({ position: [place(i)[0], 0.1 * Math.sin(3 * t), 1], rotation: [1, 0, 0, 0], speed: 0, spin: 0 }),
  };
}

/** Four intervals of a plan: a box that turns about z, with one force in the world and one thruster of its own. */
export function planned() {
  const nodes = times(5, 2);
  const audit = conservation(nodes, 9);
  const rate = 0.8;
  return {
    header: {
      title: "Planned",
      description: "",
      integrator: "variational",
      step: 0.5,
      shapes: [box(0.3, 0.2, 0.1)],
      bodies: [
        { name: "craft", color: "#4477aa", mass: 1, fixed: false, parts: whole(0) },
        { name: "rock", color: "#999999", mass: null, fixed: true, parts: whole(0), pose: { position: [2, 1, 0], rotation: [1, 0, 0, 0] } },
      ],
      audit: audit.columns,
      verdict,
      camera: null,
      plan: {
        history: { solve: [0, 0, 0, 1, 1], iteration: [0, 1, 2, 2, 3], cost: [0, 100, 1, 2, 0.5], infeasibility: [10, 0.1, null, 1e-4, 1e-9] },
        actuators: [
          { name: "pull", kind: "wrench", body: 0, reaction: -1, axes: -1, point: [0, 0, 0] },
          { name: "jet", kind: "thruster", body: 0, reaction: -1, axes: 0, point: [0.3, 0, 0] },
        ],
        time: nodes,
        force: [[0, 0, 4], [0, 2, 0], [0, 0, 2], [0, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 1e-6], [0, -2, 0]].flat(),
        torque: [[0, 0, 0.5], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0.5, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]].flat(),
        planes: [
          { node: 1, span: true, body: [0, 1], normal: [-1, 0, 0], point: [1, 0.5, 0] },
          { node: 1, span: true, body: [0, 1], normal: [0, -1, 0], point: [1, 0.5, 0] },
          { node: 3, span: false, body: [0, 1], normal: [0, -1, 0], point: [1, 0.5, 0] },
        ],
        table: [
          { label: "Cost (effort)", unit: "", guess: 1000, optimum: 0.5 },
          { label: "Duration", unit: "s", guess: 2, optimum: 2 },
          { label: "Smallest gap", unit: "m", guess: null, optimum: 3e-16 },
        ],
      },
    },
    times: nodes,
    audit: audit.values,
    motion: (_, t) => ({ position: [0.5 * t, 0.2 * t, 0.1 * t], rotation: turn([0, 0, 1], rate * t), speed: 0.5, spin: rate }),
  };
}

/** The same with a torque in a joint, which has a sign, and with what holds two joints. */
export function held() {
  const scene = planned();
  const { plan } = scene.header;
  plan.actuators = [{ name: "knee", kind: "joint", body: 0, reaction: 1, axes: 1, point: [0, 0, 0] }];
  plan.force = [0, 0, 0, 0].flatMap(() => [0, 0, 0]);
  plan.torque = [0.5, -0.25, -0.5, 0].flatMap((t) => [0.6 * t, 0, -0.8 * t]); // about (-0.6, 0, 0.8)
  plan.joints = ["foot", "idle"];
  plan.joint_force = [3, 1, 2, 0, 5].flatMap((f) => [0, f, 0, 0, 0, 0]);
  return scene;
}

/** What a joint tells of itself. */
const ofJoint = [
  ["angle", "rad"], ["rate", "rad/s"], ["slide", "m"], ["speed", "m/s"], ["fx", "N"], ["fy", "N"], ["fz", "N"], ["force", "N"],
  ["mx", "N m"], ["my", "N m"], ["mz", "N m"], ["moment", "N m"],
];

/** An arm of three joints, 36 channels, with a contact sensor, one of a pose and a motor that the scene asked for. */
export function sensed() {
  const scene = jointed();
  const names = ["shoulder", "elbow", "wrist.left"];
  scene.header.title = "Sensed";
  scene.header.joints = scene.header.joints.slice(0, 3).map((j, i) => ({ ...j, name: names[i] }));
  const list = [
    ...["fx", "fy", "fz", "force"].map((w) => ({ name: `grip.${w}`, unit: "N" })),
    { name: "grip.touches", unit: "" },
    ...["x", "y", "z"].map((w) => ({ name: `hand pose.${w}`, unit: "m" })),
    ...["qw", "qx", "qy", "qz"].map((w) => ({ name: `hand pose.${w}`, unit: "" })),
    ...names.flatMap((joint) => ofJoint.map(([what, unit]) => ({ name: `${joint}.${what}`, unit }))),
    { name: "elbow.torque", unit: "N m" },
  ];
  const value = (c, t) => (c === 6 ? 1e-17 : c === 3 && t > 0.5 && t < 0.8 ? NaN : Math.sin(3 * t + c) * (1 + c));
  return {
    ...scene,
    header: { ...scene.header, channels: { points: scene.times.length, total: list.length, list } },
    channels: list.map((_, c) => scene.times.map((t) => value(c, t))),
    channelValue: value,
  };
}

/** More channels than anybody can look at, thinned to fewer points than there are frames. */
export function manyChannels(count) {
  const scene = spinningBox();
  const points = 40;
  const list = Array.from({ length: count }, (_, i) => ({ name: `sensor ${i}.gap`, unit: "m" }));
  return {
    ...scene,
    header: { ...scene.header, title: "Many channels", channels: { points, total: 10 * count, list } },
    channels: list.map((_, c) => Array.from({ length: points }, (__, k) => c + k)),
  };
}

const edge = 0.4;
const swing = (t) => 1 + 0.3 * Math.sin(4 * t);

/** A soft cube that hovers and is stretched along z, beside a rigid box. Node i has the stress i / 7 of the largest. */
export function softCube(frames = 61) {
  const corners = Array.from({ length: 8 }, (_, i) => [i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1].map((v) => (v * edge) / 2));
  const quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
  const triangles = quads.flatMap(([a, b, c, d]) => [a, b, c, a, c, d]);
  const header = {
    title: "A soft cube",
    description: "It is stretched and pressed.",
    shapes: [box(0.2, 0.2, 0.1)],
    bodies: [
      { name: "block", color: "#4477aa", mass: 2, fixed: false, parts: whole(0) },
      { name: "cube", color: "#228833", mass: 64, fixed: false, parts: [], solid: 0 },
    ],
    solids: [{ body: 1, radius: (edge * Math.sqrt(3)) / 2, nodes: 8, tetrahedra: 5, triangles }],
    audit: [
      { key: "solid0.elastic", label: "cube", unit: "J", group: "Elastic energy" },
      { key: "solid0.stress", label: "cube", unit: "Pa", group: "Largest stress" },
    ],
    events: { time: [1], kind: [0], body: [1, 0], point: [0, 0, 0.3], normal: [0, 0, 1], impulse: [0, 0, 1], total: 1 },
  };
  const all = times(frames, 3);
  return {
    header,
    times: all,
    audit: [all.map((t) => (swing(t) - 1) ** 2), all.map((t) => 7000 * Math.abs(swing(t) - 1))],
    motion: (body, t) =>
      body === 0
        ? { position: [1, 0, 0.1], rotation: [1, 0, 0, 0], speed: 0, spin: 0 }
        : { position: [0, 0, 0.5 + 0.1 * t], rotation: [1, 0, 0, 0], speed: 0.1, spin: 0 },
    deformation: (_, t) => ({
      nodes: corners.map(([x, y, z]) => [x, y, z * swing(t)]),
      stress: corners.map((_, i) => (7000 * Math.abs(swing(t) - 1) * i) / 7),
    }),
  };
}

/** A plate of so many triangles, with waves that have no pattern from frame to frame. */
export function softPlate(triangleCount, frames) {
  const random = dice(7);
  const across = Math.round(Math.sqrt(triangleCount / 2));
  const grid = Array.from({ length: (across + 1) ** 2 }, (_, i) => [i % (across + 1), Math.floor(i / (across + 1))].map((k) => k / across));
  const at = (x, y) => y * (across + 1) + x;
  const triangles = [];
  for (let y = 0; y < across; y++)
    for (let x = 0; x < across; x++) triangles.push(at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y), at(x + 1, y + 1), at(x, y + 1));
  const waves = Array.from({ length: 12 }, () => [1 + 9 * random(), 1 + 9 * random(), 5 + 60 * random(), 6 * random()]);
  const height = (x, y, t) => waves.reduce((sum, [a, b, w, p]) => sum + 0.02 * Math.sin(a * x + b * y + w * t + p), 0);
  return {
    header: {
      title: "A plate",
      shapes: [],
      bodies: [{ name: "plate", color: "#228833", mass: 1, fixed: false, parts: [], solid: 0 }],
      solids: [{ body: 0, radius: 0.7, nodes: grid.length, tetrahedra: triangles.length, triangles }],
      audit: [],
    },
    times: times(frames, 2),
    audit: [],
    motion: () => ({ position: [0, 0, 1], rotation: [1, 0, 0, 0], speed: 0, spin: 0 }),
    deformation: (_, t) => ({
      nodes: grid.map(([x, y]) => [x - 0.5 + 0.1 * height(y, x, t), y - 0.5, height(x, y, t)]),
      stress: grid.map(([x, y]) => 1e5 * Math.abs(height(x, y, 1.3 * t))),
    }),
  };
}
