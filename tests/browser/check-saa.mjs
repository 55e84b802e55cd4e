// node check-saa.mjs PAGE.html [--screenshot OUT.png]
// Opens the page of `carom saa -o` as a reader would, light and dark: nothing goes wrong, the decision is in its table, what
// was sampled has its two charts with a mark for every size, and the histogram holds all probability.
import assert from "node:assert/strict";
import { checkReport } from "./report.mjs";

const count = (page, selector) => page.locator(selector).count();
const text = (page, selector) => page.locator(selector).innerText();

async function checkPage(page) {
  const data = await page.evaluate(() => window.carom.data);
  assert.ok((await text(page, "h1")).includes(data.title));
  assert.equal(await count(page, "svg:not([aria-label])"), 0, "every picture has a label");
  assert.equal(await count(page, "section >> nth=1 >> tr"), data.x.length + data.rows.length + data.means.length + 1);
  assert.ok(Number.isFinite(Number(await text(page, "#value"))));
  assert.equal(await count(page, "path.mark"), 4 * data.sizes.length, "a mark for every bound and gap");
  assert.ok(Math.abs(data.bins.reduce((a, b) => a + b, 0) - 1) < 1e-6, "all probability");
  assert.equal(await count(page, "rect.bin"), data.bins.filter(p => p > 0).length);
  assert.ok((await text(page, "#command")).startsWith("carom saa"));
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), "nothing sticks out");
}

checkReport("check-saa.mjs", checkPage);
