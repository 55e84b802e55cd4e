// The replay page in a real browser, with pages whose motion is known.
import assert from "node:assert/strict";
import { mkdirSync, rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { advance, launch, open, scratch, screenshots, settle, standingClock, state } from "./browser.mjs";
import { checkCanvas, checkPage } from "./generic.mjs";
import { marker, templatePath, writePage } from "./make-page.mjs";
import { brightness, difference } from "./pixels.mjs";
import * as scenes from "./scenes.mjs";

const folder = scratch();
mkdirSync(screenshots, { recursive: true });
let browser;

before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

const shot = (page, name) => page.screenshot({ path: join(screenshots, `${name}.png`) });

/** Writes a scene, opens it, and insists at the end that nothing went wrong on the way. */
async function withPage(scene, options, run) {
  const path = join(folder, `${Math.random().toString(36).slice(2)}.html`);
  const html = await writePage(path, scene);
  const opened = await open(browser, path, options);
  try {
    await run(opened.page, html);
    assert.deepEqual(opened.troubles, []);
  } finally {
    await opened.close();
    rmSync(path);
  }
}

const close = (actual, expected, tolerance, what) =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual} is not ${expected} within ${tolerance}`);

/** Quantisation in position: half a step of the box, and float32 bounds. */
function comparePose(pose, known, tolerance, what) {
  known.position.forEach((v, i) => close(pose.position[i], v, tolerance, `${what} position ${i}`));
  const dot = known.rotation.reduce((sum, v, i) => sum + v * pose.rotation[i], 0);
  const sign = dot < 0 ? -1 : 1;
  known.rotation.forEach((v, i) => close(sign * pose.rotation[i], v, 2.5e-5, `${what} rotation ${i}`));
}

async function comparePoses(page, scene, bodies, frames, tolerance) {
  const moments = frames.map((f) => scene.times[f]);
  // One call for all: between two calls the page would draw.
  const poses = await page.evaluate(
    ([when, list]) => when.map((t) => { window.carom.seek(t); return list.map((b) => window.carom.bodyPose(b)); }),
    [moments, bodies],
  );
  moments.forEach((time, m) => {
    bodies.forEach((body, i) => comparePose(poses[m][i], scene.motion(body, time), tolerance, `body ${body} at ${time}`));
  });
}

test("the template holds the marker once and asks for nothing", async () => {
  const html = await readFile(templatePath, "utf8");
  assert.equal(html.split(marker).length, 2);
  assert.ok(html.length < 800_000, `the template has ${html.length} characters`);
  assert.doesNotMatch(html, /<(script|link|img)[^>]+(src|href)\s*=\s*["']?https?:/i);
  for (const name of ["three.js authors", "Leon Sorokin", "Arjun Barrett"]) assert.ok(html.includes(name), `licence of ${name}`);
});

test("decoded poses are the known motion", async () => {
  const scene = scenes.spinningBox();
  await withPage(scene, {}, async (page) => {
    assert.equal(await page.title(), scene.header.title);
    assert.equal(await page.textContent("#title"), scene.header.title);
    await comparePoses(page, scene, [0], [0, 1, 77, 160, 240], 3e-5);
    const floor = await page.evaluate(() => window.carom.bodyPose("floor"));
    assert.deepEqual(floor, { position: [0, 0, 0], rotation: [1, 0, 0, 0] });
  });
});

test("between frames the motion is interpolated", async () => {
  const scene = scenes.spinningBox();
  await withPage(scene, {}, async (page) => {
    const time = (scene.times[50] + scene.times[51]) / 2;
    const pose = await page.evaluate((t) => { window.carom.seek(t); return window.carom.bodyPose("box"); }, time);
    comparePose(pose, scene.motion(0, time), 1e-4, "half-way");
    assert.ok(Math.abs(Math.hypot(...pose.rotation) - 1) < 1e-9);
  });
});

test("speed, spin and mass appear in the panel", async () => {
  const scene = scenes.spinningBox();
  await withPage(scene, { hash: "#t=1&paused&pick=box" }, async (page) => {
    const fields = await page.locator("#body dl.state dd").allTextContents();
    const read = (text) => Number.parseFloat(text.replace("−", "-"));
    const known = scene.motion(0, 1);
    assert.equal(fields[0], "1.5 kg");
    close(read(fields[1]), known.position[0], 1e-3, "x");
    close(read(fields[3]), known.speed, 1e-3, "speed");
    close(read(fields[4]), known.spin, 1e-3, "spin");
    assert.equal(await page.locator("#body .uplot").count(), 4);
  });
});

test("slider, keys, plots and API agree on the time", async () => {
  const scene = scenes.spinningBox();
  await withPage(scene, {}, async (page) => {
    await page.locator("#slider").fill("2500");
    close((await state(page)).time, 1, 1e-9, "slider");
    await page.locator("#slider").blur();
    await page.keyboard.press("ArrowRight");
    close((await state(page)).time, scene.times[61], 1e-9, "right");
    await page.keyboard.press("Shift+ArrowLeft");
    close((await state(page)).time, scene.times[51], 1e-9, "shift left");
    await page.keyboard.press("End");
    close((await state(page)).time, 4, 1e-9, "end");
    await page.keyboard.press("Home");
    close((await state(page)).time, 0, 1e-9, "home");
    await clickPlot(page, 0.75);
    assert.equal(await page.textContent("#clock"), "t = " + (await state(page)).time.toFixed(3) + " s");
    close(Number(await page.inputValue("#slider")), 7500, 60, "the slider follows the plot");
    await page.evaluate(() => window.carom.seek(0.5));
    await checkMarkers(page, 0.125);
  });
});

async function clickPlot(page, share) {
  const over = page.locator("#audit .u-over").first();
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  await page.mouse.move(box.x + 0.2 * box.width, box.y + box.height / 2);
  await page.mouse.down();
  close((await state(page)).time, 0.8, 0.03, "press in a plot");
  await page.mouse.move(box.x + share * box.width, box.y + box.height / 2, { steps: 3 });
  await page.mouse.up();
  close((await state(page)).time, 4 * share, 0.03, "drag in a plot");
}

async function checkMarkers(page, share) {
  const shares = await page.evaluate(() =>
    [...document.querySelectorAll(".plot-now")].map((m) => {
      const over = m.parentElement.getBoundingClientRect();
      return (m.getBoundingClientRect().left - over.left) / over.width;
    }),
  );
  assert.ok(shares.length >= 5);
  for (const s of shares) close(s, share, 0.01, "marker of a plot");
}

test("play advances the time, pause stops it, the end stops it", async () => {
  await withPage(scenes.spinningBox(), { init: standingClock }, async (page) => {
    assert.equal((await state(page)).playing, false);
    await page.keyboard.press("Space");
    await advance(page, 0.2);
    close((await state(page)).time, 0.2, 1e-9, "played in real time");
    await advance(page, 60);
    close((await state(page)).time, 0.45, 1e-9, "a tab that slept does not leap ahead");
    await page.click("#play");
    await advance(page, 0.2);
    assert.equal((await state(page)).playing, false);
    close((await state(page)).time, 0.45, 1e-9, "paused");
    await page.evaluate(() => { window.carom.seek(3.95); window.carom.play(); });
    await advance(page, 0.04);
    assert.equal((await state(page)).playing, true);
    await advance(page, 0.04);
    assert.equal((await state(page)).playing, false);
    assert.equal((await state(page)).time, 4);
  });
});

test("it plays by itself unless asked not to, at a speed that suits the length", async () => {
  await withPage(scenes.crowd(4, 50, 0.02), { hash: "", init: standingClock }, async (page) => {
    const now = await state(page);
    assert.equal(now.playing, true);
    const seconds = 0.02 / now.speed;
    assert.ok(seconds >= 5 && seconds <= 20, `${seconds} s`);
    assert.match(await page.locator("#speed option:checked").textContent(), /^0\.002× real time$/);
    await page.keyboard.press("+");
    assert.equal((await state(page)).speed, 0.005);
  });
});

test("every shape can be picked with the mouse", async () => {
  await withPage(scenes.mixedShapes(), { hash: "#t=2&paused" }, async (page) => {
    for (const name of ["cube", "ball", "capsule", "top", "dumb-bell"]) {
      await settle(page); // the panel of the last one may have changed the size of the view
      const at = await page.evaluate((n) => window.carom.project(n), name);
      await page.mouse.click(at.x, at.y);
      assert.equal((await state(page)).picked, name);
      assert.equal(await page.textContent("#body .name"), name);
      assert.equal(await page.textContent(".label.picked"), name);
    }
    await shot(page, "picked");
    await page.keyboard.press("Escape");
    assert.equal((await state(page)).picked, null);
    assert.equal(await page.isVisible("#body"), false);
  });
});

test("picking changes the picture, and dragging turns the view without picking", async () => {
  await withPage(scenes.mixedShapes(), { hash: "#t=2&paused", width: 920, height: 480 }, async (page) => {
    const plain = await checkCanvas(page);
    await page.evaluate(() => window.carom.pick("cube"));
    const marked = await checkCanvas(page);
    assert.ok(difference(plain, marked) > 0.002, "the highlight is visible");
    await page.evaluate(() => window.carom.pick(null));
    await page.mouse.move(60, 380);
    await page.mouse.down();
    await page.mouse.move(180, 360, { steps: 2 });
    await page.mouse.up();
    assert.equal((await state(page)).picked, null);
    assert.ok(difference(plain, await checkCanvas(page)) > 0.05, "the view turned");
  });
});

test("labels, trails, search and help", async () => {
  await withPage(scenes.mixedShapes(), { hash: "#t=8&paused" }, async (page) => {
    await page.keyboard.press("l");
    assert.equal(await page.locator(".label:visible").count(), 6);
    const without = await checkCanvas(page);
    await page.keyboard.press("t");
    assert.equal((await state(page)).trails, "all");
    assert.ok(difference(without, await checkCanvas(page)) > 0.003, "trails are visible");
    await page.fill("#find", "dumb");
    await page.press("#find", "Enter");
    assert.equal((await state(page)).picked, "dumb-bell");
    await page.keyboard.press("?");
    assert.equal(await page.isVisible("#help"), true);
    await page.keyboard.press("Escape");
    assert.equal(await page.isVisible("#help"), false);
    assert.equal((await state(page)).picked, "dumb-bell");
    await shot(page, "mixed");
  });
});

test("contacts are drawn when they happen, and ticked above the slider", async () => {
  await withPage(scenes.bouncingBall(), { hash: "#t=0.4&paused" }, async (page) => {
    const visible = async (time) => {
      await page.evaluate((t) => window.carom.seek(t), time);
      await settle(page);
      return (await state(page)).contactsVisible;
    };
    assert.equal((await state(page)).plots, 5, "a plot of nothing but zeros is left out");
    assert.equal(await visible(0.4), 0);
    assert.equal(await visible(0.52), 1);
    const lit = await checkCanvas(page);
    await shot(page, "contact");
    await page.keyboard.press("x");
    await settle(page);
    assert.equal((await state(page)).contactsVisible, 0);
    assert.ok(difference(lit, await checkCanvas(page)) > 0.0005, "the arrow is visible");
    await page.click("#contacts");
    assert.equal(await visible(1.2), 0, "an impact fades");
    assert.equal(await visible(3.5), 1, "a lasting contact is told at its frame");
    const ticks = await page.evaluate(() => {
      const canvas = document.getElementById("hits");
      const row = canvas.getContext("2d").getImageData(0, 1, canvas.width, 1).data;
      return row.filter((_, i) => i % 4 === 3 && row[i] > 0).length;
    });
    assert.equal(ticks, 3);
  });
});

test("walls of revolution are drawn, and one sees through them", async () => {
  const plain = scenes.bouncingBall();
  const walled = scenes.bouncingBall();
  walled.header.walls = [{ body: -1, position: [0, 0, 0], rotation: [1, 0, 0, 0], profile: [0.3, 0, 0.6, 0.5, 0.6, 1] }];
  let without;
  await withPage(plain, { hash: "#t=1&paused&contacts=off" }, async (page) => {
    without = await checkCanvas(page);
  });
  await withPage(walled, { hash: "#t=1&paused&contacts=off" }, async (page) => {
    const changed = difference(without, await checkCanvas(page));
    assert.ok(changed > 0.01 && changed < 0.8, `the wall changes the picture (${changed})`);
    await shot(page, "walls");
  });
});

const readoutsOf = (page, title) =>
  page.evaluate((wanted) => {
    const plot = [...document.querySelectorAll("#channels .plot")].find((p) => p.querySelector(".plot-title").firstChild.textContent === wanted);
    return [...plot.querySelectorAll(".plot-value")].map((v) => v.textContent);
  }, title);

test("channels: sensors and the places of joints first, the rest on demand", async () => {
  const scene = scenes.sensed();
  await withPage(scene, { hash: "#t=1.25&paused" }, async (page) => {
    const now = await state(page);
    assert.equal(now.channels, 49);
    assert.deepEqual(now.channelPlots, ["grip", "hand pose", "Joint angles", "elbow torque"]);
    assert.equal((await readoutsOf(page, "hand pose"))[1], "0", "round-off is not worth reading");
    assert.equal(await page.locator("#channels .uplot").count(), 4);
    const shown = await readoutsOf(page, "grip");
    shown.forEach((text, c) => close(Number(text.replace("−", "-")), scene.channelValue(c, 1.25), 1e-3, `channel ${c}`));
    await page.evaluate(() => window.carom.seek(0.65));
    assert.equal((await readoutsOf(page, "grip"))[3], "–", "a gap has no value");
    await page.click("#channels summary");
    await page.fill('#channels input[type="search"]', "wrist rad/s");
    assert.equal(await page.locator(".channel-list label").count(), 1);
    await page.press('#channels input[type="search"]', "Enter");
    assert.ok((await state(page)).channelPlots.includes("wrist.left rate"));
    await page.fill('#channels input[type="search"]', "grip");
    await page.locator(".channel-list input").first().uncheck();
    assert.ok(!(await state(page)).channelPlots.includes("grip"));
    await page.fill('#channels input[type="search"]', "no such thing");
    assert.equal(await page.locator(".channel-list label").count(), 0);
    await page.fill('#channels input[type="search"]', "");
    await page.evaluate(() => window.carom.seek(0.5));
    await checkMarkers(page, 0.25);
    await shot(page, "channels");
  });
});

test("a press in a plot of channels seeks, in the dark and on a telephone too", async () => {
  const scene = scenes.sensed();
  scene.header.verdict = Array(12).fill(scene.header.verdict).flat(); // a long table must not make the page itself scroll
  for (const [name, options] of [["dark", { theme: "dark" }], ["narrow", { width: 780, height: 900 }], ["telephone", { width: 400, height: 800 }]]) {
    await withPage(scene, { hash: "#t=0&paused", ...options }, async (page) => {
      const over = page.locator("#channels .u-over").first();
      await over.scrollIntoViewIfNeeded();
      const box = await over.boundingBox();
      await page.mouse.click(box.x + 0.5 * box.width, box.y + box.height / 2);
      close((await state(page)).time, 1, 0.03, "press in a plot");
      const wide = await page.evaluate(() => document.getElementById("side").scrollWidth - document.getElementById("side").clientWidth);
      assert.ok(wide <= 0, `the side scrolls sideways by ${wide} px`);
      const high = await page.evaluate(() => document.scrollingElement.scrollHeight - innerHeight);
      assert.ok(high <= 0, `the page scrolls by ${high} px`);
      await shot(page, `channels-${name}`);
    });
  }
});

test("thousands of channels are found by name, and thinned ones lie where they were", async () => {
  await withPage(scenes.manyChannels(2000), { hash: "#t=2&paused" }, async (page) => {
    assert.deepEqual((await state(page)).channelPlots, [0, 1, 2, 3].map((i) => `sensor ${i} gap`));
    assert.match(await page.textContent("#channels"), /2000 of 20000 channels/);
    close(Number((await readoutsOf(page, "sensor 3 gap"))[0]), 3 + 20, 1, "half of the way");
    await page.click("#channels summary");
    assert.equal(await page.locator(".channel-list label").count(), 80);
    await page.fill('#channels input[type="search"]', "sensor 1999.");
    assert.equal(await page.locator(".channel-list label").count(), 1);
  });
});

test("the theme follows the system and the button", async () => {
  await withPage(scenes.spinningBox(), { theme: "dark" }, async (page) => {
    assert.equal((await state(page)).theme, "dark");
    const dark = await checkCanvas(page);
    await shot(page, "dark");
    await page.click("#theme");
    assert.equal((await state(page)).theme, "light");
    const light = await checkCanvas(page);
    await shot(page, "light");
    assert.ok(brightness(light) > brightness(dark) + 80);
    await page.emulateMedia({ colorScheme: "light" });
    await page.keyboard.press("d");
    assert.equal((await state(page)).theme, "dark");
  });
});

test("verdict rows tell pass from fail", async () => {
  await withPage(scenes.spinningBox(), {}, async (page) => {
    assert.equal(await page.locator(".verdict tr.pass").count(), 3);
    assert.equal(await page.locator(".verdict tr.fail").count(), 1);
    assert.match(await page.textContent("#badge"), /1 of 4 checks fail/);
  });
});

test("every control has a name", async () => {
  await withPage(scenes.spinningBox(), { hash: "#paused&pick=box" }, async (page) => {
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll("button, input, select")]
        .filter((e) => !e.getAttribute("aria-label") && !/\w/.test(e.textContent))
        .map((e) => e.outerHTML),
    );
    assert.deepEqual(nameless, []);
  });
});

test("an inclined half-space is drawn, and the ball lies on it", async () => {
  const scene = scenes.incline();
  const bare = scenes.incline();
  bare.header.bodies.pop();
  let with_, without;
  await withPage(scene, { hash: "#t=0.5&paused" }, async (page) => {
    with_ = await checkCanvas(page);
    await comparePoses(page, scene, [0], [0, 60, 120], 3e-5);
    await shot(page, "incline");
  });
  await withPage(bare, { hash: "#t=0.5&paused" }, async (page) => {
    without = await checkCanvas(page);
  });
  assert.ok(difference(with_, without) > 0.3, "the plane covers much of the view");
});

test("the address may be edited while the page is open", async () => {
  await withPage(scenes.mixedShapes(), {}, async (page) => {
    await page.evaluate(() => { location.hash = "#t=3.25&paused&pick=ball&trails=picked"; });
    await page.waitForFunction(() => window.carom.state().picked === "ball");
    const now = await state(page);
    assert.equal(now.time, 3.25);
    assert.equal(now.trails, "picked");
  });
});

test("double click turns about a body, follow keeps it in place", async () => {
  await withPage(scenes.mixedShapes(), { hash: "#t=2&paused" }, async (page) => {
    const at = await page.evaluate(() => window.carom.project("ball"));
    await page.mouse.dblclick(at.x, at.y);
    await settle(page);
    const centre = await page.evaluate(() => {
      const box = document.getElementById("canvas").getBoundingClientRect();
      return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
    });
    const now = await page.evaluate(() => window.carom.project("ball"));
    close(now.x, centre.x, 1, "x");
    close(now.y, centre.y, 1, "y");
    await page.keyboard.press("c");
    await page.evaluate(() => window.carom.seek(5));
    await settle(page);
    const later = await page.evaluate(() => window.carom.project("ball"));
    close(later.x, centre.x, 1, "x while following");
    close(later.y, centre.y, 1, "y while following");
  });
});

test("800 pixels are wide enough", async () => {
  await withPage(scenes.mixedShapes(), { width: 800, height: 900 }, async (page) => {
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 800, `${wide} pixels`);
    for (const id of ["play", "speed", "theme", "show-help", "frame-all"]) {
      const box = await page.locator(`#${id}`).boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= 800 && box.y + box.height <= 900, id);
    }
    await checkCanvas(page);
    await shot(page, "narrow");
  });
});

