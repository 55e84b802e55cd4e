// node check-design.mjs PAGE.html [--screenshot OUT.png]
// Opens the page of a design as a reader would, light and dark: nothing goes wrong, every design is in the picture and in the
// table, and a click tells of it. The exit code is 0 if all holds, else 1.
import assert from "node:assert/strict";
import { checkReport } from "./report.mjs";

const count = (page, selector) => page.locator(selector).count();
const text = (page, selector) => page.locator(selector).innerText();

async function checkPage(page) {
  const data = await page.evaluate(() => window.carom.data), n = data.designs.length;
  assert.equal(await text(page, "h1"), data.title);
  assert.equal(await count(page, "svg:not([aria-label])"), 0, "every picture has a label");
  assert.equal(await count(page, "section >> nth=0 >> .dot"), n, "every design is drawn");
  assert.equal(await count(page, "table tr:has(button)"), n, "and has a row");
  assert.equal(await page.evaluate(() => window.carom.chosen()), data.best);
  const values = data.designs.map((d) => d.value).filter((v) => v !== null);
  assert.equal(data.designs[data.best].value, data.maximize ? Math.max(...values) : Math.min(...values));
  assert.ok((await text(page, ".panel")).includes("the best"));
  await page.locator("table tr:has(button) >> nth=0 >> button").click();
  assert.equal(await page.evaluate(() => window.carom.chosen()), 0);
  assert.ok((await text(page, ".panel")).includes("Design 0"));
  for (const d of data.designs) if (d.replay) assert.ok(d.replay.endsWith(".html"));
}

checkReport("check-design.mjs", checkPage);
