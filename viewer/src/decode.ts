// Turns the BASE64 text into typed arrays; see FORMAT.md for the layout.
import { unzlibSync } from "fflate";
import { skinBoxLength, undoShades, undoSlopes, type SkinStreams } from "./skins";
import type { Header } from "./types";

const components = 9; // x y z qw qx qy qz speed spin
export const boxLength = 8; // lo, hi, greatest speed, greatest spin

export interface Streams {
  times: Float64Array;
  audit: Float64Array[];
  boxes: Float32Array;
  /** Quantised values, component-major, then body-major, then by frame. */
  values: Uint16Array;
  /** The values that the lowest and the highest level of each channel mean. */
  channelRanges: Float64Array;
  /** Channel-major, then by point. */
  channelLevels: Uint16Array;
  skins: SkinStreams;
}

function fail(what: string): never {
  throw new Error(`The recorded motion is damaged: ${what}.`);
}

function fromBase64(text: string): Uint8Array {
  let binary = "";
  try {
    binary = atob(text.replace(/\s+/g, ""));
  } catch {
    fail("it is not valid base64");
  }
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

function adler32(bytes: Uint8Array): number {
  let a = 1;
  let b = 0;
  for (let i = 0; i < bytes.length; ) {
    // 2000 sums stay below 2^31, so that the remainder may wait until then.
    const end = Math.min(i + 2000, bytes.length);
    for (; i < end; i++) b += a += bytes[i]!;
    a %= 65521;
    b %= 65521;
  }
  return b * 65536 + a;
}

function inflate(packed: Uint8Array): Uint8Array {
  if (packed.length < 6) fail("it is too short");
  let bytes = packed;
  try {
    bytes = unzlibSync(packed);
  } catch {
    fail("it cannot be decompressed");
  }
  // fflate does not look at the checksum, and a flipped bit must not pass as motion.
  const expected = new DataView(packed.buffer, packed.byteOffset + packed.length - 4).getUint32(0);
  if (adler32(bytes) !== expected) fail("its checksum is wrong");
  return bytes;
}

/** Copies, so that the typed array is aligned. All machines with WebGL are little endian. */
function slice(bytes: Uint8Array, from: number, length: number): ArrayBuffer {
  return bytes.buffer.slice(bytes.byteOffset + from, bytes.byteOffset + from + length) as ArrayBuffer;
}

function joinPlanes(bytes: Uint8Array, from: number, count: number): Uint16Array {
  const values = new Uint16Array(count);
  for (let i = 0; i < count; i++) values[i] = bytes[from + i]! | (bytes[from + count + i]! << 8);
  return values;
}

function undoDeltas(values: Uint16Array, frames: number): void {
  for (let start = 0; start < values.length; start += frames) {
    for (let f = 1; f < frames; f++) values[start + f] += values[start + f - 1]!;
  }
}

function checkTimes(times: Float64Array): void {
  for (let f = 0; f < times.length; f++) {
    if (!Number.isFinite(times[f]!)) fail("a time is not a number");
    if (f > 0 && times[f]! < times[f - 1]!) fail("time runs backwards");
  }
}

/** `count` is that of the nodes of all skins in all frames. */
function decodeSkins(header: Header, bytes: Uint8Array, at: number, count: number): SkinStreams {
  const levelsAt = at + 4 * skinBoxLength * header.solids.length;
  const boxes = new Float32Array(slice(bytes, at, levelsAt - at));
  const levels = joinPlanes(bytes, levelsAt, 3 * count);
  const shades = new Uint8Array(slice(bytes, levelsAt + 6 * count, count));
  if (header.frames > 0) {
    undoSlopes(levels, header.frames);
    undoShades(shades, header.frames);
  }
  return { boxes, levels, shades };
}

export function decode(header: Header, base64: string): Streams {
  const bytes = inflate(fromBase64(base64));
  const frames = header.frames;
  const moving = header.bodies.filter((b) => !b.fixed).length;
  const count = components * moving * frames;
  const auditAt = 8 * frames;
  const boxesAt = auditAt + 8 * frames * header.audit.length;
  const valuesAt = boxesAt + 4 * boxLength * moving;
  const { points, list } = header.channels;
  const rangesAt = valuesAt + 2 * count;
  const levelsAt = rangesAt + 16 * list.length;
  const skinsAt = levelsAt + 2 * points * list.length;
  const skinNodes = header.solids.reduce((sum, s) => sum + s.nodes, 0);
  const due = skinsAt + 4 * skinBoxLength * header.solids.length + 7 * skinNodes * frames;
  if (bytes.length !== due) fail(`it has ${bytes.length} bytes where ${due} are due`);
  const times = new Float64Array(slice(bytes, 0, 8 * frames));
  checkTimes(times);
  const audit = header.audit.map((_, i) => new Float64Array(slice(bytes, auditAt + 8 * frames * i, 8 * frames)));
  const boxes = new Float32Array(slice(bytes, boxesAt, 4 * boxLength * moving));
  const values = joinPlanes(bytes, valuesAt, count);
  if (frames > 0) undoDeltas(values, frames);
  const channelRanges = new Float64Array(slice(bytes, rangesAt, 16 * list.length));
  const channelLevels = joinPlanes(bytes, levelsAt, points * list.length);
  if (points > 0) undoDeltas(channelLevels, points);
  const skins = decodeSkins(header, bytes, skinsAt, skinNodes * frames);
  return { times, audit, boxes, values, channelRanges, channelLevels, skins };
}
