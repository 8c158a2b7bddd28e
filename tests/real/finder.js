// Drives the wheel finder in Chromium. finder.js WORK URL PROGRAM
"use strict";
const assert = require("node:assert/strict");
const { execFile } = require("node:child_process");
const fs = require("node:fs");
const { pathToFileURL } = require("node:url");
const { promisify } = require("node:util");
const { chromium } = require("playwright-core");

const [work, served, program] = process.argv.slice(2);
const local = pathToFileURL(`${work}/site/index.html`).href;
const CHOICE = "#distribution=flash-attn&rocm=6.4&torch=2.9&python=3.12&gfx=gfx942&platform=linux_x86_64&libc=glibc+2.35";
const REPORT = {
  version: 1,
  gpus: [],
  build: { gfx: ["gfx942"] },
  overrides: { runtime_gfx: null },
  rocm: [{ folder: "/opt/rocm", version: "7.2.1-43" }],
  hip_version: null,
  python: { version: "3.12", free_threaded: false, platform: "linux_x86_64", libc: "glibc 2.39", torch: "2.9.1+rocm6.4", torch_hip: "6.4.43482" },
};
const step = (text) => console.log(`  - ${text}`);

let browser;
const faults = [];

async function open(address, { width = 1200, height = 900, server, ...more } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, permissions: [], ...more });
  const page = await context.newPage();
  page.on("pageerror", (error) => faults.push(`${address}: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && faults.push(`${address}: ${message.text()}`));
  page.on("request", (request) => {
    const url = request.url();
    const isOwn = url.startsWith("file:") || url.startsWith("data:") || url === address.split("#")[0] || (server && url.startsWith(`${server}/`));
    if (!isOwn) faults.push(`the page asked for ${url}`);
  });
  await page.goto(address);
  return page;
}

const command = (page) => page.locator("#answer .command code").first().textContent();
const counted = (page) => page.locator("#count").textContent();
async function shot(page, name) {
  await page.screenshot({ path: `${work}/shots/${name}.png` });
  const bytes = fs.statSync(`${work}/shots/${name}.png`).size;
  assert.ok(bytes < 150_000, `${name}.png has ${bytes} bytes`);
}
const isNotSideways = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

async function choose() {
  step("choose with the fields, from a folder and from a server");
  for (const address of [local, `${served}/index.html`]) {
    const page = await open(address);
    assert.equal(await counted(page), "3,000 of 3,000 wheels");
    await page.getByLabel("Package", { exact: true }).selectOption("flash-attn");
    await page.getByLabel("ROCm", { exact: true }).selectOption("6.4");
    await page.getByLabel("torch", { exact: true }).selectOption("2.9");
    await page.getByLabel("Python", { exact: true }).selectOption("3.12");
    await page.getByLabel("GPU", { exact: true }).selectOption("gfx942");
    const line = await command(page);
    assert.match(line, /^pip install https:\S+\/flash_attn-2\.8\.3%2Brocm64torch2\.9-cp312-cp312-manylinux_2_28_x86_64\.whl$/);
    const lines = await page.locator("#answer .command code").allTextContents();
    assert.match(lines[1], /^pip install torch==2\.9\.1\+rocm6\.4 https:\S+ --extra-index-url https:\/\/download\.pytorch\.org\/whl\/rocm6\.4$/);
    assert.equal(lines.length, 2);
    assert.match(new URL(page.url()).hash, /^#distribution=flash-attn&rocm=6\.4&torch=2\.9&python=3\.12&gfx=gfx942$/);
    await page.getByLabel("Backend", { exact: true }).selectOption("triton");
    assert.match(await command(page), /torch2\.9triton-py3-none-any\.whl$/);
    assert.equal(await page.locator("#answer .command code").last().textContent(), "export FLASH_ATTENTION_TRITON_AMD_ENABLE=TRUE");
    await page.getByRole("button", { name: "Start over" }).click();
    assert.equal(await counted(page), "3,000 of 3,000 wheels");
    assert.equal(new URL(page.url()).hash, "");
    await page.context().close();
  }
}

async function paste() {
  step("paste what doctor printed");
  const page = await open(local);
  await page.getByText("Or paste what doctor printed").click();
  await page.getByLabel("What rock-matrix doctor --format json printed").fill("not JSON");
  await page.getByRole("button", { name: "Use it" }).click();
  assert.match(await page.getByRole("alert").textContent(), /^This is not the output of .*: it is not JSON\.$/);
  await page.getByLabel("What rock-matrix doctor --format json printed").fill(JSON.stringify(REPORT));
  await page.getByRole("button", { name: "Use it" }).click();
  assert.equal(await page.getByLabel("ROCm", { exact: true }).inputValue(), "6.4");
  assert.equal(await page.getByLabel("torch", { exact: true }).inputValue(), "2.9");
  assert.match(await page.locator("#system").textContent(), /System: linux_x86_64, glibc 2\.39\./);
  assert.equal(await page.evaluate(() => document.activeElement.id), "answer-heading");
  assert.match(await command(page), /rocm64torch2\.9-cp312/);
  await page.getByRole("button", { name: "Forget the system" }).click();
  assert.ok(await page.locator("#system").isHidden());
  await page.context().close();
}

async function copyAndShare() {
  step("copy the line, and share a link");
  const page = await open(`${served}/index.html${CHOICE}`, { permissions: ["clipboard-read", "clipboard-write"] });
  const line = await command(page);
  await page.locator("#answer").getByRole("button", { name: /^Copy the line that installs/ }).first().click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), line);
  assert.equal(await page.locator("#said").textContent(), "Copied the install line.");
  await page.getByRole("button", { name: "Copy link" }).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const other = await open(link);
  assert.equal(await command(other), line);
  assert.equal(await other.getByLabel("GPU", { exact: true }).inputValue(), "gfx942");
  await other.evaluate(() => (location.hash = "rocm=7.2&torch=%3Cscript%3E&python=3.12&gfx=nonsense"));
  assert.equal(await other.getByLabel("ROCm", { exact: true }).inputValue(), "7.2");
  assert.equal(await other.getByLabel("torch", { exact: true }).inputValue(), "", "what cannot be read is not asked");
  await other.context().close();
  // Without the clipboard the line is copied the old way.
  const old = await open(local + CHOICE);
  await old.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await old.locator("#answer").getByRole("button", { name: /^Copy the line/ }).first().click();
  assert.equal(await old.locator("#said").textContent(), "Copied the install line.");
  await old.context().close();
  await page.context().close();
}

async function none() {
  step("no wheel: the nearest and why");
  const page = await open(`${local}#distribution=rmx-vecadd&rocm=7.2&torch=2.9&python=3.12&gfx=gfx1151`);
  assert.equal(await page.locator("#answer-heading").textContent(), "No wheel fits");
  assert.equal(await counted(page), "None of 3,000 wheels");
  const first = page.locator(".near > li").first();
  assert.match(await first.textContent(), /rocm71torch2\.10-cp312.*torch: the wheel is for 2\.10, you have 2\.9; torch's C\+\+ symbols/s);
  assert.ok(!(await page.locator("#answer").textContent()).includes(".yaml"), "no file of ours is named");
  const ask = page.getByRole("link", { name: "ask for the wheel to be built" });
  assert.equal(await ask.getAttribute("href"), "https://github.com/example/rocm-wheels/issues/new/choose");
  await shot(page, "finder-none");
  await first.getByRole("button", { name: /^Choose what / }).click();
  assert.equal(await page.getByLabel("torch", { exact: true }).inputValue(), "2.10");
  assert.match(await command(page), /rocm71torch2\.10-cp312/);
  assert.match(await page.locator("#answer").textContent(), /the wheel is for 7\.1, you have 7\.2; one wheel works with later/);
  await page.context().close();
}

async function looks() {
  step("light, dark, and a phone of 360 pixels");
  const colours = {};
  for (const colorScheme of ["light", "dark"]) {
    const page = await open(local + CHOICE, { colorScheme, height: 1000 });
    colours[colorScheme] = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await shot(page, colorScheme === "light" ? "finder" : "finder-dark");
    await page.context().close();
  }
  assert.notEqual(colours.light, colours.dark);
  for (const hash of ["", CHOICE, "#rocm=7.2&torch=2.9&python=3.8&gfx=gfx1151"]) {
    const page = await open(local + hash, { width: 360, height: 780, isMobile: true, hasTouch: true });
    assert.ok(await isNotSideways(page), `sideways scrolling with ${hash}`);
    if (hash === CHOICE) {
      await page.setViewportSize({ width: 360, height: 1180 });
      await shot(page, "finder-phone");
    }
    for (const button of await page.locator("button:visible").all()) {
      const box = await button.boundingBox();
      const isLink = await button.evaluate((one) => one.classList.contains("plain"));
      assert.ok(isLink || box.height >= 40, "a finger hits the buttons");
    }
    await page.context().close();
  }
  const narrow = await open(local + CHOICE, { width: 320, height: 700 });
  assert.ok(await isNotSideways(narrow), "sideways scrolling at 320 pixels");
  await narrow.context().close();
}

// Every page that is generated, at every width from the smallest phone to a wide screen.
async function widths() {
  step("no page scrolls sideways from 320 to 2,560 pixels");
  const pages = (folder) => fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? pages(`${folder}/${entry.name}`) : `${folder}/${entry.name}`));
  const found = [`${work}/site`, `${work}/index`].flatMap(pages).filter((file) => file.endsWith(".html")).sort();
  const kinds = { finder: /site\/index/, withdrawn: /withdrawn/, empty: /empty/, landing: /\/index\/index\.html$/, folder: /\/simple\/[^/]+\/index\.html$|\/index\/[^/]+\/index\.html$/ };
  for (const [kind, pattern] of Object.entries(kinds)) assert.ok(found.some((file) => pattern.test(file)), `no ${kind} page in ${found}`);
  // Pages of folders and projects are made of one template each: the longest of each depth stands for all.
  const byDepth = new Map();
  for (const file of found) {
    const depth = file.startsWith(`${work}/site`) ? file : file.split("/").length;
    const before = byDepth.get(depth);
    if (!before || fs.statSync(file).size > fs.statSync(before).size) byDepth.set(depth, file);
  }
  const sizes = [...Array(241).keys()].map((at) => 320 + 4 * at).concat([736, 737, 815, 816, 895, 896, 897, 959, 960, 961], [...Array(33).keys()].map((at) => 1280 + 40 * at));
  // A frame is laid out without being painted at each width. Pages of one server can look into each other's.
  const server = "https://pages.example";
  const page = await open("about:blank", { server });
  await page.route(`${server}/**`, (route) => {
    const file = decodeURIComponent(new URL(route.request().url()).pathname);
    const made = { "/": "<!doctype html><body>", "/wide": "<!doctype html><body style='margin: 0; min-width: 600px'>wide" };
    return route.fulfill(made[file] ? { contentType: "text/html", body: made[file] } : { path: work + file });
  });
  await page.goto(server);
  assert.deepEqual(await sideways(page, `${server}/wide`, sizes), sizes.filter((width) => width < 600), "a page of 600 pixels");
  for (const file of byDepth.values()) {
    for (const hash of file === `${work}/site/index.html` ? ["", CHOICE, "#rocm=7.2&torch=2.9&python=3.8&gfx=gfx1151"] : [""]) {
      const address = `${server}${file.slice(work.length)}${hash}`;
      assert.deepEqual(await sideways(page, address, sizes), [], `${file}${hash} scrolls sideways`);
    }
  }
  await page.context().close();
}

