// Renders a list of Markdown documents from stdin with marked, and prints the list of HTML.
const { marked } = require("marked");

const sources = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(sources.map((source) => marked.parse(source, { gfm: true }))));