test("joints, links and springs are drawn, and a latch is not", async () => {
  await withPage(scenes.jointed(), { hash: "#t=1&paused" }, async (page) => {
    assert.equal(await page.isVisible("#joints"), true);
    assert.equal(await page.isVisible("#forces"), false);
    assert.equal((await state(page)).jointsVisible, 9);
    const drawn = await checkCanvas(page);
    await shot(page, "joints");
    await page.keyboard.press("j");
    await settle(page);
    assert.equal((await state(page)).jointsVisible, 0);
    const bare = await checkCanvas(page);
    assert.ok(difference(drawn, bare) > 0.004, `joints change the picture (${difference(drawn, bare)})`);
    await page.click("#joints");
    await settle(page);
    assert.equal(difference(drawn, await checkCanvas(page)), 0);
    await page.evaluate(() => window.carom.seek(1.5));
    assert.ok(difference(drawn, await checkCanvas(page)) > 0.002, "they move with their bodies");
  });
  await withPage(scenes.spinningBox(), {}, async (page) => {
    for (const id of ["joints", "forces", "planes", "plan"]) assert.equal(await page.isVisible(`#${id}`), false, id);
  });
});

const length = (arrow) => Math.hypot(...arrow.to.map((v, i) => v - arrow.from[i]));

test("planned forces are arrows of the right direction and length", async () => {
  const scene = scenes.planned();
  await withPage(scene, { hash: "#t=0.25&paused" }, async (page) => {
    const at = (time) => page.evaluate((t) => { window.carom.seek(t); return window.carom.arrows(); }, time);
    const [pull, twist, jet] = await at(0.25);
    assert.deepEqual([pull.actuator, pull.kind, twist.kind, jet.actuator], ["pull", "force", "torque", "jet"]);
    const pose = scene.motion(0, 0.25);
    pose.position.forEach((v, i) => close(pull.from[i], v, 1e-3, "where the pull acts"));
    close((pull.to[2] - pull.from[2]) / length(pull), 1, 1e-9, "the pull is along z");
    // Half-way between two nodes the page blends quaternions; that is the same turn.
    const angle = 0.8 * 0.25;
    close(jet.from[0], pose.position[0] + 0.3 * Math.cos(angle), 1e-3, "the jet sits on the box");
    close((jet.to[0] - jet.from[0]) / length(jet), -Math.sin(angle), 1e-3, "the jet turns with the box");
    close(length(jet) / length(pull), 0.5, 1e-6, "lengths are those of the forces");
    const later = await at(1.25);
    assert.deepEqual(later.map((a) => [a.actuator, a.kind]), [["pull", "force"], ["pull", "torque"]]);
    close(length(later[0]) / length(pull), 0.25, 1e-6, "a quarter of the first");
    const last = await at(2);
    assert.deepEqual(last.map((a) => a.actuator), ["jet"], "forces that are as good as none are left out");
  });
});

