// The decision that `rock-matrix pick` takes, from the same numbers and sentences (the page's data has them).
// Nothing here touches the page, so that a test can run it on many machines and compare.
const AXES = [["system", "system"], ["gfx", "GPU"], ["rocm", "ROCm"], ["torch", "torch"], ["python", "Python"], ["backend", "backend"]];
const EXACT = { differs: false, cost: 0, text: "" };
const fine = (cost, text) => ({ differs: false, cost, text });
const differs = (size, wheel, yours, why) => ({ differs: true, size, wheel, yours, why: why || null });
const notKnown = (wheel) => fine(0, `the wheel is for ${wheel}; yours is unknown`);

function steps(weights, from, to) {
  const majors = Math.abs(from[0] - to[0]);
  return majors === 0 ? Math.min(Math.abs(from[1] - to[1]), weights.most_minor_steps) : Math.min(majors, weights.most_major_steps) * weights.major_step;
}

// Texts of a person or of doctor's report to values; null for what cannot be read.
const read = {
  rocm(text) {
    const parts = text.split(".");
    if (parts.length < 2 || parts.length > 4 || !parts.every((part) => /^(0|[1-9]\d{0,4})$/.test(part))) return null;
    return { text, parts: parts.map(Number) };
  },
  torch(text) {
    const found = /^\s*v?(?:\d+!)?(\d+(?:\.\d+)*)(?:[-_.]?(alpha|beta|preview|pre|rc|a|b|c)[-_.]?(\d*))?(?:-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?(?:[-_.]?(dev)[-_.]?(\d*))?(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?\s*$/i.exec(text);
    if (!found) return null;
    const [, release, pre, preNumber, dev, devNumber] = found;
    const [major, minor = 0] = release.split(".").map(Number);
    const short = { alpha: "a", a: "a", beta: "b", b: "b" }[(pre || "").toLowerCase()] || "rc";
    const tail = (pre ? short + Number(preNumber || 0) : "") + (dev ? "dev" + Number(devNumber || 0) : "");
    return { text: `${major}.${minor}${tail}`, minor: [major, minor], tail };
  },
  python(text) {
    const found = /^(\d|[1-9]\d)\.(\d|[1-9]\d)(t?)$/.exec(text);
    return found && { text, minor: [Number(found[1]), Number(found[2])], free: found[3] === "t" };
  },
  gfx(text) {
    const found = /^(gfx(?:\d[0-9a-f]{2,3}|\d[0-9a-f]*(?:-[0-9a-f]+)*-generic))(?::[a-z]+[+-])*$/.exec(text);
    return found && found[1];
  },
  libc(text) {
    const found = /^(glibc|musl)(?: (\d+)\.(\d+)(?:\..*)?)?$/.exec(text);
    if (!found) return null;
    const version = found[2] === undefined ? null : [Number(found[2]), Number(found[3])];
    return { text: found[1] + (version ? " " + version.join(".") : ""), kind: found[1], version };
  },
};

// A machine out of texts: `{rocm: "6.4", torch: "2.9", gfx: ["gfx942"], …}`; what is missing is not asked.
function machineOf(texts) {
  const value = (name) => (texts[name] ? read[name](texts[name]) : null);
  return {
    distribution: texts.distribution || null,
    rocm: value("rocm"),
    torch: value("torch"),
    python: value("python"),
    gfx: [...new Set((texts.gfx || []).map(read.gfx).filter(Boolean))].sort(),
    backend: texts.backend || null,
    platform: texts.platform || null,
    libc: value("libc"),
  };
}

// The same texts out of what `rock-matrix doctor --format json` prints. Throws what a person is told.
function textsOfReport(json, data) {
  const wrong = (why) => new Error(`This is not the output of “rock-matrix doctor --format json”: ${why}.`);
  let report;
  try {
    report = JSON.parse(json);
  } catch {
    throw wrong("it is not JSON");
  }
  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject(report) || !isObject(report.build)) throw wrong("it has no “build”");
  const text = (value) => (typeof value === "string" ? value : null);
  const python = isObject(report.python) && text(report.python.version) ? report.python : {};
  const torch = text(python.torch);
  const local = torch && torch.includes("+") ? torch.slice(torch.indexOf("+") + 1) : null;
  const rocmOf = (value) => {
    const numbers = [];
    for (const part of (value || "").split(".")) {
      if (!/^\d+$/.test(part)) break;
      numbers.push(part);
    }
    const found = read.rocm(numbers.slice(0, 3).join("."));
    return found && found.text;
  };
  // The ROCm of a HIP has the same minor, but where the facts have another; a later HIP than the first of these that
  // they do not have says nothing.
  const rocmOfHip = (hip) => {
    const found = rocmOf(hip);
    if (!found) return null;
    const [major, minor] = found.split(".");
    const pair = data.hip.find(([known]) => known === `${major}.${minor}`);
    if (pair) return pair[1];
    const isEarlier = ([known]) => {
      const [first, second] = known.split(".").map(Number);
      return Number(major) < first || (Number(major) === first && Number(minor) < second);
    };
    return data.hip.every(isEarlier) ? `${major}.${minor}` : null;
  };
  const installed = Array.isArray(report.rocm) && report.rocm[0] ? text(report.rocm[0].version) : null;
  const ofTorch = local && local.startsWith("rocm") ? local.slice(4) : rocmOfHip(text(python.torch_hip));
  const ofSystem = installed !== null ? installed.split("-")[0] : rocmOfHip(text(report.hip_version));
  const runtime = isObject(report.overrides) ? text(report.overrides.runtime_gfx) : null;
  const targets = runtime !== null ? [runtime] : Array.isArray(report.build.gfx) ? report.build.gfx.filter(text) : [];
  const known = (name, value) => (value && read[name](value) ? read[name](value).text : null);
  return {
    rocm: rocmOf(ofTorch) || rocmOf(ofSystem),
    torch: known("torch", torch),
    python: known("python", text(python.version) && python.version + (python.free_threaded ? "t" : "")),
    gfx: [...new Set(targets.map(read.gfx).filter(Boolean))].sort(),
    platform: text(python.platform) || null,
    libc: known("libc", text(python.libc)),
    foreignTorch: torch && !text(python.torch_hip) && local && /^(cpu|xpu|cuda)(\.|$)|^cu(da)?\d/.test(local) ? torch : null,
  };
}

function oneSystem(weights, [system, kind, major, minor], platform, libc) {
  if (system === "any") return EXACT;
  if (system !== platform) return differs(weights.system);
  if (kind === "") {
    if (!system.startsWith("linux")) return EXACT;
    return fine(weights.unsaid_libc, `the tag ${system} does not say which C library the wheel needs`);
  }
  if (libc && libc.kind !== kind) return differs(weights.libc_kind);
  if (!libc || !libc.version) {
    return fine(weights.unknown_libc, `the wheel needs ${kind} ${major}.${minor} or newer; yours is unknown`);
  }
  const own = libc.version;
  if (own[0] > major || (own[0] === major && own[1] >= minor)) return EXACT;
  return differs(weights.libc + steps(weights, own, [major, minor]));
}

function judgeSystem(weights, [shown, needs], machine) {
  let best = null;
  const rank = (judged) => (judged.differs ? [2, judged.size] : [judged === EXACT ? 0 : 1, judged.cost]);
  for (const need of needs) {
    const judged = oneSystem(weights, need, machine.platform || need[0], machine.libc);
    if (!best || rank(judged)[0] < rank(best)[0] || (rank(judged)[0] === rank(best)[0] && rank(judged)[1] < rank(best)[1])) best = judged;
  }
  const libc = machine.libc && machine.libc.text;
  if (best && best.differs) return differs(best.size, shown, [machine.platform, libc].filter(Boolean).join(" with "));
  if (machine.platform || needs.some((need) => need[0] === "any")) return best || EXACT;
  return libc ? fine(0, `the wheel is for ${shown}; you have ${libc} on an unknown platform`) : notKnown(shown);
}

function judgeGfx(weights, targets, machine) {
  if (targets === 0) return EXACT;
  if (targets === null) return fine(weights.unsaid_gfx, "it is unknown which GPUs the wheel has code for");
  const shown = targets.join(", ");
  if (machine.gfx.length === 0) return notKnown(shown);
  const covered = machine.gfx.filter((gfx) => targets.includes(gfx));
  const bare = machine.gfx.filter((gfx) => !targets.includes(gfx));
  if (covered.length === 0) return differs(weights.gfx, shown, bare.join(", "));
  if (bare.length === 0) return EXACT;
  return fine(weights.partial_gfx, `the wheel has code for ${covered.join(", ")}, but not for ${bare.join(", ")}`);
}

// What a machine's ROCm is to a wheel's; null where they are the same.
function relation(wheel, machine) {
  if (wheel[0] !== machine[0]) return "other-major";
  if (machine[1] > wheel[1]) return "newer-minor";
  if (machine[1] < wheel[1]) return "older-minor";
  return wheel.length > 2 && machine.length > 2 && wheel[2] !== machine[2] ? "other-patch" : null;
}

function reached(weights, reach, own, yours, base, stepCount) {
  const said = reach ? reach[1] : null;
  if (reach && reach[0]) return fine(weights.other_rocm + stepCount, `the wheel is for ${own}, you have ${yours}; ${said}`);
  return differs(base + stepCount, own, yours, said);
}

// The ROCm of a wheel whose name does not contain it, by what its libraries need.
function judgeLibraries(data, own, majors, machine) {
  const weights = data.weights;
  if (!machine.rocm) return notKnown(own);
  const { parts, text } = machine.rocm;
  if (majors.includes(parts[0])) return fine(weights.unsaid_rocm, `the wheel's name does not contain a ROCm version; its libraries need ROCm ${own}`);
  const stepCount = Math.min(...majors.map((major) => steps(weights, [major, 0], parts)));
  return reached(weights, data.reach["rocm other-major"], own, text, weights.rocm, stepCount);
}

// `ownCase` is the case of `reach` that holds whatever the versions are, or null.
function judgeRocm(data, [kind, own, parts, ownCase], machine) {
  const weights = data.weights;
  if (kind === "other") return differs(weights.accelerator, own, machine.rocm ? `ROCm ${machine.rocm.text}` : "an AMD GPU");
  if (kind === "libraries") return judgeLibraries(data, own, parts, machine);
  if (kind === "unsaid") return fine(weights.unsaid_rocm, "the wheel's name does not contain a ROCm version");
  if (!machine.rocm) return notKnown(own);
  const when = relation(parts, machine.rocm.parts);
  if (when === null) return EXACT;
  return reached(weights, data.reach[`rocm ${ownCase || when}`], own, machine.rocm.text, weights.rocm, steps(weights, parts, machine.rocm.parts));
}

function judgeTorch(data, torch, machine) {
  if (torch === null) return EXACT;
  const [own, minor, tail, when] = torch;
  const yours = machine.torch;
  if (!yours) return notKnown(own);
  if (minor[0] === yours.minor[0] && minor[1] === yours.minor[1] && tail === yours.tail) return EXACT;
  return reached(data.weights, data.reach[`torch ${when}`], own, yours.text, data.weights.torch, steps(data.weights, minor, yours.minor));
}

function judgePython(weights, [shown, ranges], machine) {
  const yours = machine.python;
  if (!yours) return ranges.length ? notKnown(shown) : differs(weights.python + weights.major_step, shown, "CPython");
  const [major, minor] = yours.minor;
  let away = null;
  for (const [from, low, to, build] of ranges) {
    const hasBuild = build === "either" || (build === "free") === yours.free;
    const below = major < from || (major === from && minor < low);
    const above = major > from || (major === from && to !== null && minor > to);
    if (hasBuild && !below && !above) return EXACT;
    const end = to === null ? Infinity : to;
    const count = below ? steps(weights, yours.minor, [from, low]) : above ? steps(weights, yours.minor, [from, end]) : 0;
    const distance = count + (hasBuild ? 0 : weights.python_build);
    if (away === null || distance < away) away = distance;
  }
  return differs(weights.python + (away === null ? weights.major_step : away), shown, yours.text);
}

function judgeBackend(weights, own, machine) {
  const name = own || "default";
  return machine.backend && machine.backend !== name ? differs(weights.backend, name, machine.backend) : EXACT;
}

// The answer for each value that a column can have: a wheel's verdict is then six look-ups.
function answers(data, machine) {
  const { weights, values } = data;
  return [
    values.system.map((value) => judgeSystem(weights, value, machine)),
    values.gfx.map((value) => judgeGfx(weights, value, machine)),
    values.rocm.map((value) => judgeRocm(data, value, machine)),
    values.torch.map((value) => judgeTorch(data, value, machine)),
    values.python.map((value) => judgePython(weights, value, machine)),
    values.backend.map((value) => judgeBackend(weights, value, machine)),
  ];
}

// What is assumed of one wheel, and what keeps it away.
function verdict(data, found, index) {
  const notes = [], differences = [];
  AXES.forEach(([key, title], at) => {
    const judged = found[at][data.columns[key][index]];
    if (judged.differs) {
      const verb = key === "backend" ? "asked for" : "have";
      const why = judged.why ? `; ${judged.why}` : "";
      differences.push({ ...judged, axis: key, title, text: `${title}: the wheel is for ${judged.wheel}, you ${verb} ${judged.yours}${why}` });
    } else if (judged.text) notes.push({ axis: key, title, text: judged.text });
  });
  return { notes, differences };
}

// The wheels that fit, best first; where none does, the three nearest.
function decide(data, machine) {
  const found = answers(data, machine);
  const columns = AXES.map(([key]) => data.columns[key]);
  const { distribution, rank } = data.columns;
  const wanted = data.values.distribution.map((name) => !machine.distribution || name[1] === machine.distribution);
  const keys = [];
  for (let index = 0; index < rank.length; index++) {
    if (!wanted[distribution[index]]) continue;
    let cost = 0, fits = true;
    for (let axis = 0; axis < 6 && fits; axis++) {
      const judged = found[axis][columns[axis][index]];
      if (judged.differs) fits = false;
      else cost += judged.cost;
    }
    // Rank, then cost, then position: each has room below the one before it, and all fit into 53 bits.
    if (fits) keys.push((rank[index] * 1e4 + cost) * 1e6 + index);
  }
  const fits = Float64Array.from(keys).sort();
  const indexes = Array.from(fits, (key) => key % 1e6);
  return { found, fits: indexes, near: indexes.length ? [] : nearest(data, found, wanted) };
}

function nearest(data, found, wanted) {
  const columns = AXES.map(([key]) => data.columns[key]);
  const { distribution, rank } = data.columns;
  const all = [];
  for (let index = 0; index < rank.length; index++) {
    if (!wanted[distribution[index]]) continue;
    let count = 0, size = 0, cost = 0;
    columns.forEach((column, axis) => {
      const judged = found[axis][column[index]];
      if (judged.differs) (count += 1), (size += judged.size);
      else cost += judged.cost;
    });
    all.push([count, size, rank[index], cost, index]);
  }
  all.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3] || a[4] - b[4]);
  return all.slice(0, 3).map((key) => key[4]);
}

