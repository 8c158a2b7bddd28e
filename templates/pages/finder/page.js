// What is shown. Texts of wheels come into the page as text only, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const ROWS_AT_ONCE = 50;
const SELECTS = ["distribution", "rocm", "torch", "python", "gfx", "backend"];
const element = (id) => document.getElementById(id);
const count = (number) => number.toLocaleString("en");
const wheels = (number) => `${count(number)} ${number === 1 ? "wheel" : "wheels"}`;

let texts = {};
let answer = { fits: [], near: [] };
let shown = 0;

function make(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// The choices of each field, newest first; what a link or a report names beside them is added when it comes.
function options(name) {
  return name === "distribution" ? [...new Set(data.values.distribution.map((value) => value[1]))].sort() : data.choices[name];
}

function fillSelects() {
  for (const name of SELECTS) {
    const all = options(name);
    const fixed = name === "distribution" && all.length === 1;
    const first = fixed ? [] : [new Option(name === "distribution" ? "Any package" : "Any", "")];
    element(name).replaceChildren(...first, ...all.map((text) => new Option(text, text)));
  }
}

function select(name, value) {
  const field = element(name);
  if (value && ![...field.options].some((option) => option.value === value)) {
    field.append(new Option(name === "gfx" ? value.split(",").join(" and ") : value, value));
  }
  field.value = value || "";
  if (field.selectedIndex < 0) field.selectedIndex = 0;
}

function textsOfSelects() {
  const value = (name) => element(name).value || null;
  const chosen = Object.fromEntries(SELECTS.map((name) => [name, value(name)]));
  return { ...chosen, gfx: chosen.gfx ? chosen.gfx.split(",") : [], platform: texts.platform, libc: texts.libc };
}

function showTexts() {
  for (const name of SELECTS) select(name, name === "gfx" ? (texts.gfx || []).join(",") : texts[name]);
  texts = { ...texts, distribution: element("distribution").value || null };
  const system = [texts.platform, texts.libc].filter(Boolean).join(", ");
  element("system").hidden = !system;
  element("system-text").textContent = system && `System: ${system}.`;
}

// What a link holds: only what can be read counts.
function textsOfLink(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const readable = (name, value) => (value && read[name](value) ? value : null);
  const word = (value) => (value && /^[A-Za-z0-9._-]{1,80}$/.test(value) ? value : null);
  return {
    distribution: word(given.get("distribution")),
    rocm: readable("rocm", given.get("rocm")),
    torch: readable("torch", given.get("torch")),
    python: readable("python", given.get("python")),
    gfx: (given.get("gfx") || "").split(",").filter((text) => read.gfx(text)),
    backend: word(given.get("backend")),
    platform: word(given.get("platform")),
    libc: readable("libc", given.get("libc")),
  };
}

function link() {
  const kept = new URLSearchParams();
  for (const name of [...SELECTS, "platform", "libc"]) {
    const value = name === "gfx" ? (texts.gfx || []).join(",") : texts[name];
    if (value && !(name === "distribution" && options(name).length === 1)) kept.set(name, value);
  }
  const text = kept.toString();
  return text && `#${text}`;
}

function update(texted) {
  texts = texted;
  showTexts();
  answer = decide(data, machineOf(texts));
  showAnswer();
  showCount();
  showRows(answer.fits.slice(0, ROWS_AT_ONCE), true);
}

function change(texted) {
  update(texted);
  // The address is a convenience: a browser that refuses to change it still shows the answer.
  try {
    history.replaceState(null, "", link() || location.pathname + location.search);
  } catch {}
}

function showCount() {
  const total = data.columns.rank.length;
  const fitting = answer.fits.length;
  element("count").textContent = fitting ? `${count(fitting)} of ${wheels(total)}` : `None of ${wheels(total)}`;
  element("table").hidden = fitting === 0;
}

async function copy(text, button, what) {
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = make("textarea", text, { class: "hidden", "aria-hidden": "true" });
    document.body.append(field);
    field.select();
    done = document.execCommand("copy");
    field.remove();
    button.focus();
  }
  element("said").textContent = done ? `Copied ${what}.` : "The browser refused to copy. Select the text and copy it by hand.";
  const label = button.dataset.label || (button.dataset.label = button.textContent);
  button.textContent = done ? "Copied" : "Not copied";
  clearTimeout(button.timer);
  button.timer = setTimeout(() => (button.textContent = label), 1600);
}

function command(line, label, strong) {
  const box = make("div", "", { class: "command" });
  const button = make("button", "Copy", { type: "button", "aria-label": label });
  if (strong) button.className = "strong";
  button.addEventListener("click", () => copy(line, button, "the install line"));
  box.append(make("code", line), button);
  return box;
}