test("forces and planes have buttons, keys and a legend", async () => {
  await withPage(scenes.planned(), { hash: "#t=0.75&paused" }, async (page) => {
    assert.match(await page.textContent("#arrows"), /force up to 4 N.*torque up to 0\.5 N m/);
    const withArrows = await checkCanvas(page);
    await page.keyboard.press("a");
    await settle(page);
    assert.deepEqual((await state(page)).forcesVisible, [0, 0]);
    assert.equal(await page.isVisible("#arrows"), false);
    const without = await checkCanvas(page);
    assert.ok(difference(withArrows, without) > 0.001, "arrows are visible");
    assert.equal((await state(page)).planesVisible, 0);
    await page.click("#planes");
    await settle(page);
    assert.equal((await state(page)).planesVisible, 2);
    assert.ok(difference(without, await checkCanvas(page)) > 0.005, "planes are visible");
    await shot(page, "planned");
    const visible = async (t) => {
      await page.evaluate((time) => window.carom.seek(time), t);
      await settle(page);
      return (await state(page)).planesVisible;
    };
    assert.equal(await visible(0.25), 0);
    assert.equal(await visible(1.6), 1, "a plane of a node holds near it");
    assert.equal(await visible(2), 0);
  });
});

test("a plan tells how it came about", async () => {
  await withPage(scenes.planned(), { height: 1400 }, async (page) => {
    const rows = await page.locator(".plan-table tbody tr").allInnerTexts();
    assert.deepEqual(rows.map((r) => r.split("\t").map((c) => c.trim())), [
      ["Cost (effort)", "1000", "0.5", "÷ 2000"],
      ["Duration\u2009s", "2", "2", ""],
      ["Smallest gap\u2009m", "–", "0", ""],
    ]);
    const titles = await page.locator("#plan .plot-title").allTextContents();
    assert.deepEqual(titles, ["Cost", "Infeasibility", "Planned force N", "Planned torque N m"]);
    assert.equal(await page.locator("#plan .uplot").count(), 4);
    assert.equal((await state(page)).charts, 4);
    assert.match(await page.locator("#plan figcaption").first().textContent(), /at the end 0\.5/);
    await page.evaluate(() => window.carom.seek(0.75));
    assert.match(await page.locator("#plan figcaption").nth(2).textContent(), /pull 2.*jet 1/);
    await shot(page, "plan-history");
  });
});

