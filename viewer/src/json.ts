// Reading JSON that may be damaged: every helper gives a value of its type, or stops with a reason.
import type { Pose, Quat, Vec3 } from "./types";

export type Json = Record<string, unknown>;

export function fail(what: string): never {
  throw new Error(`The description of the run is damaged: ${what}.`);
}

export function object(value: unknown, what: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) fail(`${what} is not an object`);
  return value as Json;
}

export function list(value: unknown, what: string): unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) fail(`${what} is not a list`);
  return value as unknown[];
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function maybeNumber(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

export function numbers(value: unknown, count: number, what: string): number[] {
  const all = list(value, what);
  const good = all.every((v) => typeof v === "number" && Number.isFinite(v));
  if (!good || (count >= 0 && all.length !== count)) fail(`${what} is not a list of ${count >= 0 ? count : ""} numbers`);
  return all as number[];
}

export function positive(value: unknown, what: string): number {
  const number = maybeNumber(value);
  if (number === null || number < 0) fail(`${what} is not a size`);
  return number as number;
}

export function readPose(value: unknown, what: string): Pose {
  const json = object(value, what);
  return {
    position: numbers(json.position, 3, `${what} position`) as Vec3,
    rotation: numbers(json.rotation, 4, `${what} rotation`) as Quat,
  };
}

/** The index of a body, -1 for the world where that is allowed. */
export function bodyIndex(value: unknown, lowest: number, bodies: number, what: string): number {
  const body = maybeNumber(value);
  if (body === null || !Number.isInteger(body) || body < lowest || body >= bodies) fail(`${what} is of no body`);
  return body as number;
}