// The line for an installed torch, the one from nothing, and the needs at run time.
function commands(index, strong) {
  const url = address(data, index);
  if (!url) return [make("p", "The download URL of this file is unknown.", { class: "soft" })];
  const name = fileName(data, index);
  const words = installWords(data, index, machineOf(texts).gfx);
  const torch = value("torch", index);
  const official = value("official_torch", index);
  const runTime = value("run_time", index);
  const parts = [];
  if (torch) parts.push(make("p", `With torch ${torch[0]} for this ROCm installed:`, { class: "small-text" }));
  parts.push(command(installLine(words), `Copy the line that installs ${name}`, strong));
  if (official) {
    parts.push(make("p", "From scratch:", { class: "small-text" }));
    parts.push(command(installFromNothing(words, official), `Copy the line that installs ${name} from scratch`, false));
  }
  if (runTime) {
    const [sentence, assignments] = runTime;
    parts.push(make("p", `${sentence}${assignments.length ? ":" : "."}`, { class: "small-text" }));
    for (const one of assignments) parts.push(command(`export ${one}`, `Copy the line that sets ${one}`, false));
  }
  return parts;
}

function value(name, index) {
  return data.values[name][data.columns[name][index]];
}

function sized(bytes) {
  if (!bytes) return "";
  const units = ["B", "kB", "MB", "GB"];
  const power = Math.min(3, Math.floor(Math.log10(bytes) / 3));
  const number = bytes / 1000 ** power;
  return `${number.toFixed(power && number < 9.95 ? 1 : 0)} ${units[power]}`;
}