test("torques in joints have a sign, and joints their forces", async () => {
  await withPage(scenes.held(), { height: 1600 }, async (page) => {
    const titles = await page.locator("#plan .plot-title").allTextContents();
    assert.deepEqual(titles, ["Cost", "Infeasibility", "Planned torque N m", "Force in joints N"]);
    const told = async (t, n) => {
      await page.evaluate((time) => window.carom.seek(time), t);
      return page.locator("#plan figcaption").nth(n).textContent();
    };
    assert.match(await told(0.25, 2), /knee\s*−0\.5/, "positive about the larger component");
    assert.match(await told(0.75, 2), /knee\s*0\.25/);
    assert.match(await told(2, 3), /foot\s*5/);
    assert.doesNotMatch(await told(2, 3), /idle/, "joints without force are left out");
  });
});

test("stick figures show all bodies at several instants", async () => {
  await withPage(scenes.planned(), { hash: "#t=1&paused&forces=off" }, async (page) => {
    assert.equal(await page.isVisible("#ghosts"), true);
    const without = await checkCanvas(page);
    await page.click("#ghosts");
    await settle(page);
    const now = await state(page);
    assert.equal(now.ghosts, 9);
    assert.equal(now.ghostsVisible, 9, "one moving body, nine times; the fixed one stays as it is");
    const nine = await checkCanvas(page);
    assert.ok(difference(without, nine) > 0.005, "they are visible");
    await shot(page, "ghosts");
    await page.evaluate(() => window.carom.seek(0));
    await page.keyboard.press("g");
    assert.equal((await state(page)).ghosts, 0);
    await page.evaluate(() => { location.hash = "#t=1&paused&ghosts=3"; });
    await settle(page);
    assert.equal((await state(page)).ghostsVisible, 3);
    assert.ok(difference(nine, await checkCanvas(page)) > 0.001, "three are fewer");
    await page.keyboard.press("d");
    await settle(page);
    assert.equal((await state(page)).ghostsVisible, 3, "another theme keeps them");
    await page.evaluate(() => { location.hash = "#ghosts=off"; });
    await settle(page);
    assert.equal((await state(page)).ghosts, 0);
  });
});

