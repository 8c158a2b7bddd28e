// GitHub's own parser of workflows and of actions on each file: prints every error, and exits with 1 when there is one.
// Node 20 cannot import it by itself, because it names files without their endings; esbuild makes one file first.
import fs from "node:fs";
import { parseWorkflow, convertWorkflowTemplate, NoOperationTraceWriter } from "@actions/workflow-parser";
import { parseAction, convertActionTemplate } from "@actions/workflow-parser/actions/index";

// How many jobs a workflow has, or steps an action.
async function count(file) {
  const trace = new NoOperationTraceWriter();
  if (/(^|\/)action\.yml$/.test(file.name)) {
    const { context, value } = parseAction(file, trace);
    const steps = value ? convertActionTemplate(context, value).runs?.steps ?? [] : [];
    return { context, said: `${steps.length} steps` };
  }
  const { context, value } = parseWorkflow(file, trace);
  const jobs = value ? (await convertWorkflowTemplate(context, value)).jobs : [];
  return { context, said: `${jobs.length} jobs` };
}

async function main() {
  let errors = 0;
  for (const name of process.argv.slice(2)) {
    const content = fs.readFileSync(name, "utf8");
    const { context, said } = await count({ name, content });
    const found = context.errors.getErrors();
    for (const error of found) console.log(`${name}: ${error.message}`);
    errors += found.length;
    if (found.length === 0) console.log(`${name}: ${said}`);
  }
  process.exitCode = errors > 0 ? 1 : 0;
}

main();
