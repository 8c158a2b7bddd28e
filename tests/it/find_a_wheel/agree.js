// Runs the page's decision on saved cases and prints what differs from what was expected, one line a case.
// node agree.js DECIDE.js CASES.json
const fs = require("fs");
const [script, file] = process.argv.slice(2).map((path) => fs.readFileSync(path, "utf8"));
const page = new Function(`"use strict";${script}; return { decide, verdict, machineOf, textsOfReport, fileName, address, installWords, installLine, installFromNothing };`)();
const { data, cases, reports, lines } = JSON.parse(file);

const told = (found, index) => {
  const { notes, differences } = page.verdict(data, found, index);
  return { notes: notes.map((note) => [note.axis, note.text]), differences: differences.map((one) => [one.axis, one.text]) };
};
const check = (what, found, expected) => {
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    console.log(`${JSON.stringify(what)}: the page says ${JSON.stringify(found)}, pick says ${JSON.stringify(expected)}`);
  }
};
for (const { texts, expected } of cases) {
  const answer = page.decide(data, page.machineOf(texts));
  const best = answer.fits.slice(0, 1).map((index) => told(answer.found, index).notes);
  const near = answer.near.map((index) => [index, told(answer.found, index)]);
  check(texts, { fits: answer.fits, best, near }, expected);
}
for (const { report, expected } of reports) {
  let found = null;
  try {
    found = page.textsOfReport(report, data);
  } catch {}
  check(report, found, expected);
}
lines.forEach(([name, url, line, fromNothing], index) => {
  const address = page.address(data, index);
  const official = data.values.official_torch[data.columns.official_torch[index]];
  const words = page.installWords(data, index, ["gfx942"]);
  const found = [page.fileName(data, index), address, page.installLine(words), official && page.installFromNothing(words, official)];
  check(name, found, [name, url, line, fromNothing]);
});
console.log(`compared ${cases.length} machines, ${reports.length} reports and ${lines.length} addresses`);
