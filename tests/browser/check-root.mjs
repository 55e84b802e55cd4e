// node check-root.mjs PAGE.html [--screenshot OUT.png]
// Opens the page of `carom root --basins` as a reader would, light and dark: nothing goes wrong, all three methods are drawn in
// more than one colour, a click tells of the run under it and of the command that follows it, and so do the arrow keys.
import assert from "node:assert/strict";
import { checkReport } from "./report.mjs";

const count = (page, selector) => page.locator(selector).count();
const text = (page, selector) => page.locator(selector).innerText();

/** How many colours the picture of a method has. */
const colours = (page, n) => page.evaluate(async (n) => {
  const image = new Image();
  image.src = document.querySelectorAll("svg.map image")[n].getAttribute("href");
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  return new Set(new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer)).size;
}, n);

async function checkPage(page) {
  const data = await page.evaluate(() => window.carom.data);
  assert.ok((await text(page, "h1")).includes(data.expressions[0]));
  assert.equal(await count(page, "svg:not([aria-label])"), 0, "every picture has a label");
  assert.equal(await count(page, "svg.map"), 3);
  assert.equal(await count(page, "section >> nth=0 >> tr"), data.search.roots.length + 1, "every root has a row");
  assert.ok((await count(page, "circle.root")) > 0);
  for (const map of data.maps) assert.equal(map.cells.length, 2 * map.runs);
  for (let n = 0; n < 3; n++) assert.ok((await colours(page, n)) > 3, "a picture of several colours");
  const map = page.locator("svg.map >> nth=2");
  await map.click({ position: { x: 120, y: 90 } });
  assert.ok((await text(page, ".panel")).includes("Newton – Monte Carlo from"));
  const command = await text(page, "#command");
  assert.ok(command.startsWith("carom root --start=") && command.includes("--method monte-carlo"), command);
  await map.press("ArrowRight");
  assert.notEqual(await text(page, "#command"), command);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), "nothing sticks out");
}

checkReport("check-root.mjs", checkPage);