test("a telephone is wide enough", async () => {
  for (const scene of [scenes.planned(), scenes.bouncingBall()]) {
    await withPage(scene, { width: 390, height: 844 }, async (page) => {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 390, `${wide} pixels`);
      const spots = await page.evaluate(() =>
        [...document.querySelectorAll("h1, .tools button, .bar button, .transport button, #clock, #slider, #speed, #find")]
          .filter((e) => e.offsetParent !== null)
          .map((e) => ({ id: e.id, ...e.getBoundingClientRect().toJSON() })),
      );
      for (const s of spots) assert.ok(s.left >= 0 && s.right <= 390 && s.top >= 0 && s.bottom <= 844, `${s.id} is outside`);
      const across = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
      spots.forEach((a, i) => spots.slice(i + 1).forEach((b) => assert.ok(!across(a, b), `${a.id} and ${b.id} overlap`)));
      await checkCanvas(page);
      await shot(page, `telephone-${scene.header.plan ? "plan" : "ball"}`);
    });
  }
});

test("500 bodies and 300 frames: small, right, and alive", async () => {
  const scene = scenes.crowd(500, 300, 3);
  await withPage(scene, { hash: "#t=0.8&paused" }, async (page, html) => {
    assert.ok(html.length < 3_000_000, `the page has ${html.length} bytes`);
    await comparePoses(page, scene, [0, 123, 499], [0, 150, 299], 2e-4);
    await checkPickingFromAbove(page);
    await page.evaluate(() => { window.carom.seek(0.8); window.carom.pick("body 499"); });
    await page.keyboard.press("1");
    await checkCanvas(page);
    await shot(page, "500-bodies");
  });
});

