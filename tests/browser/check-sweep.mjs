// node check-sweep.mjs PAGE.html [--screenshot OUT.png]
// Opens the page of a sweep as a reader would, light and dark: nothing goes wrong, pictures agree with the data, and a
// click on the map tells the case and the command that makes it. The exit code is 0 if all holds, else 1.
import assert from "node:assert/strict";
import { checkReport } from "./report.mjs";

const count = (page, selector) => page.locator(selector).count();
const text = (page, selector) => page.locator(selector).innerText();

/** The map coloured by an outcome: a cell for each case, as dark as its value; then by class again. */
async function checkTints(page, data) {
  if (await count(page, "#tint") === 0) return;
  const names = await page.locator("#tint option").allInnerTexts();
  assert.equal(await page.locator("#tint").inputValue() === "-1", !data.plan, "plans show their cost first");
  for (const name of names.slice(1)) {
    await page.locator("#tint").selectOption({ label: name });
    const filled = await page.locator("#map .tint").evaluateAll((cells) => cells.map((c) => c.getAttribute("fill")));
    const known = data.cases.outcomes[data.outcomes.indexOf(name)].filter((v) => typeof v === "number");
    if (data.axes.length === 2) assert.equal(filled.filter((f) => f !== "none").length, known.length, name);
    assert.ok(new Set(filled).size > 1, `${name} has several colours`);
    assert.equal(await count(page, "#tints"), 1);
  }
  await page.locator("#tint").selectOption("-1");
}

async function checkPictures(page) {
  const data = await page.evaluate(() => window.carom.data);
  assert.equal(await text(page, "h1"), data.title);
  const seen = data.classes.filter((c) => c.count > 0).length;
  assert.equal(data.classes.reduce((sum, c) => sum + c.count, 0), data.run, "classes are of all cases that were run");
  for (const c of data.classes) assert.ok(c.low <= c.count / data.run + 1e-12 && c.count / data.run <= c.high + 1e-12);
  assert.ok(await count(page, "section") >= 2);
  assert.ok((await text(page, ".key >> nth=0")).length > 0, "there is a legend");
  assert.equal(await count(page, "svg:not([aria-label])"), 0, "every picture has a label");
  await checkTints(page, data);
  if (data.axes.length === 2 && data.design === "grid") assert.equal(await count(page, "#map path[class^=class-]"), seen);
  if (data.axes.length > 2) assert.ok(await count(page, "path[class^=line-]") > 0, "there are parallel coordinates");
  return data;
}

/** A click in the middle of the map, then a step by keyboard. */
async function checkMap(page, data) {
  const map = page.locator("#map"), box = await map.boundingBox();
  await map.click({ position: { x: box.width * 0.5, y: box.height * 0.5 } });
  const first = await page.evaluate(() => window.carom.chosen());
  assert.ok(first >= 0, "a click chooses a case");
  const command = await text(page, "#command");
  assert.ok(command.startsWith("carom sweep ") && command.includes(` --case ${first} `), command);
  assert.ok((await text(page, ".panel")).includes(data.classes[data.cases.class[first]].name));
  if (data.design !== "grid" || data.axes.length !== 2) return;
  await map.focus();
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await page.evaluate(() => window.carom.chosen()), first, "arrow keys move");
}

checkReport("check-sweep.mjs", async (page) => {
  const data = await checkPictures(page);
  if (data.axes.length > 1) await checkMap(page, data);
  if (data.plan && await count(page, "#tint")) await page.locator("#tint").selectOption({ index: 1 });
});
