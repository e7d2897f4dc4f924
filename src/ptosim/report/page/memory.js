// The Unified Buffer of one core over time: which bytes are written, read, held until they are read, and free.

const memory = document.getElementById("memory");
const withMemory = [...new Set(lives.map((life) => life.core))].sort((a, b) => a - b);
const memoryCore = () => (state.core >= 0 && withMemory.includes(state.core) ? state.core : withMemory[0]);
const highest = new Map();
for (const life of lives) highest.set(life.core, Math.max(highest.get(life.core) || 0, life.high));

const MEMORY = 150;
const bytes = (number) => (number === 0 ? "0" : number % 1024 ? `${count(number)} B` : `${count(number / 1024)} KiB`);

const memoryScale = (core) => {
  const top = Math.ceil(highest.get(core) / 1024) * 1024;
  return { top, y: (address) => 4 + (address / top) * (MEMORY - 8), address: (y) => ((y - 4) / (MEMORY - 8)) * top };
};

// Steps of the scale: a power of two.
const memoryStep = (top) => 2 ** Math.max(5, Math.ceil(Math.log2(top / 5)));

const drawMemory = () => {
  const core = memoryCore();
  const { context, width } = pen(memory, MEMORY);
  const s = scale(width), m = memoryScale(core), right = s.gutter + s.room;
  context.fillStyle = palette.track;
  context.fillRect(s.gutter, 4, s.room, MEMORY - 8);
  context.font = FONT;
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (let address = 0; address <= m.top; address += memoryStep(m.top)) {
    context.fillStyle = palette.soft;
    context.fillText(bytes(address), s.gutter - 6, Math.min(Math.max(m.y(address), 7), MEMORY - 7));
    context.fillStyle = palette.rule;
    context.fillRect(s.gutter, Math.round(m.y(address)), s.room, 1);
  }
  const box = (from, to, low, high, colour, alpha) => {
    if (to < state.from || from > state.to) return;
    const x = Math.max(s.gutter, s.x(from)), y = m.y(low);
    context.fillStyle = colour;
    context.globalAlpha = alpha;
    context.fillRect(x, y + 0.5, Math.max(0.6, Math.min(right, s.x(to)) - x - 0.5), Math.max(1, m.y(high) - y - 1));
  };
  for (const life of lives) if (life.core === core) box(life.from, life.to, life.low, life.high, palette.held, 1);
  for (const t of touches) {
    const colour = palette[D.pipes[rows.pipe[t.row]]], faded = state.hover >= 0 && state.hover !== t.row ? 0.55 : 1;
    if (t.core === core) box(rows.start[t.row], rows.end[t.row], t.low, t.high, colour, faded * (t.writes ? 1 : 0.45));
  }
  context.globalAlpha = 1;
};

if (withMemory.length) {
  listeners.push(() => {
    document.getElementById("memory-core").textContent =
      `${D.cores.length > 1 ? `of ${D.cores[memoryCore()].name}, ` : ""}${bytes(highest.get(memoryCore()))} used of ${bytes(D.ub)}`;
    drawMemory();
  });
} else {
  document.getElementById("memory-part").hidden = true;
}

// What the bytes under the pointer are doing at that moment.
const memoryAt = (x, y) => {
  const s = scale(memory.clientWidth), core = memoryCore(), m = memoryScale(core);
  const moment = s.cycle(x), address = m.address(y);
  if (x < s.gutter || address < 0 || address >= m.top) return null;
  const inside = (low, high, from, to) => address >= low && address < high && moment >= from && moment < to;
  const touch = touches.find((t) => t.core === core && inside(t.low, t.high, rows.start[t.row], rows.end[t.row]));
  if (touch) return { what: touch.writes ? "written" : "read", low: touch.low, high: touch.high, row: touch.row };
  const life = lives.find((l) => l.core === core && inside(l.low, l.high, l.from, l.to));
  if (life) return { what: "held until it is read", low: life.low, high: life.high, row: -1 };
  return { what: "free", low: Math.floor(address / 32) * 32, high: 0, row: -1 };
};
