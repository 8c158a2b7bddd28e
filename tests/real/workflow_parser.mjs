// GitHub's own parser of workflows on each file: prints every error, and exits with 1 when there is one.
// Node 20 cannot import it by itself, because it names files without their endings; esbuild makes one file first.
import fs from "node:fs";
import { parseWorkflow, convertWorkflowTemplate, NoOperationTraceWriter } from "@actions/workflow-parser";

async function main() {
  let errors = 0;
  for (const name of process.argv.slice(2)) {
    const content = fs.readFileSync(name, "utf8");
    const { context, value } = parseWorkflow({ name, content }, new NoOperationTraceWriter());
    const workflow = value ? await convertWorkflowTemplate(context, value) : { jobs: [] };
    const found = context.errors.getErrors();
    for (const error of found) console.log(`${name}: ${error.message}`);
    errors += found.length;
    if (found.length === 0) console.log(`${name}: ${workflow.jobs.length} jobs`);
  }
  process.exitCode = errors > 0 ? 1 : 0;
}

main();
