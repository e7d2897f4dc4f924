// The memories of one core over time, one strip each: which bytes are written, read, held until they are read, and free.

const memory = document.getElementById("memory");
const TITLES = { ub: "UB", l1: "L1", l0a: "L0A", l0b: "L0B", l0c: "L0C", bt: "BT", fb: "FB" };
const spaceTitle = (space) => TITLES[D.spaces[space]] || D.spaces[space].toUpperCase();
const strips = new Map(); // of each core the memories that it uses, with the end of the highest byte
for (const life of lives) {
  const own = strips.get(life.core) || new Map();
  own.set(life.space, Math.max(own.get(life.space) || 0, life.high));
  strips.set(life.core, own);
}
const withMemory = [...strips.keys()].sort((a, b) => a - b);
const memoryCore = () => (state.core >= 0 && strips.has(state.core) ? state.core : state.memory);
state.memory = withMemory[0];

const ALONE = 150, SHARED = 84, BETWEEN = 8;
const bytes = (number) => (number === 0 ? "0" : number % 1024 ? `${count(number)} B` : `${count(number / 1024)} KiB`);

// Where the strips of a core lie.
const stripsOf = (core) => {
  const all = [...strips.get(core)].sort(([a], [b]) => a - b), height = all.length > 1 ? SHARED : ALONE;
  return all.map(([space, high], number) => {
    const top = Math.max(32, Math.ceil(high / 1024) * 1024), begin = number * (height + BETWEEN) + 4, room = height - 8;
    return { space, high, top, begin, room, y: (address) => begin + (address / top) * room,
      address: (y) => ((y - begin) / room) * top };
  });
};

// Steps of the scale: a power of two.
const memoryStep = (top, room) => 2 ** Math.max(5, Math.ceil(Math.log2((top * 30) / room)));

const drawStrip = (context, s, core, strip, alone) => {
  const right = s.gutter + s.room, { top, room, begin } = strip;
  context.fillStyle = palette.track;
  context.fillRect(s.gutter, begin, s.room, room);
  context.textAlign = "right";
  for (let address = 0; address <= top; address += memoryStep(top, room)) {
    context.fillStyle = palette.soft;
    const y = Math.min(Math.max(strip.y(address), begin + 4), begin + room - 4);
    context.fillText(address === 0 && !alone ? spaceTitle(strip.space) : bytes(address), s.gutter - 6, y);
    context.fillStyle = palette.rule;
    context.fillRect(s.gutter, Math.round(strip.y(address)), s.room, 1);
  }
  const box = (from, to, low, high, colour, alpha) => {
    if (to < state.from || from > state.to) return;
    const x = Math.max(s.gutter, s.x(from)), y = strip.y(low);
    context.fillStyle = colour;
    context.globalAlpha = alpha;
    context.fillRect(x, y + 0.5, Math.max(0.6, Math.min(right, s.x(to)) - x - 0.5), Math.max(1, strip.y(high) - y - 1));
  };
  const here = (each) => each.core === core && each.space === strip.space;
  for (const life of lives) if (here(life)) box(life.from, life.to, life.low, life.high, palette.held, 1);
  for (const t of touches) {
    const colour = palette[D.pipes[rows.pipe[t.row]]], faded = state.hover >= 0 && state.hover !== t.row ? 0.55 : 1;
    if (here(t)) box(rows.start[t.row], rows.end[t.row], t.low, t.high, colour, faded * (t.writes ? 1 : 0.45));
  }
  context.globalAlpha = 1;
};

// The names of tiles and pointers stand at the right end, where each begins, as far as they do not cover each other.
const drawBufferNames = (context, s, strip) => {
  context.textAlign = "right";
  context.lineWidth = 3;
  context.strokeStyle = palette.panel;
  let free = strip.begin - 1;
  for (const buffer of buffers.filter((b) => b.space === strip.space && b.low < strip.top).sort((a, b) => a.low - b.low)) {
    const y = Math.max(strip.y(buffer.low) + 6, strip.begin + 6);
    if (y - 5 < free || y + 5 > strip.begin + strip.room + 4) continue;
    free = y + 6;
    context.strokeText(buffer.name, s.gutter + s.room - 3, y);
    context.fillStyle = palette.ink;
    context.fillText(buffer.name, s.gutter + s.room - 3, y);
  }
  context.lineWidth = 1;
};

const drawMemory = () => {
  const core = memoryCore(), all = stripsOf(core);
  const { context, width } = pen(memory, all.at(-1).begin + all.at(-1).room + 4);
  const s = scale(width);
  context.font = FONT;
  context.textBaseline = "middle";
  for (const strip of all) {
    drawStrip(context, s, core, strip, all.length === 1);
    drawBufferNames(context, s, strip);
  }
};

if (withMemory.length) {
  byId("memory-of").append(...withMemory.map((core) => element("option", { value: core }, D.cores[core].name)));
  byId("memory-of").hidden = withMemory.length < 2;
  byId("memory-of").addEventListener("change", (event) => { state.memory = Number(event.target.value); state.core = -1; byId("core").value = "-1"; changed(); });
  listeners.push(() => {
    byId("memory-of").value = String(memoryCore());
    byId("memory-used").textContent = stripsOf(memoryCore())
      .map(({ space, high }) => `${spaceTitle(space)} ${bytes(high)} of ${bytes(D.memories[D.spaces[space]] || high)}`).join(" · ");
    drawMemory();
  });
} else {
  byId("memory-part").hidden = true;
}

// What the bytes under the pointer are doing at that moment.
const memoryAt = (x, y) => {
  const s = scale(memory.clientWidth), core = memoryCore();
  const strip = stripsOf(core).find((each) => y >= each.begin && y < each.begin + each.room);
  if (!strip || x < s.gutter) return null;
  const moment = s.cycle(x), address = strip.address(y), space = strip.space;
  const inside = (each, from, to) => each.core === core && each.space === space && address >= each.low && address < each.high
    && moment >= from && moment < to;
  const touch = touches.find((t) => inside(t, rows.start[t.row], rows.end[t.row]));
  if (touch) return { what: touch.writes ? "written" : "read", space, low: touch.low, high: touch.high, row: touch.row };
  const life = lives.find((l) => inside(l, l.from, l.to));
  if (life) return { what: "held until it is read", space, low: life.low, high: life.high, row: -1 };
  return { what: "free", space, low: Math.floor(address / 32) * 32, high: 0, row: -1 };
};
