// What the checks of report pages (sweeps, designs) share: open one light and dark, check it, take its picture.
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { launch, open, settle } from "./browser.mjs";

async function checkThemes(argv, name, check) {
  const path = argv[0], at = argv.indexOf("--screenshot");
  if (!path) throw new Error(`usage: ${name} PAGE.html [--screenshot OUT.png]`);
  const browser = await launch();
  try {
    for (const theme of ["light", "dark"]) {
      const { page, troubles, close } = await open(browser, resolve(path), { hash: "", theme, width: 1120, height: 900 });
      await check(page);
      await settle(page);
      if (at >= 0) {
        const shot = argv[at + 1].replace(/\.png$/, `-${theme}.png`);
        await mkdir(dirname(resolve(shot)), { recursive: true });
        await page.screenshot({ path: shot, fullPage: true });
      }
      assert.deepEqual(troubles, []);
      await close();
    }
    console.log(`${path}: works`);
  } finally {
    await browser.close();
  }
}

/** Runs `check` on the page that the command line names; the exit code is 0 if all holds, else 1. */
export function checkReport(name, check) {
  checkThemes(process.argv.slice(2), name, check).catch((error) => {
    console.error(`${name}: ${error.message}`);
    process.exit(1);
  });
}
