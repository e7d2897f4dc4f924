// The data as the page uses it: typed columns, tracks, and what belongs to a moment.

const D = JSON.parse(document.getElementById("data").textContent);

const sums = (differences) => {
  const values = new Float64Array(differences.length);
  let total = 0;
  for (let i = 0; i < values.length; i++) values[i] = total += differences[i];
  return values;
};

const rows = (() => {
  const r = D.rows;
  const start = sums(r.start);
  const end = start.map((from, i) => from + r.cycles[i]);
  return { ...r, start, end, length: start.length };
})();

// One track for each pipe of each core, with its rows in order of time.
const tracks = D.cores.flatMap((core, index) => core.pipes.map((pipe) => ({ core: index, pipe, rows: [], scalar: [] })));
const trackOf = new Map(tracks.map((track, i) => [track.core * 16 + track.pipe, i]));
const trackAt = (core, pipe) => trackOf.get(core * 16 + pipe);
for (let i = 0; i < rows.length; i++) tracks[trackAt(rows.core[i], rows.pipe[i])].rows.push(i);
for (let i = 0; i < D.scalar.length; i += 3) {
  const [core, from, cycles] = D.scalar.slice(i, i + 3);
  tracks[trackAt(core, 0)].scalar.push([from, from + cycles]);
}

// A signal that a pipe stood waiting for ends with that wait.
const waitsEnd = new Map();
for (let i = 0; i < rows.length; i++) if (rows.wait[i]) waitsEnd.set(`${trackAt(rows.core[i], rows.pipe[i])} ${rows.end[i]}`, i);

const signals = [];
for (let i = 0, time = 0; i < D.signals.length; i += 8) {
  const s = D.signals;
  time += s[i];
  signals.push({
    from: time, to: time + s[i + 4], source: trackAt(s[i + 1], s[i + 2]), sink: trackAt(s[i + 5], s[i + 6]),
    setSite: s[i + 3], waitSite: s[i + 7],
  });
}
for (const g of signals) {
  const [from, to] = [g.source, g.sink].map((track) => tracks[track].core);
  const hop = D.hops[from === to ? 0 : D.cores[from].rank === D.cores[to].rank ? 1 : 2];
  const wait = waitsEnd.get(`${g.sink} ${g.to}`);
  g.awaited = g.to - g.from === hop && wait !== undefined;
  g.critical = g.awaited && rows.critical[wait] === 1;
}

const path = [];
for (let i = 0, time = 0; i < D.path.length; i += 3) {
  const cycles = D.path[i + 2];
  path.push({ track: trackAt(D.path[i], D.path[i + 1]), from: time, to: time + cycles });
  time += cycles;
}

const touches = [];
for (let i = 0; i < D.touches.length; i += 6) {
  const [row, core, space, writes, low, length] = D.touches.slice(i, i + 6);
  touches.push({ row, core, space, writes, low, high: low + length });
}
const lives = [];
for (let i = 0; i < D.lives.length; i += 6) {
  const [core, space, low, length, from, cycles] = D.lives.slice(i, i + 6);
  lives.push({ core, space, low, high: low + length, from, to: from + cycles });
}

// The tiles and pointers that bytes on the chip are named by: a slot of a buffer has its number, other places an offset.
const buffers = D.buffers.map(([space, low, length, name]) => ({ space, low, high: low + length, name, starts: new Set() }));
const bufferAt = (space, at) => buffers.findLast((b) => b.space === space && at >= b.low && at < b.high);
for (const t of touches) bufferAt(t.space, t.low)?.starts.add(t.low);
const bytesName = ({ space, low, high }) => {
  const buffer = bufferAt(space, low);
  if (!buffer) return `${D.spaces[space]}[${low}]`;
  const offset = low - buffer.low;
  if (buffer.starts.size < 2) return buffer.name;
  return offset % (high - low) ? `${buffer.name} + ${offset}` : `${buffer.name}[${offset / (high - low)}]`;
};
const touchesOf = new Map();
for (const t of touches) touchesOf.set(t.row, [...(touchesOf.get(t.row) || []), t]);

const lineTimes = new Map(D.lines.map(([line, busy, critical, waiting, count]) => [line, { busy, critical, waiting, count }]));
const sourceLines = D.source.split("\n");

const count = (number) => number.toLocaleString("en-US");
const many = (number, name) => `${count(number)} ${name}${number === 1 ? "" : "s"}`;
const share = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)} %` : "–");
const siteName = (site) => D.sites[site][0];
const siteLine = (site) => D.sites[site][1];

// The first place in an ascending list of rows whose value is not below the given one.
const firstFrom = (list, value, at) => {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(list[middle]) < value) low = middle + 1; else high = middle;
  }
  return low;
};

// What is going on, and what the page looks at; whoever changes it calls `changed`.
const state = { from: 0, to: Math.max(1, D.until), hover: -1, selected: -1, line: 0, core: -1, path: true, arrows: true };
const listeners = [];
let pending = false;
const changed = () => {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => {
    pending = false;
    for (const listener of listeners) listener();
  });
};

const view = (from, to) => {
  const whole = Math.max(1, D.until);
  const width = Math.min(whole, Math.max(8, to - from));
  state.from = Math.max(0, Math.min(from, whole - width));
  state.to = state.from + width;
  changed();
};
const zoom = (factor, centre = (state.from + state.to) / 2) =>
  view(centre - (centre - state.from) * factor, centre + (state.to - centre) * factor);
const move = (cycles) => view(state.from + cycles, state.to + cycles);

const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
};

// Colours come from the style sheet, so that a canvas follows the theme.
let palette = {};
const readPalette = () => {
  const style = getComputedStyle(document.documentElement);
  const names = ["ground", "panel", "ink", "soft", "faint", "rule", "track", "wait", "critical", "mark", "focus", "onbar",
    "held", ...D.pipes];
  palette = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
};

// A canvas as large as its place on the screen, with a pen in CSS pixels.
const pen = (canvas, height) => {
  const width = canvas.parentElement.clientWidth, ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
};

const GUTTER = () => (window.innerWidth < 560 ? 46 : 74);
const FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
