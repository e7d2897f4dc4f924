// The pipes over time: work as bars, waits hatched, signals as arrows, the critical path as a line through it all.

const AXIS = 20, BAR = 17, STEP = 21, HEAD = 19, TALLEST = 480;
const timeline = document.getElementById("timeline"), scroll = document.getElementById("scroll");
const spacer = document.getElementById("spacer");

// Tracks on which nothing ever happens are left out; those of a rank stand together.
const signalled = new Set(signals.flatMap((g) => [g.source, g.sink]));
const used = tracks.map((_, i) => i).filter((i) => tracks[i].rows.length || tracks[i].scalar.length || signalled.has(i))
  .sort((a, b) => D.cores[tracks[a].core].rank - D.cores[tracks[b].core].rank || a - b);
const shownTracks = () => used.filter((i) => state.core < 0 || tracks[i].core === state.core);

// Where each track lies, below the axis and scrolled with the panel.
const layout = () => {
  const places = new Map(), heads = [], ranks = [];
  const many = D.cores.length > 1;
  let y = AXIS, core = -1, rank = null;
  for (const i of shownTracks()) {
    if (tracks[i].core !== core) {
      core = tracks[i].core;
      if (D.cores[core].rank !== rank) { rank = D.cores[core].rank; ranks.push([rank, y]); y += HEAD; }
      if (many) { heads.push([core, y]); y += HEAD; }
    }
    places.set(i, y);
    y += STEP;
  }
  return { places, heads, ranks, height: y + 4 };
};

const scale = (width) => {
  const gutter = GUTTER(), span = state.to - state.from, room = width - gutter - 6;
  return { x: (cycle) => gutter + ((cycle - state.from) / span) * room, cycle: (x) => state.from + ((x - gutter) / room) * span,
    gutter, room };
};

const niceStep = (span, most) => {
  const rough = span / Math.max(1, most), power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
  return Math.max(1, [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) || power);
};

const hatching = (context) => {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const p = tile.getContext("2d");
  p.strokeStyle = palette.wait;
  p.lineWidth = 1.2;
  p.beginPath();
  for (const shift of [-6, 0, 6]) { p.moveTo(shift, 6); p.lineTo(shift + 6, 0); }
  p.stroke();
  return context.createPattern(tile, "repeat");
};

const drawAxis = (context, s, width, height) => {
  const step = niceStep(state.to - state.from, s.room / 90);
  context.font = FONT;
  context.textBaseline = "middle";
  context.textAlign = "center";
  for (let cycle = Math.ceil(state.from / step) * step; cycle <= state.to; cycle += step) {
    const x = Math.round(s.x(cycle)) + 0.5;
    context.strokeStyle = palette.rule;
    context.beginPath();
    context.moveTo(x, AXIS - 4);
    context.lineTo(x, height);
    context.stroke();
    context.fillStyle = palette.soft;
    context.fillText(count(cycle), Math.min(Math.max(x, s.gutter + 10), width - 16), 8);
  }
};

// What a bar moves or computes: what it reads and what it writes, by name; shorter where there is less room.
const SIGN = D.file.endsWith(".pto") ? "%" : ""; // of names in the text
const WRITING = new Set(["MTE3", "FIX"]);
const listed = (names) => [...new Set(names)].slice(0, 3).join(", ") + (new Set(names).size > 3 ? ", …" : "");
const sidesOf = (i) => {
  const onChip = touchesOf.get(i) || [], outside = (rows.arguments[i] || []).filter((value) => typeof value === "string")
    .map((value) => `${SIGN}${value.replace(/ \+ 0$/, "")}`);
  const writes = WRITING.has(D.pipes[rows.pipe[i]]);
  const side = (written) => [...(written === writes ? outside : []), ...onChip.filter((t) => Boolean(t.writes) === written).map(bytesName)];
  return [listed(side(false)), listed(side(true))];
};
const barNames = new Map();
const barName = (i) => {
  if (!barNames.has(i)) {
    const name = siteName(rows.site[i]), [source, dest] = sidesOf(i);
    barNames.set(i, dest ? `${name.split(" ")[0]}${source && ` ${source}`} → ${dest}` : name);
  }
  return barNames.get(i);
};

const label = (context, text, x, y, room) => {
  if (room < 26) return;
  for (const shorter of [text, text.replace(/ .* → /, " → "), text.split(" ")[0]]) {
    if (context.measureText(shorter).width + 8 < room) { context.fillText(shorter, x + 4, y + BAR / 2 + 0.5); return; }
  }
};