/** At the start the bodies of the uppermost layer hide one another least. */
async function checkPickingFromAbove(page) {
  await page.evaluate(() => window.carom.seek(0));
  await page.keyboard.press("4");
  for (const name of ["body 433", "body 451", "body 460", "body 498"]) {
    await settle(page);
    const at = await page.evaluate((n) => window.carom.project(n), name);
    await page.mouse.click(at.x, at.y);
    assert.equal((await state(page)).picked, name);
  }
}

test("10 000 bodies by instancing", async () => {
  const scene = scenes.crowd(10000, 20, 2);
  await withPage(scene, { hash: "#t=0.6&paused", width: 920, height: 480 }, async (page) => {
    await comparePoses(page, scene, [0, 9999], [0, 19], 2e-4);
    const at = await page.evaluate(() => { window.carom.seek(0.6); return window.carom.project("body 9999"); });
    await checkCanvas(page);
    await page.mouse.click(at.x, at.y);
    assert.notEqual((await state(page)).picked, null);
    await shot(page, "10000-bodies");
  });
});

test("no frames, one frame, nothing that moves", async () => {
  await withPage(scenes.noFrames(), { hash: "" }, async (page) => {
    assert.equal((await state(page)).frames, 0);
    assert.equal(await page.evaluate(() => window.carom.bodyPose("box")), null);
    assert.match(await page.textContent("#about"), /recorded no frames/);
    for (const key of ["Space", "ArrowRight", "End", "n", "t", "t", "f"]) await page.keyboard.press(key);
    await settle(page);
  });
  const one = scenes.oneFrame();
  await withPage(one, { hash: "" }, async (page) => {
    await comparePoses(page, one, [0], [0], 1e-6);
    assert.equal((await state(page)).playing, false);
    await checkCanvas(page);
  });
  await withPage(scenes.nothingMoves(), {}, async (page) => {
    const pose = await page.evaluate(() => window.carom.bodyPose(0));
    comparePose(pose, scenes.nothingMoves().header.bodies[0].pose, 1e-12, "slab");
    await checkCanvas(page);
  });
});

