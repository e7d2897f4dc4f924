// Advice, the roofline, the units of the vector core, and which bytes of GM every block touched.

const SVG = document.createRange().createContextualFragment("<svg></svg>").firstChild.namespaceURI;
const drawn = (tag, attributes = {}, ...children) => {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
const written = (x, y, text, attributes = {}) => drawn("text", { x, y, ...attributes }, text);

const fillAdvice = () => {
  if (!D.advice.length) return;
  const list = element("ol", { class: "advice" }, ...D.advice.map(({ message, lines, cycles, share: part }) => element("li", {},
    message, " ", element("b", {}, `saves ${count(cycles)} cycles (${share(part, 1)})`), " ",
    ...lines.flatMap((line) => [lineButton(line), " "]))));
  panel("Advice", element("p", { class: "quiet" }, "Each was tried by timing the run again."), list);
};

// Two bars for each pipe on one axis of cycles, this run above the other one; then the lines that differ most.
const fillComparison = () => {
  if (!D.comparison) return;
  const { file, cycles, pipes, lines } = D.comparison;
  const sum = ({ busy, waiting }) => busy + waiting;
  const most = Math.max(1, ...Object.values(pipes).flat().map(sum));
  const bars = element("table", {}, head("pipe", "(other)", "busy*", "waiting*", "(bar)"));
  for (const [name, pair] of Object.entries(pipes)) {
    pair.forEach((times, k) => bars.append(element("tr", {}, k ? element("td") : pipeCell(name), element("td", { class: "quiet" }, k ? "other" : "this"),
      number(count(times.busy)), number(count(times.waiting)), element("td", { style: "width:40%" },
        stack([[times.busy, `background:var(--${name})${k ? ";opacity:.6" : ""}`, "busy"], [times.waiting, "background:var(--wait)", "waiting"]], most)))));
  }
  const signed = ([mine, theirs]) => (mine === theirs ? "" : `${mine > theirs ? "+" : "−"}${count(Math.abs(mine - theirs))}`);
  const table = element("table", {}, head("line*", "other*", "critical*", "(other)", "busy*", "(bar)"));
  for (const { line, other_line, text, critical, busy } of lines.slice(0, 20)) {
    table.append(element("tr", {}, element("td", { class: "number" }, lineButton(line)), number(other_line === null ? "" : String(other_line)),
      number(signed(critical)), element("td"), number(signed(busy)), element("td", {}, element("code", {}, text.trim().slice(0, 60)))));
  }
  const change = cycles[0] - cycles[1];
  panel("Compared", element("p", {}, `${count(cycles[0])} cycles here, ${count(cycles[1])} in ${file}: `,
    element("b", {}, change === 0 ? "no difference" : `${count(Math.abs(change))} ${change > 0 ? "more" : "fewer"} (${share(Math.abs(change), cycles[1])})`)),
    wide(bars), lines.length ? wide(table, true) : "");
};

// A circle for vector work, a square for the cube; the kernel itself is filled and has its name beside it.
const fillRoofline = () => {
  const { points, bandwidth } = D.roofline;
  if (!points.length) return;
  const W = 460, H = 240, left = 44, right = 12, top = 12, bottom = 34;
  const positive = points.filter((p) => p.intensity > 0 && p.share > 0);
  if (!positive.length) return;
  const ridge = 1 / bandwidth;
  const xs = [...positive.map((p) => p.intensity), ridge];
  const low = 10 ** Math.floor(Math.log10(Math.min(...xs)) - 0.3), high = 10 ** Math.ceil(Math.log10(Math.max(...xs)) + 0.3);
  const least = 10 ** Math.floor(Math.log10(Math.min(...positive.map((p) => p.share), 0.1)));
  const x = (v) => left + (Math.log10(v / low) / Math.log10(high / low)) * (W - left - right);
  const y = (v) => H - bottom - (Math.log10(Math.max(v, least) / least) / Math.log10(1 / least)) * (H - top - bottom);
  const svg = drawn("svg", { viewBox: `0 0 ${W} ${H}`, class: "roofline", role: "img", "aria-label": "Roofline: share of the peak over computation for each byte" });
  for (let decade = least; decade <= 1.0001; decade *= 10) {
    svg.append(drawn("line", { x1: left, x2: W - right, y1: y(decade), y2: y(decade), class: "grid" }),
      written(left - 6, y(decade) + 4, `${Math.round(1000 * decade) / 10} %`, { "text-anchor": "end" }));
  }
  for (let decade = low; decade <= high * 1.0001; decade *= 10) {
    svg.append(written(x(decade), H - bottom + 16, decade.toPrecision(1).replace(/e([+-]\d)/, "e$1"), { "text-anchor": "middle" }));
  }
  svg.append(written(W - right, H - 4, "cycles of computation for each byte", { "text-anchor": "end" }));
  const foot = Math.max(low, least / bandwidth);
  svg.append(drawn("path", { class: "roof", d: `M ${x(foot)} ${y(foot * bandwidth)} L ${x(ridge)} ${y(1)} L ${x(high)} ${y(1)}` }));
  const middle = (x(foot) + x(ridge)) / 2, beside = (y(foot * bandwidth) + y(1)) / 2;
  svg.append(written(x(ridge) + 6, y(1) + 14, "peak of the unit"), written(middle + 12, beside + 18, `copies: ${count(Math.round(bandwidth))} B a cycle`));
  for (const p of positive) {
    const cx = x(p.intensity), cy = y(p.share), whole = p.line === null, kind = `point ${whole ? "whole" : ""}`, style = `--pipe:var(--${p.pipe})`;
    const title = drawn("title", {}, `${p.name}${p.line ? `, line ${p.line}` : ""}: ${(100 * p.share).toFixed(1)} % of the peak of ${p.pipe}, ${p.intensity.toPrecision(3)} cycles for each byte`);
    const mark = p.pipe === "M" ? drawn("rect", { x: cx - 5, y: cy - 5, width: 10, height: 10, class: kind, style }, title)
      : drawn("circle", { cx, cy, r: whole ? 6 : 4.5, class: kind, style }, title);
    svg.append(mark);
    if (whole) svg.append(written(Math.min(cx + 10, W - 90), cy - 8, `kernel (${p.pipe})`));
  }
  const table = element("table", {}, head("what", "line*", "unit", "of the peak*", "cycles / byte*"));
  for (const p of points) {
    table.append(element("tr", {}, element("td", {}, p.name.replace("pto.", "")), element("td", { class: "number" }, lineButton(p.line)), pipeCell(p.pipe),
      number(share(p.share, 1)), number(p.intensity.toPrecision(3))));
  }
  panel("Roofline", svg, element("p", { class: "quiet" }, "● vector issue, ■ cube; filled: the kernel, else a line against the bytes it touches. Left of the ridge copies are the limit."),
    wide(table, true));
};

const fillUnits = () => {
  if (!D.units.length) return;
  const table = element("table", {}, head("unit", "busy*", "of the time in scopes*", "(bar)"));
  const most = Math.max(...D.units.map(([, busy]) => busy));
  for (const [name, busy, part] of D.units) {
    table.append(element("tr", {}, element("td", {}, name), number(count(busy)), number(share(part, 1)),
      element("td", { style: "width:32%" }, stack([[busy, "background:var(--V)", name]], most))));
  }
  panel("Units of the vector core", wide(table));
};

// Each instruction of vector scopes with the share of its lanes that took part; the rest is wasted, often by a tail.
const fillInstructions = () => {
  if (!D.instructions.length) return;
  const table = element("table", {}, head("instruction", "line*", "times*", "lanes used*", "(bar)"));
  for (const [line, name, times, used] of D.instructions) {
    table.append(element("tr", {}, element("td", {}, name), element("td", { class: "number" }, lineButton(line)), number(count(times)),
      number(share(used, 1)), element("td", { style: "width:26%" }, stack([[used, "background:var(--V)", "lanes used"]], 1))));
  }
  panel("Instructions of the vector core", wide(table, true));
};

// One strip for each argument, one row for each block: reads are hollow, writes are filled.
const fillAccess = () => {
  if (!D.access.length) return;
  const names = [...new Set(D.access.map(([name]) => name))];
  const parts = names.map((name) => {
    const mine = D.access.filter(([other]) => other === name);
    const blocks = [...new Set(mine.map(([, block]) => block))].sort((a, b) => a - b);
    const end = Math.max(...mine.map(([, , , , high]) => high)), W = 460, row = blocks.length > 12 ? 6 : 12, H = blocks.length * row + 18;
    const svg = drawn("svg", { viewBox: `0 0 ${W} ${H}`, class: "access", role: "img", "aria-label": `Bytes of ${name} by block` });
    for (const [, block, writes, low, high] of mine) {
      const x = (low / end) * W, width = Math.max(1, ((high - low) / end) * W), y = blocks.indexOf(block) * row;
      svg.append(drawn("rect", { x, y: y + 1, width, height: row - 2, class: writes ? "wrote" : "read" },
        drawn("title", {}, `block ${block} ${writes ? "writes" : "reads"} bytes ${count(low)} to ${count(high - 1)} of ${name}`)));
    }
    svg.append(written(0, H - 4, "0"), written(W, H - 4, bytes(end), { "text-anchor": "end" }));
    return element("div", {}, element("h3", {}, `${name}`, element("span", { class: "quiet" }, `${blocks.length} block${blocks.length === 1 ? "" : "s"}`)), svg);
  });
  panel("GM by block", element("p", { class: "quiet" }, "Hollow: read. Filled: written. As far as copies tell."), ...parts);
};

// Lines and events by a part of their text; Enter goes to the next.
const search = byId("search");
const found = () => {
  const wanted = search.value.trim().toLowerCase();
  for (const [line, row] of lineRows) row.classList.toggle("match", Boolean(wanted) && sourceLines[line - 1].toLowerCase().includes(wanted));
  return wanted ? ordered().filter((i) => siteName(rows.site[i]).toLowerCase().includes(wanted) || String(siteLine(rows.site[i])) === wanted) : [];
};
search.addEventListener("input", () => {
  const events = found();
  const lines = [...lineRows.values()].filter((row) => row.classList.contains("match"));
  byId("hits").textContent = search.value.trim() ? `${many(lines.length, "line")}, ${many(events.length, "event")}` : "";
  if (lines.length) showLine(lines[0]);
});
search.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { search.value = ""; search.dispatchEvent(new Event("input")); timeline.focus(); }
  if (event.key !== "Enter") return;
  const events = found(), here = events.indexOf(state.selected);
  if (events.length) select(events[(here + (event.shiftKey ? events.length - 1 : 1)) % events.length]);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && !/INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) { event.preventDefault(); search.focus(); }
});