const drawTrack = (context, s, index, y, hatch) => {
  const track = tracks[index], list = track.rows, right = s.gutter + s.room;
  context.fillStyle = palette.track;
  context.fillRect(s.gutter, y, s.room, BAR);
  context.fillStyle = palette.S;
  for (const [from, to] of track.scalar) {
    if (to < state.from || from > state.to) continue;
    const x = Math.max(s.gutter, s.x(from));
    context.fillRect(x, y + 5, Math.max(0.7, Math.min(right, s.x(to)) - x), BAR - 10);
  }
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.font = FONT;
  let covered = -1; // the last pixel that work has filled: of many events inside one pixel one is drawn
  const first = Math.max(0, firstFrom(list, state.from, (i) => rows.end[i]));
  for (let k = first; k < list.length; k++) {
    const i = list[k];
    if (rows.start[i] > state.to) break;
    const x = Math.max(s.gutter, s.x(rows.start[i])), width = Math.min(right, s.x(rows.end[i])) - x;
    if (width < 0.6 && Math.floor(x) === covered) continue;
    covered = Math.floor(x);
    const dim = state.line && siteLine(rows.site[i]) !== state.line;
    context.globalAlpha = dim ? 0.22 : 1;
    if (rows.wait[i]) {
      context.fillStyle = hatch;
      context.fillRect(x, y + 2, Math.max(0.7, width), BAR - 4);
    } else {
      context.fillStyle = palette[D.pipes[track.pipe]];
      context.fillRect(x, y, Math.max(0.8, width - (width > 3 ? 0.6 : 0)), BAR);
      context.fillStyle = palette.onbar;
      label(context, barName(i), x, y, width);
    }
    context.globalAlpha = 1;
  }
};

const drawNames = (context, s, lay, height) => {
  context.fillStyle = palette.panel;
  context.fillRect(0, AXIS, s.gutter, height);
  context.font = FONT;
  context.textAlign = "left";
  context.textBaseline = "middle";
  for (const [core, y] of lay.heads) {
    context.fillStyle = palette.ink;
    const { name, rank } = D.cores[core];
    context.fillText(rank === null ? name : name.slice(name.indexOf(".") + 1), 0, y + HEAD / 2 + 2);
  }
  for (const [rank, y] of lay.ranks) {
    context.fillStyle = palette.rule;
    context.fillRect(0, y, s.gutter - 6, HEAD - 2);
    context.fillRect(0, y, s.gutter + s.room, 1);
    context.fillStyle = palette.ink;
    context.font = `600 ${FONT}`;
    context.fillText(`rank ${rank}`, 4, y + HEAD / 2);
    context.font = FONT;
  }
  for (const [index, y] of lay.places) {
    context.fillStyle = palette[D.pipes[tracks[index].pipe]];
    context.fillRect(D.cores.length > 1 ? 8 : 0, y + 4, 3, BAR - 8);
    context.fillStyle = palette.soft;
    context.fillText(D.pipes[tracks[index].pipe], D.cores.length > 1 ? 16 : 8, y + BAR / 2 + 0.5);
  }
};

const drawPath = (context, s, lay) => {
  context.strokeStyle = palette.critical;
  context.lineWidth = 2;
  context.beginPath();
  const first = Math.max(0, firstFrom(path, state.from, (step) => step.to) - 1);
  for (let k = first; k < path.length && path[k].from <= state.to; k++) {
    const y = lay.places.get(path[k].track);
    if (y === undefined) continue;
    const x = s.x(path[k].from), before = k > 0 ? lay.places.get(path[k - 1].track) : undefined;
    if (before === undefined) context.moveTo(x, y + BAR); else if (k === first) context.moveTo(x, y + BAR);
    else context.lineTo(x, y + BAR);
    context.lineTo(s.x(path[k].to), y + BAR);
  }
  context.stroke();
  context.lineWidth = 1;
};

const arrow = (context, x1, y1, x2, y2) => {
  const bend = Math.max(6, Math.min(26, Math.abs(x2 - x1) / 2 + 6));
  context.beginPath();
  context.moveTo(x1, y1);
  context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
  context.stroke();
  context.beginPath();
  context.moveTo(x2 + 0.5, y2);
  context.lineTo(x2 - 4, y2 - 2.6);
  context.lineTo(x2 - 4, y2 + 2.6);
  context.fill();
};

// All signals if they are few, else those that a pipe waited for, between cores, or on the critical path: the first kind
// that there is room for. Those of the event looked at are always there.
const signalsFor = (seen, room) => {
  if (!state.arrows) return [];
  if (seen.length <= room / 60) return seen;
  const kinds = [(g) => g.awaited, (g) => g.awaited && tracks[g.source].core !== tracks[g.sink].core, (g) => g.critical];
  for (const kind of kinds) {
    const chosen = seen.filter(kind);
    if (chosen.length && chosen.length <= room / 20) return chosen;
  }
  return [];
};

