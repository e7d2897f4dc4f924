// Everything that is text: the answer, the tables, the source with its cycles, what the figures rest on.

const COLOUR_OF_BOUND = {
  "memory in": "--MTE2", "memory out": "--MTE3", "vector issue": "--V", SFU: "--SFU", "reduction port": "--reduction",
  launch: "--launch", sync: "--critical", scalar: "--S", cube: "--M", "on-chip copies": "--moves", workitems: "--M",
  communication: "--SDMA",
};

const byId = (id) => document.getElementById(id);
const swatch = (variable) => element("span", { class: "swatch", style: `background:var(${variable})` });
const pipeCell = (name) => element("td", { class: "pipe" }, swatch(`--${name}`), name);
const number = (text) => element("td", { class: "number" }, text);
// A name with a star heads a column of numbers; one in parentheses is for screen readers alone.
const heading = (name) => (name.startsWith("(") ? element("span", { class: "unseen" }, name.slice(1, -1)) : name.replace("*", ""));
const head = (...names) => element("tr", {}, ...names.map((name) => element("th", { class: name.endsWith("*") ? "number" : "" }, heading(name))));
const lineButton = (line) => (line ? element("button", { class: "line", type: "button", onclick: () => chooseLine(line, true) }, String(line)) : "");

const stack = (parts, whole) => element("div", { class: "stack" },
  ...parts.map(([cycles, style, title]) => element("i", { style: `width:${(100 * cycles) / Math.max(1, whole)}%;${style}`, title })));

const panel = (title, ...content) => byId("tables").append(element("section", { class: "panel" }, element("div", { class: "bar" }, element("h2", {}, title)), ...content));
const wide = (table, long) => element("div", { class: long ? "scrolling long" : "scrolling" }, table);

const fillHeader = () => {
  byId("kernel").textContent = D.kernel;
  const blocks = `${D.ranks.length ? `${D.ranks.length} ranks × ` : ""}${count(D.grid)} block${D.grid === 1 ? "" : "s"}`;
  byId("where").textContent = `${D.file} · ${D.target} · ${blocks}${D.grid > D.places ? `, ${count(D.places)} at a time` : ""}`;
  byId("launch").textContent = D.launch;
  byId("command").textContent = D.command;
  const fact = (name, value, note) => byId("facts").append(
    element("div", {}, element("dt", {}, name), element("dd", {}, value, note ? element("small", {}, ` ${note}`) : "")));
  fact("cycles", count(D.cycles));
  fact("bound by", D.bound[0], D.bounds.length ? share(D.bound[1], D.cycles) : "");
  const slack = D.least ? D.cycles / D.least : 1;
  fact("busiest pipe", count(D.least), slack > 1.005 ? `at best ${slack.toFixed(2)}× faster` : "");
};

const fillBounds = () => {
  byId("bounds").append(
    stack(D.bounds.map(([name, cycles]) => [cycles, `background:var(${COLOUR_OF_BOUND[name] || "--S"})`, `${name}: ${count(cycles)}`]), D.cycles),
    element("div", { class: "legend" }, ...D.bounds.map(([name, cycles]) =>
      element("span", {}, swatch(COLOUR_OF_BOUND[name] || "--S"), `${name} ${count(cycles)} (${share(cycles, D.cycles)})`))));
};

const fillPipes = () => {
  const table = element("table", {}, head("pipe", "busy*", "waiting*", "idle*", "(bar)"));
  for (const [name, [busy, waiting, idle]] of Object.entries(D.totals)) {
    const whole = busy + waiting + idle;
    const bar = stack([[busy, `background:var(--${name})`, "busy"], [waiting, "background:var(--wait)", "waiting"]], whole);
    table.append(element("tr", {}, pipeCell(name), number(count(busy)), number(count(waiting)), number(count(idle)),
      element("td", { style: "width:32%" }, bar)));
  }
  panel("Pipes", wide(table));
};

