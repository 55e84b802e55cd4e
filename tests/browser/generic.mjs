// Checks that hold for every replay page, whoever wrote it.
import assert from "node:assert/strict";
import { distinctColors } from "./pixels.mjs";
import { settle, state } from "./browser.mjs";

const enoughColors = 40;
const sceneOnly = ".tools, .corner, #labels { visibility: hidden !important; }";

async function checkSeeking(page) {
  const { start, end, frames } = await state(page);
  if (frames < 2) return;
  for (const share of [1, 0, 0.37]) {
    const time = start + share * (end - start);
    await page.evaluate((t) => window.carom.seek(t), time);
    assert.ok(Math.abs((await state(page)).time - time) <= 1e-9 * Math.abs(end), "seek goes to the time");
  }
}

async function checkPoses(page) {
  const bad = await page.evaluate(() => {
    const { bodies } = window.carom.state();
    for (let i = 0; i < bodies; i++) {
      const pose = window.carom.bodyPose(i);
      if (!pose) return window.carom.state().frames > 0 ? `body ${i} has no pose` : "";
      if (![...pose.position, ...pose.rotation].every(Number.isFinite)) return `body ${i} has a pose that is not a number`;
      if (Math.abs(Math.hypot(...pose.rotation) - 1) > 1e-6) return `body ${i} has a quaternion that is not a unit`;
    }
    return "";
  });
  assert.equal(bad, "");
}

async function checkPlots(page) {
  const columns = await page.evaluate(() => JSON.parse(document.getElementById("carom-replay").textContent).audit ?? []);
  const { plots, frames } = await state(page);
  const groups = new Set(columns.map((c) => c.group)).size;
  // Groups that are zero throughout are left out; the page knows best which.
  assert.ok(frames > 0 ? plots >= 1 && plots <= groups : plots === 0, `${plots} plots for ${groups} groups of the audit`);
}

/** Some channels are shown at once, never very many, and every plot of them says where it is now. */
async function checkChannels(page) {
  const channels = await page.evaluate(() => JSON.parse(document.getElementById("carom-replay").textContent).channels);
  const { channelPlots, frames } = await state(page);
  if (!channels || frames === 0) return assert.equal(channelPlots.length, 0);
  assert.ok(channelPlots.length >= 1 && channelPlots.length <= 4, `${channelPlots.length} plots of channels`);
  const values = await page.locator("#channels .plot-value").allTextContents();
  assert.ok(values.length >= channelPlots.length && values.every((v) => v !== ""), "values at the present time");
}

/** A plan shows its history and table, and some force at some time. */
async function checkPlan(page) {
  const plan = await page.evaluate(() => JSON.parse(document.getElementById("carom-replay").textContent).plan);
  if (!plan) return;
  assert.equal(await page.locator(".plan-table tbody tr").count(), plan.table.length);
  if (plan.history.iteration.length > 1) assert.ok((await state(page)).charts >= 2, "cost and infeasibility");
  const most = await page.evaluate((times) => Math.max(...times.map((t) => { window.carom.seek(t); return window.carom.arrows().length; })), plan.time);
  assert.ok(most > 0 || plan.force.concat(plan.torque).every((v) => v === 0), "arrows are drawn");
}

/** The picture without what lies over it, which must not pass for a scene. */
export async function checkCanvas(page) {
  await settle(page);
  const picture = await page.locator("#canvas").screenshot({ style: sceneOnly });
  const colors = distinctColors(picture);
  assert.ok(colors > enoughColors, `the canvas shows ${colors} colours only`);
  return picture;
}

export async function checkPage(page, troubles) {
  const now = await state(page);
  assert.equal(now.error, null);
  assert.equal(now.webgl, true, "WebGL works");
  assert.notEqual(await page.title(), "");
  await checkSeeking(page);
  await checkPoses(page);
  await checkPlots(page);
  await checkChannels(page);
  await checkPlan(page);
  await checkCanvas(page);
  assert.deepEqual(troubles, []);
}
