// node check-navigate.mjs PAGE.html [--screenshot OUT.png]
// Opens a page of navigation as a reader would, light and dark: nothing goes wrong, every vehicle has a row, time moves the
// picture, vehicles are drawn where the data say and come to their goals, and a click on a row chooses its vehicle.
import assert from "node:assert/strict";
import { checkReport } from "./report.mjs";

// The picture as one text. Its pixels stay in the page: to hand them over one by one takes a minute.
const picture = (page) => page.evaluate(() => document.querySelector("canvas").toDataURL());
// The colours at fractions of width and height, out of a copy that is made to be read.
const colours = (page, places) => page.evaluate((at) => {
  const c = document.querySelector("canvas"), copy = document.createElement("canvas");
  copy.width = c.width, copy.height = c.height;
  const g = copy.getContext("2d", { willReadFrequently: true });
  g.drawImage(c, 0, 0);
  return at.map(([x, y]) => g.getImageData(Math.round(x), Math.round(y), 1, 1).data.join());
}, places);
const size = (page) => page.evaluate(() => [document.querySelector("canvas").width, document.querySelector("canvas").height]);
const seek = (page, f) => page.evaluate((k) => window.carom.seek(k), f);

async function checkPage(page) {
  const data = await page.evaluate(() => window.carom.data), last = data.frames.length - 1;
  assert.equal(await page.locator("h1").innerText(), data.title);
  assert.equal(await page.locator("tbody tr").count(), data.vehicles.length, "every vehicle has a row");
  assert.ok((await page.locator("#verdict").innerText()).startsWith(data.done ? "All at their goals" : `${data.arrived} of`));
  await seek(page, 0);
  const first = await picture(page);
  await seek(page, last);
  assert.equal(await page.evaluate(() => window.carom.at()), last);
  assert.notEqual(await picture(page), first, "time moves the picture");
  if (data.done)
    for (let i = 0; i < data.vehicles.length; i++) {
      const [x, y] = await page.evaluate(([k, f]) => window.carom.place(k, f), [i, last]);
      assert.ok(Math.hypot(x - data.vehicles[i].goal[0], y - data.vehicles[i].goal[1]) < 0.25, `vehicle ${i} is at its goal`);
    }
  // The colour in the middle of a vehicle is not that of the ground.
  const [width, height] = await size(page), [x, y] = await page.evaluate((f) => window.carom.place(0, f), last);
  const w = data.high[0] - data.low[0], h = data.high[1] - data.low[1], m = 0.03 * Math.max(w, h);
  const scale = Math.min(width / (w + 2 * m), height / (h + 2 * m));
  const middle = [width / 2 + scale * (x - 0.5 * (data.low[0] + data.high[0])), height / 2 - scale * (y - 0.5 * (data.low[1] + data.high[1]))];
  const [vehicle, ground] = await colours(page, [middle, [2, 2]]);
  assert.notEqual(vehicle, ground, "a vehicle is drawn where it is");
  await page.locator("tbody tr >> nth=1").click();
  assert.equal(await page.evaluate(() => window.carom.chosen()), 1);
  await page.locator("canvas").focus();
  await seek(page, 0);
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.evaluate(() => window.carom.at()), 1);
  await page.locator("#play").click();
  await page.waitForFunction(() => window.carom.at() > 2);
  await page.locator("#play").click();
  assert.equal(await page.evaluate(() => window.carom.playing()), false);
  await page.locator("#trails").uncheck();
  if (data.segments) assert.ok((await page.locator("#segment").innerText()).includes(`of ${data.segments.length}`));
  await page.locator("#trails").check();
  await seek(page, Math.round(0.45 * last));
}

checkReport("check-navigate.mjs", checkPage);