// Widths at which a page in a frame scrolls sideways.
function sideways(page, address, sizes) {
  return page.evaluate(async ([address, sizes]) => {
    const frame = document.createElement("iframe");
    frame.style = "border: 0; height: 800px";
    frame.src = address;
    const isLoaded = new Promise((loaded) => (frame.onload = loaded));
    document.body.append(frame);
    await isLoaded;
    const found = sizes.filter((width) => {
      frame.style.width = `${width}px`;
      const { document, innerWidth } = frame.contentWindow;
      if (innerWidth !== width) throw new Error(`a frame of ${width} pixels has ${innerWidth}`);
      return document.documentElement.scrollWidth > innerWidth;
    });
    frame.remove();
    return found;
  }, [address, sizes]);
}

async function keyboard() {
  step("everything with the keyboard alone");
  const page = await open(local);
  const order = [];
  for (let tabs = 0; tabs < 12; tabs++) {
    await page.keyboard.press("Tab");
    const [name, outline] = await page.evaluate(() => {
      const one = document.activeElement;
      return [one.id || one.className || one.textContent.trim(), getComputedStyle(one).outlineStyle];
    });
    assert.equal(outline, "solid", `the focus on ${name} is seen`);
    order.push(name);
  }
  assert.deepEqual(order.slice(0, 10), ["skip", "distribution", "rocm", "torch", "python", "gfx", "backend", "Or paste what doctor printed", "share", "reset"]);
  await page.getByLabel("torch", { exact: true }).focus();
  await page.keyboard.type("2.9");
  assert.equal(await page.getByLabel("torch", { exact: true }).inputValue(), "2.9");
  const before = new URL(page.url()).hash;
  await page.locator(".skip").focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "answer-heading");
  assert.equal(new URL(page.url()).hash, before, "the skip link keeps the choice");
  await page.locator("#more").focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#rows tr").count(), 100);
  assert.ok(await page.evaluate(() => document.querySelector("#rows").children[50].contains(document.activeElement)), "the focus goes to the first new row");
  await page.context().close();
}

