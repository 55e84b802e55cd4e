// Bundles the replay page into one HTML file. The C library later puts the
// data of a run in the place of the marker comment.
import { build } from "esbuild";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const marker = "<!--CAROM-REPLAY-->";
const bundled = ["three", "uplot", "fflate"];

function outputPath(argv) {
  const at = argv.indexOf("--out");
  if (at < 0) return join(here, "dist", "replay.html");
  if (!argv[at + 1]) throw new Error("--out needs a file name");
  return resolve(argv[at + 1]);
}

// The MIT licence asks that its text travel with every copy.
async function licenceComment() {
  const notes = [];
  for (const name of bundled) {
    const folder = join(here, "node_modules", name);
    const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const text = await readFile(join(folder, "LICENSE"), "utf8");
    notes.push(`${name} ${version}\n\n${text.trim()}`);
  }
  return `/*!\nThis page contains the following libraries.\n\n${notes.join("\n\n---\n\n")}\n*/\n`;
}

async function bundle(entry, loader) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["es2021", "chrome111", "firefox113", "safari16.2"],
    charset: "utf8",
    legalComments: "none", // the banner carries the full texts instead
    logLevel: "warning",
    ...loader,
  });
  return result.outputFiles[0].text;
}

// Replacement functions keep "$" in the code from being read as a pattern.
function insert(template, place, text) {
  if (template.split(place).length !== 2) throw new Error(`template: ${place} must occur once`);
  return template.replace(place, () => text);
}

async function main() {
  const template = await readFile(join(here, "src", "template.html"), "utf8");
  const style = await bundle("style.css", {});
  const script = (await licenceComment()) + (await bundle("main.ts", {}));
  let page = insert(template, "/*STYLE*/", style.trim().replace(/<\/style/gi, "<\\/style"));
  page = insert(page, "/*SCRIPT*/", script.trim().replace(/<\/script/gi, "<\\/script").replace(/<!--/g, "<\\!--"));
  if (page.split(marker).length !== 2) throw new Error(`page: ${marker} must occur once`);
  const out = outputPath(process.argv.slice(2));
  await mkdir(dirname(out), { recursive: true });
  await writeFile(out, page);
  console.log(`${out}: ${(Buffer.byteLength(page) / 1000).toFixed(0)} kB`);
}

main().catch((error) => {
  console.error(`build: ${error.message}`);
  process.exit(1);
});
