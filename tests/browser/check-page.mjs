// node check-page.mjs PAGE.html [--screenshot OUT.png] [--hash OPTIONS]
// Opens a page as a reader would; the exit code is 0 if it works, else 1.
import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { launch, open, settle } from "./browser.mjs";
import { checkPage } from "./generic.mjs";

function option(argv, name) {
  const at = argv.indexOf(name);
  return at < 0 ? null : argv[at + 1];
}

async function main(argv) {
  const path = argv[0];
  if (!path || path.startsWith("--")) throw new Error("usage: check-page.mjs PAGE.html [--screenshot OUT.png] [--hash OPTIONS]");
  const browser = await launch();
  try {
    const hash = `#${option(argv, "--hash") ?? "paused"}`;
    const { page, troubles } = await open(browser, resolve(path), { hash });
    const screenshot = option(argv, "--screenshot");
    if (screenshot) {
      await mkdir(dirname(resolve(screenshot)), { recursive: true });
      await settle(page);
      await page.screenshot({ path: screenshot });
    }
    await checkPage(page, troubles);
    console.log(`${path}: works`);
  } finally {
    await browser.close();
  }
}

main(process.argv.slice(2)).catch((error) => {
  console.error(`check-page: ${error.message}`);
  process.exit(1);
});
