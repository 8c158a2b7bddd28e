// Times the page's filter beside a bare Array.filter with the same row replacement. finder.js PAGE ROUNDS
"use strict";
const { pathToFileURL } = require("node:url");
const { chromium } = require("playwright-core");

// In the page: both sides take turns over the same choices, and layout is part of both.
function measure(rounds) {
  const choices = [
    {},
    { distribution: "flash-attn" },
    { distribution: "flash-attn", rocm: "7.2" },
    { distribution: "flash-attn", rocm: "7.2", torch: "2.14", python: "3.12", gfx: ["gfx942"] },
    { torch: "2.9", backend: "triton" },
    { distribution: "rmx-vecadd", rocm: "6.4", python: "3.11" },
  ];
  const all = Array.from({ length: data.columns.rank.length }, (_, index) => {
    const python = value("python", index)[1];
    return {
      index,
      distribution: value("distribution", index)[1],
      rocm: value("rocm", index)[1],
      torch: (value("torch", index) || [""])[0],
      pythons: python.length && python[0][2] === python[0][1] ? [`${python[0][0]}.${python[0][1]}`] : null,
      gfx: value("gfx", index),
      backend: value("backend", index) || "default",
    };
  });
  const bare = (wanted) => {
    const left = all.filter((row) =>
      (!wanted.distribution || row.distribution === wanted.distribution) &&
      (!wanted.rocm || row.rocm === wanted.rocm) &&
      (!wanted.torch || row.torch === wanted.torch) &&
      (!wanted.python || !row.pythons || row.pythons.includes(wanted.python)) &&
      (!wanted.gfx || !row.gfx || row.gfx.includes(wanted.gfx[0])) &&
      (!wanted.backend || row.backend === wanted.backend));
    answer = { fits: left.map((row) => row.index), near: [], found: answer.found };
    showRows(answer.fits.slice(0, ROWS_AT_ONCE), true);
  };
  const timed = (side, wanted) => {
    const begin = performance.now();
    side(wanted);
    document.body.offsetHeight;
    return performance.now() - begin;
  };
  const times = { ours: [], bare: [] };
  for (let round = 0; round < rounds; round++) {
    for (const wanted of choices) {
      times.ours.push(timed(update, wanted));
      times.bare.push(timed(bare, wanted));
    }
  }
  const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
  return { ours: median(times.ours), bare: median(times.bare), wheels: all.length };
}

async function main() {
  const [file, rounds] = process.argv.slice(2);
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const page = await browser.newPage();
  await page.goto(pathToFileURL(file).href);
  await page.evaluate(measure, 5);
  console.log(JSON.stringify(await page.evaluate(measure, Number(rounds))));
  await browser.close();
}

main();