const drawSignals = (context, s, lay) => {
  const seen = signals.filter((g) => g.to >= state.from && g.from <= state.to && lay.places.has(g.source) && lay.places.has(g.sink));
  const focus = state.hover >= 0 ? state.hover : state.selected;
  const mine = focus < 0 ? [] : seen.filter((g) => touchesRow(g, focus));
  const draw = (list, colour, alpha) => {
    context.strokeStyle = context.fillStyle = colour;
    context.globalAlpha = alpha;
    for (const g of list) {
      arrow(context, s.x(g.from), lay.places.get(g.source) + BAR / 2, s.x(g.to), lay.places.get(g.sink) + BAR / 2);
    }
    context.globalAlpha = 1;
  };
  const chosen = signalsFor(seen, s.room);
  byId("signals-shown").textContent = state.arrows && chosen.length < seen.length ? `${count(chosen.length)} of ${count(seen.length)}` : "";
  draw(chosen, palette.ink, mine.length ? 0.2 : 0.55);
  draw(mine, palette.ink, 1);
};

// A signal belongs to the work it followed and to the wait or work that it let through.
const touchesRow = (g, row) => {
  const track = trackAt(rows.core[row], rows.pipe[row]);
  const out = g.source === track && rows.end[row] === g.from;
  return out || (g.sink === track && (rows.wait[row] ? rows.end[row] === g.to : Math.abs(rows.start[row] - g.to) < 1));
};

const frameRow = (context, s, lay, row, colour) => {
  const y = lay.places.get(trackAt(rows.core[row], rows.pipe[row]));
  if (y === undefined) return;
  const x = s.x(rows.start[row]);
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.strokeRect(x - 0.5, y - 1, Math.max(2, s.x(rows.end[row]) - x), BAR + 2);
  context.lineWidth = 1;
};

const drawTimeline = () => {
  const lay = layout();
  spacer.style.height = `${lay.height}px`;
  const { context, width, height } = pen(timeline, Math.min(lay.height, TALLEST));
  const s = scale(width), shift = scroll.scrollTop;
  drawAxis(context, s, width, height);
  context.save();
  context.beginPath();
  context.rect(0, AXIS, width, height - AXIS);
  context.clip();
  context.translate(0, -shift);
  const hatch = hatching(context);
  for (const [index, y] of lay.places) if (y + STEP > shift && y < shift + height) drawTrack(context, s, index, y, hatch);
  context.save();
  context.beginPath();
  context.rect(s.gutter, AXIS, s.room + 6, lay.height);
  context.clip();
  drawSignals(context, s, lay);
  if (state.path) drawPath(context, s, lay);
  if (state.selected >= 0) frameRow(context, s, lay, state.selected, palette.focus);
  if (state.hover >= 0) frameRow(context, s, lay, state.hover, palette.ink);
  context.restore();
  drawNames(context, s, lay, lay.height);
  context.restore();
};
listeners.push(drawTimeline);

// --- the whole run in one strip, with the part in sight -----------------------------------------------------------------

const overview = document.getElementById("overview");
listeners.push(() => {
  const { context, width, height } = pen(overview, 22);
  const gutter = GUTTER(), room = width - gutter - 6, x = (cycle) => gutter + (cycle / Math.max(1, D.until)) * room;
  context.fillStyle = palette.track;
  context.fillRect(gutter, 2, room, height - 4);
  for (const step of path) {
    context.fillStyle = palette[D.pipes[tracks[step.track].pipe]];
    context.fillRect(x(step.from), 5, Math.max(0.4, x(Math.min(step.to, D.until)) - x(step.from)), height - 10);
  }
  context.fillStyle = palette.panel;
  context.globalAlpha = 0.62;
  context.fillRect(gutter, 0, x(state.from) - gutter, height);
  context.fillRect(x(state.to), 0, gutter + room - x(state.to), height);
  context.globalAlpha = 1;
  context.strokeStyle = palette.soft;
  context.strokeRect(x(state.from) + 0.5, 0.5, Math.max(2, x(state.to) - x(state.from) - 1), height - 1);
});

// --- what is under the pointer --------------------------------------------------------------------------------------------

const rowAt = (x, y) => {
  const lay = layout(), s = scale(timeline.clientWidth), depth = y + scroll.scrollTop;
  if (x < s.gutter || y < AXIS) return -1;
  for (const [index, top] of lay.places) {
    if (depth < top - 1 || depth > top + STEP - 3) continue;
    const list = tracks[index].rows, slack = 3 * ((state.to - state.from) / s.room), moment = s.cycle(x);
    let best = -1, distance = slack;
    const near = firstFrom(list, moment, (i) => rows.start[i]);
    for (let k = Math.max(0, near - 3); k < Math.min(list.length, near + 2); k++) {
      const i = list[k], away = Math.max(rows.start[i] - moment, moment - rows.end[i], 0);
      if (away < distance || (away === 0 && distance === 0)) { best = i; distance = away; }
    }
    return best;
  }
  return -1;
};
