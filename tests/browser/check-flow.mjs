// node check-flow.mjs PAGE.html [--screenshot OUT.png]
// Opens the page of `carom flow --page` as a reader would, light and dark: nothing goes wrong, images, flow and what is left over are
// drawn, and pointing at a pixel tells of it.
import assert from "node:assert/strict";
import { checkReport } from "./report.mjs";

const text = (page, selector) => page.locator(selector).innerText();
const colours = (page, n) => page.evaluate((n) => {
  const canvas = document.querySelectorAll(".views canvas")[n];
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return new Set(new Uint32Array(data.buffer)).size;
}, n);

async function checkPage(page) {
  const data = await page.evaluate(() => window.carom.data);
  const views = data.truth_u ? 5 : 4;
  assert.ok((await text(page, "h1")).includes(data.first));
  assert.equal(await page.locator(".views canvas").count(), views);
  assert.equal(await page.locator("canvas:not([aria-label])").count(), 0, "every picture has a label");
  assert.equal(data.A.length, 2 * data.width * data.height);
  assert.equal(data.u.length, data.width * data.height);
  for (let n = 0; n < views; n++) assert.ok((await colours(page, n)) > 3, "a picture of several colours");
  assert.deepEqual(await page.evaluate(() => window.carom.colour(0, 0)), [255, 255, 255], "white at rest");
  await page.locator(".views canvas >> nth=2").hover({ position: { x: 60, y: 40 } });
  assert.match(await text(page, "#probe"), /^pixel \(\d+, \d+\): motion \(/);
  assert.ok((await text(page, "table")).includes("no flow can beat"));
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), "nothing sticks out");
}

checkReport("check-flow.mjs", checkPage);
