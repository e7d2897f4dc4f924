// Pointer, keyboard, theme and address of the page; then everything is drawn for the first time.

const tip = byId("tip");

const describe = (i) => {
  const site = rows.site[i], line = siteLine(site), [, , names] = D.sites[site];
  const pairs = [["pipe", `${D.cores[rows.core[i]].name} ${D.pipes[rows.pipe[i]]}`],
    ["cycles", `${count(rows.end[i] - rows.start[i])}  (${count(rows.start[i])} to ${count(rows.end[i])})`]];
  if (rows.wait[i]) {
    const [cause, setLine] = D.causes[rows.detail[i]];
    pairs.push(["waits for", cause.replace("->", "→")]);
    if (setLine && setLine !== line) pairs.push(["released at", `line ${setLine}`]);
  } else if (rows.detail[i] >= 0) {
    const titles = { limit: "limited by", path: "trips, branches" };
    for (const [name, fact] of D.functions[rows.detail[i]]) if (fact) pairs.push([titles[name] || name, fact]);
  }
  if (rows.bytes[i]) pairs.push(["bytes", `${count(rows.bytes[i])}  (${(rows.bytes[i] / Math.max(1, rows.end[i] - rows.start[i])).toFixed(1)} per cycle)`]);
  if (rows.arguments[i]) names.forEach((name, k) => pairs.push([name.replaceAll("_", " "), String(rows.arguments[i][k])]));
  if (rows.critical[i]) pairs.push(["", "on the critical path"]);
  return { title: `${barName(i)}${line ? `, line ${line}` : ""}`, pairs, code: line ? sourceLines[line - 1].trim() : "" };
};

