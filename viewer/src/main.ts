// Puts the page together.
import { makeAudit } from "./audit";
import { showAbout } from "./about";
import { decode } from "./decode";
import { byId } from "./dom";
import { showFailure, showNoWebgl } from "./fail";
import type { Arrow } from "./forces";
import { readHeader } from "./header";
import { Motion } from "./motion";
import { readOptions } from "./options";
import { Page } from "./page";
import { Playback } from "./playback";
import { Theme } from "./theme";
import { View3d } from "./view3d";
import type { Pose } from "./types";

interface Api {
  /** Settles when the first picture is drawn, or when a message is shown instead. */
  ready: Promise<void>;
  seek(time: number): void;
  play(): void;
  pause(): void;
  setSpeed(speed: number): void;
  frame(): number;
  bodyPose(body: string | number): Pose | null;
  pick(body: string | number | null): void;
  /** Where the origin of a body is in the window, in CSS pixels. */
  project(body: string | number): { x: number; y: number } | null;
  /** Arrows of planned forces and torques on the screen. */
  arrows(): Arrow[];
  state(): Record<string, unknown>;
}

declare global {
  interface Window {
    carom: Api;
  }
}

function readMotion(): Motion {
  const head = document.getElementById("carom-replay");
  const data = document.getElementById("carom-data");
  if (!head || !data) throw new Error("This page contains no recorded run.");
  const header = readHeader(head.textContent ?? "");
  const motion = new Motion(header, decode(header, data.textContent ?? ""));
  data.remove(); // the text is large, and decoded now
  return motion;
}

function makeView(playback: Playback, theme: Theme, page: () => Page): View3d | null {
  try {
    return new View3d(playback, theme, (body) => page().pick(body));
  } catch (error) {
    showNoWebgl(error instanceof Error ? error.message : String(error));
    return null;
  }
}

/** One loop drives the clock and the picture. */
function run(page: Page): Promise<void> {
  let last = performance.now();
  return new Promise((done) => {
    const turn = (now: number) => {
      // A tab that slept must not leap ahead.
      page.playback.tick(Math.min((now - last) / 1000, 0.25));
      page.draw(now - last);
      last = now;
      done();
      requestAnimationFrame(turn);
    };
    requestAnimationFrame(turn);
  });
}

function start(): Api {
  const options = readOptions(location.hash);
  const theme = new Theme(options.theme);
  const playback = new Playback(readMotion());
  if (options.speed !== null) playback.speed = options.speed;
  showAbout(playback.motion);
  const view: View3d | null = makeView(playback, theme, () => page);
  const page: Page = new Page(playback, theme, view, makeAudit(byId("audit"), playback, theme));
  page.open(options);
  window.addEventListener("hashchange", () => page.apply(readOptions(location.hash)));
  return api(page, run(page));
}

function api(page: Page, ready: Promise<void>): Api {
  const { playback, view } = page;
  return {
    ready,
    seek: (time) => playback.seek(time),
    play: () => playback.play(),
    pause: () => playback.pause(),
    setSpeed: (speed) => playback.setSpeed(speed),
    frame: () => playback.frame,
    bodyPose: (body) => playback.motion.pose(page.find(body), playback.cursor),
    pick: (body) => page.pick(body === null ? null : page.find(body)),
    project: (body) => view?.project(page.find(body)) ?? null,
    arrows: () => view?.arrows() ?? [],
    state: () => page.state(),
  };
}

function failed(error: unknown): Api {
  const message = showFailure(error);
  const nothing = () => undefined;
  return {
    ready: Promise.resolve(),
    seek: nothing,
    play: nothing,
    pause: nothing,
    setSpeed: nothing,
    frame: () => 0,
    bodyPose: () => null,
    pick: nothing,
    project: () => null,
    arrows: () => [],
    state: () => ({ error: message }),
  };
}

try {
  window.carom = start();
} catch (error) {
  window.carom = failed(error);
}