async function readers() {
  step("what a screen reader gets");
  const page = await open(local + CHOICE, { width: 360, height: 780 });
  const tree = await page.locator("body").ariaSnapshot();
  for (const line of [
    '- heading "ROCm wheels" [level=1]',
    '- heading "What you have" [level=2]',
    '- combobox "ROCm"',
    '- heading "Install" [level=2]',
    '- table "Wheels that fit"',
  ]) {
    assert.ok(tree.includes(line), `${line} in\n${tree.slice(0, 3000)}`);
  }
  assert.match(tree, /- status: \d+ of 3,000 wheels/);
  assert.match(tree, /- cell "flash-attn 2\.8\.3"/, "a table stays one on a phone");
  assert.match(tree, /- button "Copy the line that installs flash_attn-2\.8\.3\+rocm64torch2\.9-cp312-cp312/);
  const unnamed = await page.evaluate(() => [...document.querySelectorAll("select, textarea, button, a")].filter((one) => {
    const label = one.labels?.[0]?.textContent || one.getAttribute("aria-label") || one.textContent;
    return !label.trim();
  }).length);
  assert.equal(unnamed, 0, "every control has a name");
  assert.equal(await page.locator("#count").getAttribute("aria-live"), "polite");
  const faint = await page.evaluate(contrastFaults);
  assert.deepEqual(faint, [], "text stands out by at least 4.5 to 1 (WCAG 2.2, 1.4.3)");
  await page.context().close();
  const dark = await open(local + CHOICE, { colorScheme: "dark" });
  assert.deepEqual(await dark.evaluate(contrastFaults), []);
  await dark.context().close();
}

// Texts whose contrast with what is behind them is below 4.5 (WCAG 2.2, "contrast ratio").
function contrastFaults() {
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = channels(colour).map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if ((channels(colour)[3] ?? 1) === 1) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const own = (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  const visible = [...document.querySelectorAll("body *")].filter((one) => own(one) && one.checkVisibility() && !one.closest("script, .hidden, option"));
  const ratio = (one) => {
    const [a, b] = [light(getComputedStyle(one).color), light(behind(one))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  return visible.filter((one) => ratio(one) < 4.5).map((one) => `${one.textContent.slice(0, 30)}: ${ratio(one).toFixed(2)}`);
}

// Numbers that look random and are the same in every run.
function numbers(seed) {
  let state = seed;
  return (choices) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return choices[(state >>> 8) % choices.length];
  };
}

async function agrees() {
  const MACHINES = 300;
  step(`the same answer as pick on ${MACHINES} machines, with yanked wheels among what is published`);
  const page = await open(pathToFileURL(`${work}/site/withdrawn.html`).href);
  assert.match(await page.locator("#about").textContent(), /^[\d,]+ wheels of example\/rocm-wheels\. Not shown: \d+ yanked wheels\./);
  const pick = numbers(11);
  const cases = Array.from({ length: MACHINES }, () => ({
    distribution: pick(["flash-attn", "rmx-vecadd"]),
    rocm: pick([null, "6.1", "6.2.4", "6.4.1", "7.0", "7.2", "7.14", "10.1"]),
    torch: pick([null, "2.5.1", "2.6.0", "2.9", "2.10", "2.14.0", "2.15"]),
    python: pick([null, "3.9", "3.10", "3.12", "3.13t", "3.14"]),
    gfx: pick([[], ["gfx942"], ["gfx1100", "gfx1036"], ["gfx906"]]),
    backend: pick([null, null, "triton", "default"]),
    platform: pick([null, "linux_x86_64", "linux_aarch64"]),
    libc: pick([null, "glibc 2.17", "glibc 2.35", "musl 1.2"]),
  }));
  let passedOver = 0;
  const ask = async (texts) => {
    const flags = ["distribution", "rocm", "torch", "python", "backend", "platform"].flatMap((name) => (texts[name] ? [`--${name}`, texts[name]] : []));
    const [kind, version] = texts.libc ? texts.libc.split(" ") : [];
    const libc = kind ? [`--${kind}`, version] : [];
    const gfx = texts.gfx.length ? ["--gfx", texts.gfx.join(",")] : [];
    const published = ["releases.json", "rock-manifest.json"].flatMap((file) => ["--published", `${work}/few/${file}`]).concat("--withdrawn-in", `${work}/few/index`);
    const run = promisify(execFile)(program, ["pick", "--quiet", "--only-given", "--format", "json", ...published, ...flags, ...libc, ...gfx], { maxBuffer: 1 << 26 });
    const { stdout } = await run.catch((fault) => fault);
    const told = JSON.parse(stdout);
    const texted = (list) => list.map((one) => one.text);
    passedOver += told.yanked.length;
    return {
      wheel: told.wheel && [told.wheel.name, told.wheel.install, texted(told.wheel.notes)],
      others: told.others,
      near: told.nearest.map((near) => [near.name, texted(near.differences), texted(near.notes)]),
    };
  };
  const found = await page.evaluate((cases) => cases.map((texts) => {
    const answer = decide(data, machineOf(texts));
    const told = (index) => verdict(data, answer.found, index);
    const texted = (list) => list.map((one) => one.text);
    const [best, ...others] = answer.fits;
    return {
      wheel: best === undefined ? null : [fileName(data, best), installLine(address(data, best)), texted(told(best).notes)],
      others: others.map((index) => fileName(data, index)),
      near: answer.near.map((index) => [fileName(data, index), texted(told(index).differences), texted(told(index).notes)]),
    };
  }), cases);
  let fitting = 0;
  for (let at = 0; at < cases.length; at += 2) {
    const expected = await Promise.all(cases.slice(at, at + 2).map(ask));
    expected.forEach((one, next) => {
      assert.deepEqual(found[at + next], one, JSON.stringify(cases[at + next]));
      fitting += one.wheel ? 1 : 0;
    });
  }
  assert.ok(passedOver > MACHINES, `${passedOver} yanked wheels fit`);
  assert.ok(fitting > MACHINES / 10 && fitting < MACHINES * 0.9, `${fitting} of ${MACHINES} have a wheel`);
  await page.context().close();
}

async function main() {
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    for (const part of [choose, paste, copyAndShare, none, looks, widths, keyboard, readers, agrees]) await part();
    assert.deepEqual(faults, [], "no error and no request to anywhere");
  } finally {
    await browser.close();
  }
}

main().catch((fault) => {
  console.error(`FAIL: ${fault.stack}`);
  process.exit(1);
});