function fileName(data, index) {
  const { values, columns } = data;
  const of = (name) => values[name][columns[name][index]];
  const label = of("label"), build = of("build");
  return `${of("distribution")[0]}-${of("version")}${label && "+" + label}${build && "-" + build}-${of("tags")}.whl`;
}

// The address with `+` as `%2B`; empty where nothing says where the wheel is.
function address(data, index) {
  const folder = data.values.release[data.columns.release[index]][1];
  return folder === null ? "" : folder + encodeURIComponent(fileName(data, index));
}

function quoted(url) {
  const plain = /^[A-Za-z0-9\-._~:/%+@=,]+$/.test(url);
  return plain ? url : `'${url.replaceAll("'", "'\\''")}'`;
}

// What pip is given: the wheel, the device wheels with its code for these targets, or all where none is named, and the
// index that serves what those need.
function installWords(data, index, gfx) {
  const own = address(data, index), name = fileName(data, index);
  const [devices, more] = data.values.devices[data.columns.devices[index]] || [[], null];
  const needed = devices.filter(([, targets]) => gfx.length === 0 || targets.some((target) => gfx.includes(target)));
  const folder = own.slice(0, own.length - encodeURIComponent(name).length);
  const rest = name.slice(data.values.distribution[data.columns.distribution[index]][0].length);
  const urls = [own, ...needed.map(([distribution]) => folder + encodeURIComponent(distribution + rest))];
  return urls.map(quoted).join(" ") + (more === null ? "" : ` --extra-index-url ${more}`);
}

// The line where the torch of the wheel is installed.
function installLine(words) {
  return `pip install ${words}`;
}

// The line where nothing is installed; `torch` is a requirement and the index that serves it.
function installFromNothing(words, [requirement, index]) {
  return `pip install ${requirement} ${words} --extra-index-url ${index}`;
}