const fillCopies = () => {
  if (!D.transfers.length) return;
  const table = element("table", {}, head("copies", "bytes*", "copies*", "B/cycle*", "while busy*", "limit*"));
  for (const [path_, moved, copies, , achieved, limit, rate] of D.transfers) {
    table.append(element("tr", {}, element("td", {}, path_.replace("_", " → ").toUpperCase()), number(count(moved)), number(count(copies)),
      number(achieved.toFixed(1)), number(rate.toFixed(1)), number(limit.toFixed(1))));
  }
  panel("Copies", wide(table));
};

const fillRanks = () => {
  if (!D.ranks.length) return;
  const table = element("table", {}, head("rank", "cycles*", "compute*", "communication*", "exposed*", "overlap*", "sent*", "received*", "GB/s*"));
  for (const [rank, cycles, compute, communication, , exposed, overlap, sent, received, bandwidth] of D.ranks) {
    table.append(element("tr", {}, element("td", {}, String(rank)), ...[cycles, compute, communication, exposed].map((n) => number(count(n))),
      number(overlap === null ? "" : share(overlap, 1)), number(count(sent)), number(count(received)), number(bandwidth.toFixed(2))));
  }
  panel("Ranks", wide(table, true));
};

const fillLinks = () => {
  if (!D.links.length) return;
  const table = element("table", {}, head("link", "bytes*", "copies*", "busy*", "GB/s*", "limit*", "delayed*"));
  for (const [source, dest, moved, copies, busy, rate, limit, delayed] of D.links) {
    table.append(element("tr", {}, element("td", {}, `${source} → ${dest}`), number(count(moved)), number(count(copies)), number(count(busy)),
      number(rate.toFixed(2)), number(limit.toFixed(1)), number(count(delayed))));
  }
  panel("Links", wide(table, true));
};

const fillSkews = () => {
  if (!D.skews.length) return;
  const table = element("table", {}, head("wait for words", "line*", "times*", "cycles*", "skew*", "mostly for"));
  for (const [line, name, times, waiting, skew, last] of D.skews) {
    table.append(element("tr", {}, element("td", {}, name.replace("pto.", "")), element("td", { class: "number" }, lineButton(line)),
      number(count(times)), number(count(waiting)), number(count(skew)), element("td", {}, last === null ? "" : `rank ${last}`)));
  }
  panel("Waits for words", wide(table, true));
};

const fillFifos = () => {
  if (!D.fifos.length) return;
  const table = element("table", {}, head("FIFO", "line*", "from", "to", "entries*", "slots in flight*", "at most*"));
  for (const [name, line, source, dest, entries, most, mean] of D.fifos) {
    table.append(element("tr", {}, element("td", {}, name), element("td", { class: "number" }, lineButton(line)),
      element("td", {}, source), element("td", {}, dest), number(count(entries)), number(mean.toFixed(1)), number(count(most))));
  }
  panel("FIFOs", wide(table));
};

const fillWaits = () => {
  if (!D.waiting.length) return;
  const table = element("table", {}, head("pipe", "waited for", "line*", "cycles*", "times*", "released*"));
  for (const [pipe, line, , cause, setLine, cycles, times] of D.waiting) {
    table.append(element("tr", {}, pipeCell(pipe), element("td", {}, cause.replace("->", "→")),
      element("td", { class: "number" }, lineButton(line)), number(count(cycles)), number(count(times)),
      element("td", { class: "number" }, lineButton(setLine))));
  }
  panel("Waits", wide(table, true));
};

const fillPath = () => {
  const table = element("table", {}, head("core", "pipe", "instruction", "line*", "cycles*", "times*"));
  for (const [line, name, core, pipe, activity, cycles, times] of D.steps) {
    table.append(element("tr", {}, element("td", {}, core), pipeCell(pipe),
      element("td", {}, activity === "work" ? name : `${name} (${activity})`), element("td", { class: "number" }, lineButton(line)),
      number(count(cycles)), number(times > 1 ? `× ${count(times)}` : "")));
  }
  const left = D.all_steps - D.steps.length;
  panel("Critical path", wide(table, true), left > 0 ? element("p", { class: "quiet" }, `and ${count(left)} more steps`) : "");
};