function withoutWebgl() {
  const real = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
    return /webgl/.test(kind) ? null : real.call(this, kind, ...rest);
  };
}

test("without WebGL a message stands in, and the rest works", async () => {
  await withPage(scenes.spinningBox(), { init: withoutWebgl }, async (page) => {
    assert.equal((await state(page)).webgl, false);
    assert.equal(await page.isVisible("#no-webgl"), true);
    assert.equal(await page.locator("#audit .uplot").count(), 5);
    assert.equal(await page.locator(".verdict tr").count(), 4);
    await clickPlot(page, 0.5);
    await page.evaluate(() => window.carom.pick("box"));
    assert.equal(await page.locator("#body .uplot").count(), 4);
    await shot(page, "without-webgl");
  });
});

async function damaged(name, change, expected) {
  const path = join(folder, `damaged-${name}.html`);
  const html = await writePage(path, scenes.spinningBox());
  await writeFile(path, change(html));
  const { page, troubles, close: done } = await open(browser, path);
  assert.match(await page.textContent("#failure-text"), expected, name);
  assert.equal(await page.isVisible("#failure"), true);
  assert.equal(await page.isVisible("#app"), false);
  assert.match((await state(page)).error, expected);
  assert.deepEqual(troubles, []);
  await done();
}

/** Changes one character in the middle of the data, which stays valid base64. */
function flip(html) {
  const start = html.indexOf('<script id="carom-data"');
  const at = start + Math.floor((html.indexOf("</script>", start) - start) / 2);
  return html.slice(0, at) + (html[at] === "A" ? "B" : "A") + html.slice(at + 1);
}

