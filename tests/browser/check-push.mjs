// node check-push.mjs PAGE.html [--screenshot OUT.png]
// Opens a page of pushes as a reader would, light and dark: nothing goes wrong, every push has a row, its contacts have cones and
// lines in the table, the slider moves the part, and forces that cancel are drawn where there are some.
import assert from "node:assert/strict";
import { checkReport } from "./report.mjs";

const count = (page, selector) => page.locator(selector).count();
const text = (page, selector) => page.locator(selector).innerText();

async function checkPage(page) {
  const data = await page.evaluate(() => window.carom.data), n = data.pushes.length;
  assert.equal(await text(page, "h1"), data.title);
  assert.equal(await count(page, "svg:not([aria-label])"), 0, "every picture has a label");
  assert.equal(await count(page, "section >> nth=0 >> tr:has(button)"), n, "every push has a row");
  for (let i = 0; i < n; i++) {
    await page.locator(`section >> nth=0 >> tr:has(button) >> nth=${i} >> button`).click();
    assert.equal(await page.evaluate(() => window.carom.chosen()), i);
    const push = data.pushes[i], last = push.steps.length - 1;
    await page.evaluate((k) => window.carom.seek(k), last);
    assert.equal(await page.evaluate(() => window.carom.at()), last);
    const touching = push.steps[last].contacts.length;
    assert.equal(await count(page, "section >> nth=1 >> table tr:has(i.swatch)"), touching, "every contact has a line");
    assert.equal((await text(page, "main")).includes("cancel out"), push.certificate !== null);
  }
  const before = await page.locator("svg.plan").innerHTML();
  await page.evaluate(() => window.carom.seek(0));
  assert.notEqual(await page.locator("svg.plan").innerHTML(), before, "time moves the picture");
  const seen = await page.locator("svg.cone").innerHTML();
  await page.locator("svg.cone").focus();
  await page.keyboard.press("ArrowLeft");
  assert.notEqual(await page.locator("svg.cone").innerHTML(), seen, "the cones turn");
  await page.evaluate((k) => { window.carom.choose(k); }, data.chosen);
}

checkReport("check-push.mjs", checkPage);