const fillTiles = () => {
  if (!D.tiles.length) return;
  const table = element("table", {}, head("tile operation", "line*", "times*", "lanes used*", "cycles*", "of one"));
  for (const [line, name, times, used, cycles, sum] of D.tiles) {
    table.append(element("tr", {}, element("td", {}, name), element("td", { class: "number" }, lineButton(line)), number(count(times)),
      number(used === null ? "" : share(used, 1)), number(count(cycles)), element("td", {}, sum)));
  }
  panel("Tile operations", wide(table, true));
};

const fillFindings = () => {
  if (!D.findings) return;
  const list = D.findings.map((f) => element("div", { class: `finding ${f.severity}` },
    element("b", {}, `${f.severity}: ${f.kind}`), f.location ? element("span", {}, " at line ", lineButton(f.location.line)) : "",
    element("div", {}, f.message),
    ...f.related.map((other) => element("div", { class: "quiet" }, lineButton(other.location.line), ` ${other.role}`)),
    f.hint ? element("pre", {}, f.hint) : "",
    ...f.consequences.map((other) => element("div", { class: "quiet" }, "follows: ",
      other.location ? lineButton(other.location.line) : "", ` ${other.severity}: ${other.kind}: ${other.message}`))));
  panel("Check", ...(list.length ? list : [element("p", { class: "quiet" }, "no findings")]));
};

// --- the source -----------------------------------------------------------------------------------------------------------

