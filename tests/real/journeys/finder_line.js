// Chooses in the wheel finder as a person does, and prints the line that it shows: finder_line.js URL LABEL=VALUE...
"use strict";
const { chromium } = require("playwright-core");

const [address, ...choices] = process.argv.slice(2);

(async () => {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const page = await browser.newPage();
  await page.goto(address);
  for (const choice of choices) {
    const [label, value] = choice.split("=");
    await page.getByLabel(label, { exact: true }).selectOption(value);
  }
  console.log(await page.locator("#answer .command code").first().textContent());
  await browser.close();
})();