test("damaged data give a message, not a blank page", async () => {
  const data = /(<script id="carom-data" type="text\/plain">)([^<]*)/;
  await damaged("base64", (h) => h.replace(data, "$1!!!!"), /base64/);
  await damaged("short", (h) => h.replace(data, (_, a, b) => a + b.slice(0, 400)), /damaged/);
  await damaged("empty", (h) => h.replace(data, "$1"), /too short/);
  await damaged("flipped", flip, /damaged/);
  await damaged("json", (h) => h.replace('{"format"', '{format"'), /not JSON/);
  await damaged("version", (h) => h.replace('"version":1', '"version":9'), /version 1/);
  await damaged("frames", (h) => h.replace('"frames":241', '"frames":240'), /bytes/);
  await damaged("missing", (h) => h.replace('id="carom-replay"', 'id="other"'), /no recorded run/);
});

test("a page of the command line tool", { skip: !process.env.CAROM_PAGE }, async () => {
  const { page, troubles, close: done } = await open(browser, process.env.CAROM_PAGE);
  await checkPage(page, troubles);
  await shot(page, "carom-page");
  await done();
});

test("solids are drawn deformed, in the colours of their stress or their own", async () => {
  const scene = scenes.softCube();
  for (const theme of ["light", "dark"]) {
    await withPage(scene, { theme, hash: "#t=0.4&paused" }, async (page) => {
      const now = await state(page);
      assert.equal(now.solids, 1);
      assert.equal(now.stress, true);
      assert.equal(now.bodies, 2);
      assert.match(await page.textContent("#stress-key"), /von Mises stress.*kPa/);
      const stressed = await checkCanvas(page);
      await page.locator("#stress").click();
      assert.equal((await state(page)).stress, false);
      assert.equal(await page.locator("#stress-key").isHidden(), true);
      const own = await checkCanvas(page);
      assert.ok(difference(stressed, own) > 0.005, "the colours change");
      await page.keyboard.press("v");
      assert.ok(difference(stressed, await checkCanvas(page)) < 0.001, "and come back");
      await page.evaluate(() => window.carom.seek(1.2)); // pressed where it was stretched
      assert.ok(difference(stressed, await checkCanvas(page)) > 0.01, "the shape changes");
      await shot(page, `solid-${theme}`);
    });
  }
});

test("solids can be found, picked and followed, and tell their stress", async () => {
  const scene = scenes.softCube();
  await withPage(scene, { hash: "#t=0.4&paused&labels" }, async (page) => {
    await comparePoses(page, scene, [1], [0, 20, 60], 1e-5);
    await page.evaluate(() => window.carom.seek(0.4));
    const at = await page.evaluate(() => window.carom.project("cube"));
    await page.mouse.click(at.x, at.y);
    assert.equal((await state(page)).picked, "cube");
    const fields = await page.locator("#body dl.state dd").allTextContents();
    assert.equal(fields[0], "64 kg");
    const most = 7 * Math.abs(0.3 * Math.sin(1.6));
    close(Number.parseFloat(fields[2].replace("up to ", "")), most, 0.02 * most, "stress in kPa");
    assert.match(fields[2], /kPa$/);
    await page.mouse.move(at.x + 3, at.y);
    assert.match(await page.locator("#labels .tip").textContent(), /^cube: [0-9.]+ k?Pa$/);
    assert.equal(await page.locator("#labels .label:not(.tip)").count(), 2);
    await page.locator("#follow").click();
    assert.equal((await state(page)).follow, true);
    assert.equal((await state(page)).plots, 2);
  });
  await withPage(scene, {}, async (page) => checkPage(page, []));
});

test("a page of 5000 triangles in 200 frames stays below 5 MB", async () => {
  const scene = scenes.softPlate(5000, 200);
  assert.equal(scene.header.solids[0].triangles.length, 3 * 5000);
  await withPage(scene, { hash: "#t=1&paused" }, async (page, html) => {
    assert.ok(html.length < 5e6, `the page has ${html.length} bytes`);
    await checkCanvas(page);
  });
});

test("damaged skins are refused", async () => {
  const damage = [
    (h) => (h.solids[0].triangles[4] = 8),
    (h) => h.solids[0].triangles.pop(),
    (h) => (h.solids[0].body = 2),
    (h) => (h.solids[0].nodes = 1.5),
    (h) => (h.solids[0].radius = "wide"),
  ];
  for (const harm of damage) {
    const scene = scenes.softCube(3);
    const path = join(folder, "skin.html");
    const html = await writePage(path, scene);
    const inside = /(<script id="carom-replay"[^>]*>)(.*?)(<\/script>)/s.exec(html);
    const header = JSON.parse(inside[2]);
    harm(header);
    await writeFile(path, html.replace(inside[0], () => inside[1] + JSON.stringify(header) + inside[3]));
    const opened = await open(browser, path);
    assert.match((await state(opened.page)).error, /damaged/);
    await opened.close();
    rmSync(path);
  }
});