const codeCell = (text, found) => {
  const cell = element("td", { class: "code" });
  const [, code, comment] = /^(.*?)(\/\/.*)?$/.exec(text) || [null, text, ""];
  const match = /(?<![!#.\w])(pto|arith|scf|func|math)\.[a-z_0-9.]+(?! *=)\b/.exec(code);
  const operation = (name) => element("span", { class: found ? `op found ${found}` : "op" }, name);
  if (match) cell.append(code.slice(0, match.index), operation(match[0]), code.slice(match.index + match[0].length));
  else cell.append(code);
  if (comment) cell.append(element("span", { class: "comment" }, comment));
  return cell;
};

// A listing opens where the time goes.
const showHottest = () => { if (D.lines.length) showLine(lineRows.get(D.lines[0][0])); };

// Regions: from a line that opens one to the last line inside it. Those of .pto and C++ have braces, those of Python are
// indented.
const regions = (() => {
  const found = new Map(), open = [], indented = D.file.endsWith(".py");
  const depth = (text) => (text.trim() ? text.search(/\S/) : Infinity);
  const close = (at) => { const line = open.pop(); if (at > line + 1) found.set(line, at); };
  let last = 0;
  sourceLines.forEach((text, i) => {
    if (indented) {
      while (open.length && depth(text) <= depth(sourceLines[open.at(-1) - 1])) close(last);
      if (/:\s*(#.*)?$/.test(text)) open.push(i + 1);
      if (text.trim()) last = i + 1;
      return;
    }
    const code = text.replace(/\/\/.*/, "").replace(/"[^"]*"/g, "");
    for (const [brace] of code.matchAll(/[{}]/g)) {
      if (brace === "{") open.push(i + 1);
      else if (open.length) { if (open.at(-1) === i + 1) open.pop(); else close(i); }
    }
  });
  while (open.length) close(indented ? last : sourceLines.length);
  return found;
})();
const LONG_SOURCE = 60;
const hasTime = (from, to) => D.lines.some(([line]) => line >= from && line <= to) || (D.findings || []).some((f) => f.location && f.location.line >= from && f.location.line <= to);
const folded = new Set(sourceLines.length > LONG_SOURCE ? [...regions].filter(([line, to]) => !hasTime(line, to)).map(([line]) => line) : []);

const showRegions = () => {
  let hiddenTo = 0;
  for (const [line, row] of lineRows) {
    row.hidden = line <= hiddenTo;
    if (!row.hidden && folded.has(line)) hiddenTo = regions.get(line);
    const mark = row.querySelector(".fold button");
    if (mark) { mark.textContent = folded.has(line) ? "▸" : "▾"; mark.setAttribute("aria-expanded", String(!folded.has(line))); }
    row.classList.toggle("folded", folded.has(line));
  }
  byId("fold").textContent = folded.size ? "unfold all" : "fold all";
};
const toggle = (line) => { if (!folded.delete(line)) folded.add(line); showRegions(); };
const unfoldTo = (line) => {
  for (const [from, to] of regions) if (line > from && line <= to) folded.delete(from);
  showRegions();
};
const foldCell = (line) => element("td", { class: "fold" }, regions.has(line) ? element("button", { type: "button",
  "aria-label": `Region of line ${line}`, onclick: (event) => { event.stopPropagation(); toggle(line); } }) : "");
byId("fold").addEventListener("click", () => {
  const all = folded.size === 0 ? [...regions.keys()] : [];
  folded.clear();
  for (const line of all) folded.add(line);
  showRegions();
});

const lineRows = new Map();
const fillSource = () => {
  const most = Math.max(1, ...D.lines.map(([, , critical]) => critical));
  const found = new Map((D.findings || []).filter((f) => f.location).map((f) => [f.location.line, f.severity]));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...["(line)", "(region)", "(share)", "critical", "busy", "waiting", "(source)"]
    .map((name) => element("th", { class: "number" }, heading(name))))));
  const body = element("tbody");
  table.append(body);
  sourceLines.forEach((text, i) => {
    const line = i + 1, time = lineTimes.get(line);
    const cell = (value, kind) => element("td", { class: `cycles ${kind}` }, time && value ? count(value) : "");
    const row = element("tr", time ? { class: "timed", "data-line": line, title: `${count(time.count)} entries` } : { "data-line": line });
    const choice = time ? element("button", { class: "choice", type: "button", "aria-pressed": "false" }, String(line)) : String(line);
    const heat = element("td", { class: "heat" });
    if (time && time.critical) heat.append(element("i", { style: `width:${Math.max(2, (100 * time.critical) / most)}%` }));
    row.append(element("td", { class: "no" }, choice), foldCell(line), heat, cell(time?.critical, "critical"), cell(time?.busy, ""), cell(time?.waiting, ""),
      codeCell(text, found.get(line)));
    if (time) row.addEventListener("click", () => chooseLine(line, false));
    lineRows.set(line, row);
    body.append(row);
  });
  byId("listing").append(table);
  byId("fold").hidden = regions.size === 0;
  showRegions();
};

const press = (row, chosen) => {
  row.classList.toggle("chosen", chosen);
  row.querySelector(".choice")?.setAttribute("aria-pressed", String(chosen));
};

// Choosing a line marks it and lets the events of other lines fade; choosing it again lets go.
const chooseLine = (line, keep) => {
  const again = state.line === line && !keep;
  for (const row of lineRows.values()) press(row, false);
  const inTimeline = D.sites.some(([, siteOf]) => siteOf === line);
  state.line = again || !inTimeline ? 0 : line;
  const row = lineRows.get(line);
  if (!again && row) {
    press(row, true);
    if (keep) showLine(row);
  }
  changed();
};

const showLine = (row) => {
  unfoldTo(Number(row.dataset.line));
  const box = byId("listing");
  box.scrollTop = Math.max(0, row.offsetTop - box.clientHeight / 3);
};

const fillFooter = () => {
  for (const [origin, meaning, names] of D.origins) {
    byId("footer").append(element("p", {}, "Rests on ", element("b", {}, origin), ` (${meaning}): ${names.join(", ")}.`));
  }
  byId("footer").append(element("p", {}, D.caveat));
};