function facts(index) {
  const list = make("dl", "", { class: "facts" });
  const digest = data.columns.sha256[index].replaceAll("-", "+").replaceAll("_", "/");
  const hex = Array.from(atob(digest), (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
  const told = [["Release", value("release", index)[0]], ["Size", sized(data.columns.size[index])], ["SHA-256", hex]];
  for (const [title, text] of told.filter(([, text]) => text)) {
    const told = make("dd");
    told.append(title === "SHA-256" ? make("code", text) : text);
    list.append(make("dt", title), told);
  }
  return list;
}

function showAnswer() {
  const box = element("answer");
  const heading = element("answer-heading");
  if (!answer.fits.length) {
    heading.textContent = "No wheel fits";
    box.replaceChildren(...nearParts());
    return;
  }
  const [best] = answer.fits;
  const { notes } = verdict(data, answer.found, best);
  const open = ["rocm", "torch", "python"].filter((name) => !texts[name] && notes.some((note) => note.axis === name));
  heading.textContent = "Install";
  const parts = [make("p", fileName(data, best), { class: "name" })];
  if (!texts.distribution) open.unshift("distribution");
  if (open.length) {
    const names = open.map((name) => (name === "distribution" ? "a package" : AXES.find(([key]) => key === name)[1]));
    const list = names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0];
    parts.unshift(make("p", `Choose ${list} to be sure. This is the newest that fits so far.`, { class: "soft small-text" }));
  }
  parts.push(...commands(best, true));
  parts.push(make("p", data.about_torch[value("torch", best) === null ? 1 : 0], { class: "soft small-text" }));
  const told = notes.filter((note) => !open.includes(note.axis));
  if (texts.foreignTorch) {
    told.unshift({ title: "torch", text: `the one you have, ${texts.foreignTorch}, is not built for ROCm; install torch for ROCm first` });
  }
  if (told.length) {
    const list = make("ul", "", { class: "notes small-text", "aria-label": "Good to know" });
    list.append(...told.map((note) => titled(note.title, note.text)));
    parts.push(list);
  }
  parts.push(facts(best));
  box.replaceChildren(...parts);
}

// A point of a list: the word in front in bold, and as a person writes it.
function titled(title, text) {
  const item = make("li");
  item.append(make("strong", { system: "System", backend: "Backend" }[title] || title), `: ${text}`);
  return item;
}

function nearParts() {
  if (!answer.near.length) return [make("p", data.columns.rank.length ? "No wheel of this package is published here." : "No wheel is published here.")];
  const list = make("ol", "", { class: "near" });
  for (const index of answer.near) {
    const { differences } = verdict(data, answer.found, index);
    const item = make("li");
    const reasons = make("ul");
    reasons.append(...differences.map(({ title, text }) => titled(title, text.slice(title.length + 2))));
    const button = make("button", "Choose what this one is for", { type: "button", "aria-label": `Choose what ${fileName(data, index)} is for` });
    button.addEventListener("click", () => {
      change(adopted(index, differences));
      element("answer-heading").focus();
    });
    item.append(make("p", fileName(data, index), { class: "name" }), reasons, button);
    list.append(item);
  }
  const first = verdict(data, answer.found, answer.near[0]).differences.length;
  const points = first === 1 ? "one point" : `${first} points`;
  const advice = make("p", `The closest wheel differs in ${points}. Change your choices, or `);
  advice.append(...asking(), ".");
  return [advice, list];
}

// Where to ask for a wheel: the issues of the repository, where the page knows it.
function asking() {
  if (!/^[\w.-]+\/[\w.-]+$/.test(data.repository || "")) return ["ask whoever publishes these wheels to build it"];
  return [make("a", "ask for the wheel to be built", { href: `https://github.com/${data.repository}/issues/new/choose` })];
}

// The choices with what keeps a wheel away changed to what it is for.
function adopted(index, differences) {
  const next = { ...texts };
  for (const { axis } of differences) {
    if (axis === "system") next.platform = next.libc = null;
    else if (axis === "gfx") next.gfx = (value("gfx", index) || []).slice(0, 1);
    else if (axis === "rocm") next.rocm = value("rocm", index)[0] === "rocm" ? value("rocm", index)[1] : null;
    else if (axis === "torch") next.torch = value("torch", index)[0];
    else if (axis === "python") {
      const [from, low, , build] = value("python", index)[1][0] || [];
      next.python = from === undefined ? null : `${from}.${low}${build === "free" ? "t" : ""}`;
    } else next.backend = value("backend", index) || "default";
  }
  return next;
}

function row(index) {
  const tr = make("tr", "", { role: "row" });
  const cell = (title, text, fixed) => {
    const td = make("td", text, { role: "cell", "data-title": title });
    if (fixed) td.className = "fixed";
    tr.append(td);
    return td;
  };
  const name = fileName(data, index);
  const url = address(data, index);
  const called = `${value("distribution", index)[1]} ${value("version", index)}`;
  const first = cell("Wheel", url ? "" : called, true);
  if (url) first.append(make("a", called, { href: url, title: name }));
  const [kind, rocm] = value("rocm", index);
  const torch = value("torch", index);
  const gfx = value("gfx", index);
  cell("ROCm", kind === "unsaid" ? "unknown" : rocm, true);
  cell("torch", torch ? torch[0] : "none", true);
  cell("Python", value("python", index)[0]);
  cell("GPUs", gfx === null ? "unknown" : gfx === 0 ? "any" : gfx.join(", "));
  cell("Backend", value("backend", index) || "default");
  cell("System", value("system", index)[0]);
  cell("Size", sized(data.columns.size[index]) || "unknown", true);
  const last = cell("Install");
  if (url) {
    const button = make("button", "Copy", { type: "button", class: "small", "aria-label": `Copy the line that installs ${name}` });
    button.addEventListener("click", () => copy(installLine(installWords(data, index, machineOf(texts).gfx)), button, "the install line"));
    last.append(button);
  }
  return tr;
}

function showRows(indexes, anew) {
  const made = document.createDocumentFragment();
  for (const index of indexes) made.append(row(index));
  if (anew) element("rows").replaceChildren(made);
  else element("rows").append(made);
  shown = (anew ? 0 : shown) + indexes.length;
  const left = answer.fits.length - shown;
  element("more").hidden = left <= 0;
  element("more").textContent = `Show ${count(Math.min(left, ROWS_AT_ONCE))} more of ${count(left)}`;
}

function readReport() {
  try {
    const found = textsOfReport(element("report").value, data);
    element("paste-fault").textContent = "";
    element("paste").open = false;
    change({ ...found, distribution: texts.distribution, backend: texts.backend });
    element("said").textContent = "The report was read and the choices are set.";
    element("answer-heading").focus();
  } catch (fault) {
    element("paste-fault").textContent = fault.message;
    element("report").focus();
  }
}

function begin() {
  const total = data.columns.rank.length;
  const from = data.repository ? ` of ${data.repository}` : "";
  const yanked = data.yanked ? ` Not shown: ${count(data.yanked)} yanked ${data.yanked === 1 ? "wheel" : "wheels"}.` : "";
  element("about").textContent = `${wheels(total)}${from}.${yanked} The page runs in your browser and sends nothing. rock-matrix pick follows the same rules at a terminal.`;
  fillSelects();
  element("choices").addEventListener("change", (event) => {
    if (event.target.matches("select")) change(textsOfSelects());
  });
  element("choices").addEventListener("submit", (event) => event.preventDefault());
  element("choices").addEventListener("reset", (event) => {
    event.preventDefault();
    element("report").value = "";
    element("paste-fault").textContent = "";
    change({});
  });
  element("use-report").addEventListener("click", readReport);
  element("report").addEventListener("paste", () => setTimeout(readReport));
  element("forget-system").addEventListener("click", () => {
    change({ ...texts, platform: null, libc: null });
    element("share").focus();
  });
  element("share").addEventListener("click", (event) => {
    copy(location.href.split("#")[0] + link(), event.currentTarget, "the link to this choice");
  });
  element("more").addEventListener("click", () => {
    const next = shown;
    showRows(answer.fits.slice(shown, shown + ROWS_AT_ONCE), false);
    const first = element("rows").children[next];
    if (first) first.querySelector("a, button")?.focus();
  });
  document.querySelector(".skip").addEventListener("click", (event) => {
    // The address holds the choice, so the skip link must not take its place.
    event.preventDefault();
    element("answer-heading").focus();
  });
  window.addEventListener("hashchange", () => update(textsOfLink(location.hash)));
  update(textsOfLink(location.hash));
}

begin();
