// Starts Chromium through playwright-core, which lives with the viewer.
import { mkdtempSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..");
const { chromium } = createRequire(join(root, "viewer", "package.json"))("playwright-core");

export const screenshots = resolve(process.env.CAROM_SCREENSHOTS ?? join(root, "build", "screenshots"));

const flags = [
  "--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-gpu-watchdog",
];

// However slow the machine: what hangs is ended by CTest, and nothing else is. Chromium's own watchdog is off, too.
const forever = 0;

export function launch(extra = []) {
  return chromium.launch({
    executablePath: process.env.CAROM_CHROMIUM ?? "/usr/bin/chromium",
    args: [...flags, ...extra],
    timeout: forever,
  });
}

export function scratch() {
  return mkdtempSync(join(tmpdir(), "carom-browser-"));
}

const local = /^(file|data|blob|about):/;

/** Opens a page and writes down everything it should not do. */
export async function open(browser, path, { hash = "#paused", width = 1000, height = 640, theme = "light", init, hidpi = 1 } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, deviceScaleFactor: hidpi });
  context.setDefaultTimeout(forever);
  const page = await context.newPage();
  const troubles = [];
  page.on("request", (r) => local.test(r.url()) || troubles.push(`request: ${r.url()}`));
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && !harmless(m.text()) && troubles.push(`${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => troubles.push(`exception: ${e.message}`));
  if (init) await page.addInitScript(init);
  await page.goto(pathToFileURL(path).href + hash);
  await page.evaluate(() => window.carom.ready);
  return { page, troubles, close: () => context.close() };
}

/** Remarks of a software renderer about itself. */
function harmless(text) {
  return /GPU stall due to ReadPixels|GL Driver Message|Automatic fallback to software WebGL/.test(text);
}

export const state = (page) => page.evaluate(() => window.carom.state());

/** Waits until what the page was told is on the screen. */
export function settle(page) {
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));
}

/** For `init` of open(): the clock of the page stands, and goes on only when it is told to by advance(). */
export function standingClock() {
  const ask = window.requestAnimationFrame.bind(window);
  let now = 1000;
  performance.now = () => now;
  window.requestAnimationFrame = (turn) => ask(() => turn(now));
  window.advanceClock = (seconds) => { now += 1000 * seconds; };
}

/** Lets the page see that so much time has passed since its last picture. */
export async function advance(page, seconds) {
  await page.evaluate((s) => window.advanceClock(s), seconds);
  await settle(page);
}