const showTip = (about, x, y) => {
  tip.replaceChildren(element("b", {}, about.title),
    element("dl", {}, ...about.pairs.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
    about.code ? element("code", {}, about.code) : "");
  tip.hidden = false;
  const left = Math.min(x + 14, window.innerWidth - tip.offsetWidth - 8);
  const below = y + 16 + tip.offsetHeight < window.innerHeight;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${Math.max(8, below ? y + 16 : y - tip.offsetHeight - 12)}px`;
};
const hideTip = () => { tip.hidden = true; };

// Where an event is on the screen, for those who come by keyboard.
const placeOf = (i) => {
  const box = timeline.getBoundingClientRect(), s = scale(timeline.clientWidth);
  const y = layout().places.get(trackAt(rows.core[i], rows.pipe[i])) ?? 0;
  return [box.left + Math.max(s.gutter, s.x(rows.start[i])), box.top + y + BAR - scroll.scrollTop];
};

const select = (i) => {
  state.selected = i;
  if (i < 0) { hideTip(); changed(); return; }
  if (rows.end[i] < state.from || rows.start[i] > state.to) {
    const half = (state.to - state.from) / 2, centre = (rows.start[i] + rows.end[i]) / 2;
    view(centre - half, centre + half);
  }
  const lay = layout(), y = lay.places.get(trackAt(rows.core[i], rows.pipe[i]));
  if (y !== undefined && (y - AXIS < scroll.scrollTop || y + STEP > scroll.scrollTop + scroll.clientHeight)) scroll.scrollTop = y - 3 * STEP;
  const about = describe(i), line = siteLine(rows.site[i]);
  byId("announce").textContent = `${about.title}: ${about.pairs.map((pair) => pair.join(" ")).join(", ")}`;
  if (line && lineRows.get(line)) showLine(lineRows.get(line));
  showTip(about, ...placeOf(i));
  changed();
};

// --- pointer --------------------------------------------------------------------------------------------------------------

const fingers = new Map();
let pressed = null;

timeline.addEventListener("pointerdown", (event) => {
  fingers.set(event.pointerId, event.offsetX);
  if (event.pointerType !== "touch") timeline.setPointerCapture(event.pointerId);
  pressed = { x: event.offsetX, from: state.from, to: state.to, moved: false };
});
timeline.addEventListener("pointermove", (event) => {
  const s = scale(timeline.clientWidth);
  if (fingers.size === 2 && fingers.has(event.pointerId)) {
    const spread = () => { const [a, b] = [...fingers.values()]; return Math.max(12, Math.abs(a - b)); };
    const before = spread();
    fingers.set(event.pointerId, event.offsetX);
    zoom(before / spread(), s.cycle([...fingers.values()].reduce((a, b) => a + b) / 2));
    return;
  }
  if (pressed && fingers.has(event.pointerId)) {
    const shift = event.offsetX - pressed.x;
    if (Math.abs(shift) > 3) pressed.moved = true;
    if (pressed.moved) {
      timeline.classList.add("moving");
      const cycles = (-shift / s.room) * (pressed.to - pressed.from);
      view(pressed.from + cycles, pressed.to + cycles);
      hideTip();
      return;
    }
  }
  const i = rowAt(event.offsetX, event.offsetY);
  if (i !== state.hover) { state.hover = i; changed(); }
  if (i >= 0) showTip(describe(i), event.clientX, event.clientY); else hideTip();
});
const release = (event) => {
  fingers.delete(event.pointerId);
  timeline.classList.remove("moving");
  if (pressed && !pressed.moved && event.type === "pointerup") {
    const i = rowAt(event.offsetX, event.offsetY);
    select(i);
    if (i >= 0) showTip(describe(i), event.clientX, event.clientY);
  }
  pressed = null;
};
timeline.addEventListener("pointerup", release);
timeline.addEventListener("pointercancel", release);
timeline.addEventListener("pointerleave", () => { state.hover = -1; hideTip(); changed(); });
timeline.addEventListener("dblclick", (event) => zoom(0.4, scale(timeline.clientWidth).cycle(event.offsetX)));
timeline.addEventListener("wheel", (event) => {
  if (!event.ctrlKey && !event.metaKey) {
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) { event.preventDefault(); move((event.deltaX / scale(timeline.clientWidth).room) * (state.to - state.from)); }
    return;
  }
  event.preventDefault();
  zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 120), scale(timeline.clientWidth).cycle(event.offsetX));
}, { passive: false });
scroll.addEventListener("scroll", changed);

memory.addEventListener("pointermove", (event) => {
  const at = memoryAt(event.offsetX, event.offsetY);
  if (!at) { hideTip(); return; }
  const where = at.high ? `${bytesName(at)}, bytes ${count(at.low)} to ${count(at.high - 1)}` : `byte ${count(at.low)}`;
  const about = at.row >= 0 ? describe(at.row) : { pairs: [], code: "" };
  showTip({ title: `${spaceTitle(at.space)} ${where}: ${at.what}`, pairs: at.row >= 0 ? [["by", about.title], ...about.pairs.slice(0, 2)] : [], code: about.code },
    event.clientX, event.clientY);
  if (state.hover !== at.row) { state.hover = at.row; changed(); }
});
memory.addEventListener("pointerleave", () => { state.hover = -1; hideTip(); changed(); });

const overviewTo = (event) => {
  const room = overview.clientWidth - GUTTER() - 6, half = (state.to - state.from) / 2;
  const centre = ((event.offsetX - GUTTER()) / room) * D.until;
  view(centre - half, centre + half);
};
overview.addEventListener("pointerdown", (event) => { overview.setPointerCapture(event.pointerId); overviewTo(event); });
overview.addEventListener("pointermove", (event) => { if (event.buttons) overviewTo(event); });

// --- keyboard -------------------------------------------------------------------------------------------------------------

const ordered = () => shownTracks().flatMap((t) => tracks[t].rows).sort((a, b) => rows.start[a] - rows.start[b] || a - b);
const neighbour = (step) => {
  const list = ordered();
  if (!list.length) return;
  const here = list.indexOf(state.selected);
  const next = here < 0 ? list.findIndex((i) => rows.end[i] >= state.from) : here + step;
  select(list[Math.max(0, Math.min(list.length - 1, next))]);
};
const KEYS = {
  ArrowLeft: () => move(-0.15 * (state.to - state.from)), ArrowRight: () => move(0.15 * (state.to - state.from)),
  ArrowUp: () => { scroll.scrollTop -= STEP; }, ArrowDown: () => { scroll.scrollTop += STEP; },
  "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), 0: () => view(0, D.until),
  n: () => neighbour(1), p: () => neighbour(-1), Escape: () => { state.line = 0; select(-1); },
  Enter: () => { if (state.selected >= 0) { const i = state.selected, room = 2 * (rows.end[i] - rows.start[i]) + 8; view(rows.start[i] - room, rows.end[i] + room); select(i); } },
};
timeline.addEventListener("keydown", (event) => {
  const act = KEYS[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
});

byId("zoom-in").addEventListener("click", () => zoom(0.6));
byId("zoom-out").addEventListener("click", () => zoom(1 / 0.6));
byId("zoom-fit").addEventListener("click", () => view(0, D.until));
byId("show-path").addEventListener("change", (event) => { state.path = event.target.checked; changed(); });
byId("show-arrows").addEventListener("change", (event) => { state.arrows = event.target.checked; changed(); });
if (D.cores.length > 1) {
  byId("core-choice").hidden = false;
  byId("core").append(element("option", { value: "-1" }, "all"), ...D.cores.map((core, i) => element("option", { value: i }, core.name)));
  byId("core").addEventListener("change", (event) => { state.core = Number(event.target.value); scroll.scrollTop = 0; changed(); });
}

// On paper everything is there: what scrolls is written out by the style sheet.
window.addEventListener("beforeprint", () => setTheme("light"));

// --- theme and address ----------------------------------------------------------------------------------------------------

const setTheme = (name) => {
  document.documentElement.dataset.theme = name;
  byId("theme").textContent = name === "dark" ? "light" : "dark";
  readPalette();
  changed();
};
byId("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));

// The part in sight and the chosen event are in the address, so that a link shows the same.
const writeAddress = () => {
  document.body.dataset.from = state.from.toFixed(1);
  document.body.dataset.to = state.to.toFixed(1);
  document.body.dataset.selected = String(state.selected);
  if (location.protocol !== "file:" && !location.protocol.startsWith("http")) return; // a frame has no address of its own
  const whole = state.from <= 0 && state.to >= D.until && state.selected < 0;
  const parts = `#from=${Math.round(state.from)}&to=${Math.round(state.to)}${state.selected >= 0 ? `&event=${state.selected}` : ""}`;
  history.replaceState(null, "", whole ? location.pathname + location.search : parts);
};
let writing = 0;
listeners.push(() => { clearTimeout(writing); writing = setTimeout(writeAddress, 120); });

const readAddress = () => {
  const wanted = new URLSearchParams(location.hash.slice(1));
  if (wanted.has("theme")) setTheme(wanted.get("theme"));
  if (wanted.has("from") && wanted.has("to")) view(Number(wanted.get("from")), Number(wanted.get("to")));
  const event = Number(wanted.get("event") ?? -1);
  if (event >= 0 && event < rows.length) select(event);
};

fillHeader();
fillBounds();
byId("legend").append(
  ...D.pipes.filter((_, pipe) => used.some((i) => tracks[i].pipe === pipe)).map((name) => element("span", {}, swatch(`--${name}`), name)),
  element("span", {}, swatch("--wait"), "waiting"));
if (withMemory.length) byId("memory-legend").append("solid: written, pale: read, ", swatch("--held"), "held until it is read");
fillFindings();
fillComparison();
fillAdvice();
fillPipes();
fillRoofline();
fillUnits();
fillInstructions();
fillRanks();
fillLinks();
fillSkews();
fillCopies();
fillFifos();
fillWaits();
fillPath();
fillTiles();
fillAccess();
fillSource();
fillFooter();
showHottest();
if (D.until < D.cycles) byId("cut").textContent = `Shown are the first ${count(D.until)} of ${count(D.cycles)} cycles; the trace has all.`;
setTheme(window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
window.addEventListener("resize", changed);
window.addEventListener("hashchange", readAddress);
new ResizeObserver(changed).observe(scroll);
requestAnimationFrame(() => {
  readAddress();
  for (const listener of listeners) listener();
  document.body.dataset.ready = String(Math.round(performance.now()));
});
