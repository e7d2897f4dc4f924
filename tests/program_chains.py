"""Random kernels, outside of vector scopes: copies, scalar work, loops, conditionals, and the order among them.

Every action is on one pipe. `after` orders an action behind the one before it, so that an unspoilt chain has one
outcome; a loop or a conditional begins and ends with the pipe that its first action is on.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from program_scopes import scope
from program_writer import BUFFER, BUFFERS, REGION, Line, Shape, Writer
from ptosim.effects.element import ELEMENTS

UB_END = 253_952


@dataclass
class Chain:
    """Where a chain stands: the pipe of its last action, and the buffers that something was copied to."""

    writer: Writer
    shape: Shape
    last: str | None = None
    filled: set[int] = field(default_factory=set[int])

    def sync(self, source: str, destination: str) -> None:
        """What orders an action on one pipe behind an action on another."""
        writer = self.writer
        style = self.shape.sync
        if style == "mixed":
            style = writer.random.choice(("flags", "flags", "barriers"))
        if source == destination:
            if source in ("MTE2", "MTE3"):
                writer.say(f"pto.barrier #pto.pipe<PIPE_{source}>", sync=True)
        elif style == "flags" or (style == "buffers" and "S" in (source, destination)):
            set_flag, wait_flag = flags(writer, source, destination)
            writer.say(set_flag, sync=True)
            writer.say(wait_flag, sync=True)
        elif style == "barriers":
            writer.say("pto.barrier #pto.pipe<PIPE_ALL>", sync=True)

    def after(self, pipe: str) -> None:
        if self.last is not None:
            self.sync(self.last, pipe)
        self.last = pipe

    def bracketed(self, pipe: str, lines: list[Line]) -> None:
        """The lines of an action, between the taking and the giving back of a buffer where that is the style."""
        buffers = self.shape.sync == "buffers" and pipe != "S"
        if buffers:
            self.writer.say(f'pto.get_buf "PIPE_{pipe}", 5, 0', sync=True)
        self.writer.lines += lines
        if buffers:
            self.writer.say(f'pto.rls_buf "PIPE_{pipe}", 5, 0', sync=True)


def flags(writer: Writer, source: str, destination: str) -> tuple[str, str]:
    """A set and its wait, of one random event."""
    number = writer.random.randint(0, 3)
    if writer.chance(0.1):
        pair = f'"PIPE_{source}", "PIPE_{destination}", {writer.constant(number)}'
        return f"pto.set_flag_dyn[{pair}]", f"pto.wait_flag_dyn[{pair}]"
    pair = f'"PIPE_{source}", "PIPE_{destination}", "EVENT_ID{number}"'
    return f"pto.set_flag[{pair}]", f"pto.wait_flag[{pair}]"


def chain(writer: Writer, shape: Shape) -> None:
    """The body of a kernel."""
    state = Chain(writer, shape)
    for number in range(writer.random.randint(1, 2)):
        _simple(state, "MTE2", lambda number=number: load(state, buffer=number))
    for _ in range(writer.random.randint(1, 3)):
        writer.random.choice((steps, steps, loop, condition, pingpong))(state)
    for _ in range(writer.random.randint(1, 2)):
        _simple(state, "MTE3", lambda: store(state))


def steps(state: Chain, most: int = 3) -> None:
    """A few actions in a row; sometimes a copy is written behind the scope that waits for it."""
    for _ in range(state.writer.random.randint(1, most)):
        if state.shape.sync != "buffers" and state.writer.chance(0.15):
            _late(state)
        else:
            pipe, action = _action(state)
            _simple(state, pipe, action)


def _action(state: Chain) -> tuple[str, Callable[[], None]]:
    pipe = state.writer.random.choices(("MTE2", "V", "MTE3", "S", "UB"), (3, 5, 3, 1, 1))[0]
    actions = {"MTE2": load, "V": vector, "MTE3": store, "S": scalar, "UB": within}
    return "V" if pipe == "UB" else pipe, lambda: actions[pipe](state)


def _simple(state: Chain, pipe: str, action: Callable[[], None]) -> None:
    state.after(pipe)
    with state.writer.aside() as lines:
        action()
    state.bracketed(pipe, lines)


def _late(state: Chain) -> None:
    """The wait comes first, and what it waits for is issued behind it."""
    writer = state.writer
    source, destination = writer.random.choice((("MTE2", "V"), ("V", "MTE3"), ("MTE2", "MTE3"), ("MTE3", "MTE2")))
    state.after(source)
    actions = {"MTE2": load, "V": vector, "MTE3": store}
    with writer.aside() as first:
        actions[source](state)
    with writer.aside() as second:
        actions[destination](state)
    set_flag, wait_flag = flags(writer, source, destination)
    writer.say(wait_flag, sync=True)
    writer.lines += second + first
    writer.say(set_flag, sync=True)
    state.last = destination


def _nested(state: Chain, opening: str, counter: str | None = None, other: bool = False) -> None:
    """A chain in a region; it ends on the pipe on which it begins, and so does a region that is not entered.

    With `other` there is a second region, entered where the first is not.
    """
    writer = state.writer
    pipe = writer.random.choice(("MTE2", "V", "MTE3"))
    state.after(pipe)
    filled = set(state.filled)
    with writer.region(opening, "} else {" if other else "}"):
        _body(state, pipe, counter)
    if other:
        state.filled = set(filled)
        with writer.region(""):
            _body(state, pipe, counter)
    state.filled = filled


def _body(state: Chain, pipe: str, counter: str | None) -> None:
    writer = state.writer
    if counter:
        writer.indices.append(counter)
    steps(state, 2)
    if writer.depth < 5 and writer.chance(0.25):
        writer.random.choice((loop, condition))(state)
    state.after(pipe)


def loop(state: Chain) -> None:
    writer = state.writer
    counter = writer.fresh("i")
    low = writer.constant(writer.random.randint(0, 2))
    high = "%few" if writer.chance(0.2) else writer.constant(writer.random.randint(0, 5))
    step = writer.constant(writer.random.randint(1, 2))
    if writer.chance(0.6):
        _nested(state, f"scf.for {counter} = {low} to {high} step {step} {{", counter)
        return
    carried, result, after = writer.fresh("x"), writer.fresh("y"), writer.fresh("z")
    opening = f"{result} = scf.for {counter} = {low} to {high} step {step} iter_args({carried} = %few) -> (index) {{"
    _nested(state, opening, carried)
    closing = writer.lines.pop()
    operation = writer.random.choice(("addi", "muli", "xori", "maxsi", "subi"))
    writer.depth += 1
    writer.say(f"{after} = arith.{operation} {carried}, {counter} : index")
    writer.say(f"scf.yield {after} : index")
    writer.depth -= 1
    writer.lines.append(closing)
    writer.indices.append(writer.value("w", f"arith.andi {result}, {writer.constant(3)} : index"))


def condition(state: Chain) -> None:
    writer = state.writer
    subject = writer.random.choice(writer.indices)
    word = writer.random.choice(("eq", "ne", "slt", "uge"))
    bound = writer.constant(writer.random.randint(0, 2))
    decision = writer.value("p", f"arith.cmpi {word}, {subject}, {bound} : index")
    _nested(state, f"scf.if {decision} {{", other=writer.chance(0.4))


# --- actions ----------------------------------------------------------------------------------------------------------


def vector(state: Chain) -> None:
    readable = sorted(state.filled) or [0]
    state.filled |= scope(state.writer, readable)


def _gm(state: Chain, span: int) -> tuple[str, str]:
    """A pointer into an argument with `span` bytes behind it, and its element type."""
    writer = state.writer
    number = writer.random.randrange(len(state.shape.kinds))
    kind = state.shape.kinds[number]
    width = ELEMENTS[kind].bytes
    room = (REGION - span) // width
    offset = writer.constant(REGION * 5) if writer.chance(state.shape.spoilt) else writer.offset(1, room)
    place = writer.value("o", f"arith.addi %base{number}, {offset} : index")
    pointer = writer.value("g", f"pto.addptr %a{number}, {place} : !pto.ptr<{kind}, gm> -> !pto.ptr<{kind}, gm>")
    return pointer, kind


def _ub(state: Chain, buffer: int, kind: str) -> str:
    writer = state.writer
    if writer.chance(state.shape.spoilt):
        return writer.buffer(*writer.random.choice(((buffer, kind, 4), (0, kind, UB_END), (0, kind, 1 << 20))))
    return writer.buffer(buffer, kind)


@dataclass(frozen=True)
class Rows:
    """Rows of a copy, in bytes; `span` is what they take in GM."""

    count: int
    length: int
    gm_stride: int
    ub_stride: int

    @property
    def span(self) -> int:
        return (self.count - 1) * self.gm_stride + self.length


def _rows(state: Chain) -> Rows:
    source = state.writer.random
    count = source.choice((1, 1, 2, 3, 4))
    length = source.choice((4, 32, 36, 64, 100, 128, 200, 224))
    gm_stride = min(length + source.choice((0, 0, 4, 24)), (REGION - length) // max(count - 1, 1))
    return Rows(count, length, gm_stride, -(-length // 32) * 32 + source.choice((0, 0, 32)))


def load(state: Chain, buffer: int | None = None) -> None:
    writer = state.writer
    rows = Rows(1, REGION, REGION, REGION) if writer.chance(0.4) else _rows(state)
    buffer = writer.random.randrange(BUFFERS) if buffer is None else buffer
    pointer, kind = _gm(state, rows.span)
    ub = _ub(state, buffer, kind)
    i64 = [writer.constant(number, "i64") for number in (rows.length, rows.count, rows.gm_stride, rows.ub_stride)]
    text = f"{pointer}, {ub}, {writer.constant(0, 'i64')}, {i64[0]} nburst({', '.join(i64[1:])})"
    types = f"!pto.ptr<{kind}, gm>, !pto.ptr<{kind}, ub>, i64, i64, i64, i64, i64"
    if rows.count * rows.ub_stride * 2 <= BUFFER and writer.chance(0.15):
        step = rows.count * rows.ub_stride
        text += f" loop({', '.join(writer.constant(number, 'i64') for number in (2, 0, step))})"
        types += ", loop i64, i64, i64"
    if rows.length < rows.ub_stride and writer.chance(0.3):
        filling = writer.constant("1.5" if ELEMENTS[kind].is_float else 7, kind.replace("ui", "i"))
        right = writer.constant(min((rows.ub_stride - rows.length), 31) // ELEMENTS[kind].bytes, "i64")
        text += f" pad({filling}, {writer.constant(0, 'i64')}, {right})"
        types += f", pad {kind.replace('ui', 'i')}, i64, i64"
    writer.say(f"pto.mte_gm_ub {text} : {types}")
    state.filled.add(buffer)


def store(state: Chain) -> None:
    writer = state.writer
    rows = _rows(state)
    pointer, kind = _gm(state, rows.span)
    filled = sorted(state.filled)
    buffer = writer.random.choice(filled) if filled and writer.chance(0.95) else writer.random.randrange(BUFFERS)
    ub = _ub(state, buffer, kind)
    i64 = [writer.constant(number, "i64") for number in (rows.length, rows.count, rows.ub_stride, rows.gm_stride)]
    if writer.chance(0.1):
        count = writer.value("k", "arith.index_cast %few : index to i64")
        i64[1] = writer.value("k", f"arith.minsi {count}, {i64[1]} : i64")
    types = f"!pto.ptr<{kind}, ub>, !pto.ptr<{kind}, gm>, i64, i64, i64, i64"
    writer.say(f"pto.mte_ub_gm {ub}, {pointer}, {i64[0]} nburst({', '.join(i64[1:])}) : {types}")


def within(state: Chain) -> None:
    """A copy inside UB, which is on the vector pipe."""
    writer = state.writer
    source = writer.random.choice(sorted(state.filled) or [0])
    target = writer.random.choice([number for number in range(BUFFERS) if number != source])
    numbers = (writer.random.randint(1, 8), writer.random.randint(1, 3), 0, writer.random.randint(0, 1))
    length, *burst = (writer.constant(number, "i64") for number in numbers)
    pointers = f"{_ub(state, source, 'f32')}, {_ub(state, target, 'f32')}"
    writer.say(
        f"pto.mte_ub_ub {pointers}, {length} nburst({', '.join(burst)})"
        " : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64, i64, i64"
    )
    state.filled.add(target)


def scalar(state: Chain) -> None:
    """The scalar unit reads an element of UB, computes, and writes one."""
    writer = state.writer
    buffer = writer.random.choice(sorted(state.filled) or [0])
    pointer = writer.buffer(buffer, "i32")
    place = writer.offset(1, 15)
    value = writer.value("v", f"pto.load_scalar {pointer}[{place}] : !pto.ptr<i32, ub> -> i32")
    operation = writer.random.choice(("addi", "muli", "xori", "minsi", "shli"))
    operand = writer.constant(writer.random.randint(0, 20), "i32")
    result = writer.value("v", f"arith.{operation} {value}, {operand} : i32")
    if writer.chance(0.3):
        wide = writer.value("v", f"arith.extui {result} : i32 to i64")
        result = writer.value("v", f"arith.trunci {wide} : i64 to i32")
    if "i32" in state.shape.kinds and writer.chance(0.3):
        number = state.shape.kinds.index("i32")
        place = writer.value("o", f"arith.addi %base{number}, {writer.offset(1, REGION // 4 - 1)} : index")
        writer.say(f"pto.store_scalar {result}, %a{number}[{place}] : !pto.ptr<i32, gm>, i32")
    elif writer.chance(0.8):
        target = writer.buffer(writer.random.randrange(BUFFERS), "i32")
        writer.say(f"pto.store_scalar {result}, {target}[{writer.offset(1, 500)}] : !pto.ptr<i32, ub>, i32")


# --- a pipeline -------------------------------------------------------------------------------------------------------


def pingpong(state: Chain) -> None:
    """A loop over tiles with two input and two output buffers; flags primed before it and drained after it."""
    writer = state.writer
    state.after("V")
    writer.say("pto.barrier #pto.pipe<PIPE_ALL>", sync=True)
    for number in (0, 1):
        writer.say(f'pto.set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID{4 + number}"]', sync=True)
        writer.say(f'pto.set_flag["PIPE_MTE3", "PIPE_V", "EVENT_ID{4 + number}"]', sync=True)
    counter = writer.fresh("i")
    with writer.region(
        f"scf.for {counter} = {writer.constant(0)} to {writer.constant(writer.random.randint(1, 4))}"
        f" step {writer.constant(1)} {{"
    ):
        parity = writer.value("q", f"arith.remui {counter}, {writer.constant(2)} : index")
        flag = writer.value("q", f"arith.addi {parity}, {writer.constant(4)} : index")
        _tile(state, counter, parity, flag)
    for number in (0, 1):
        writer.say(f'pto.wait_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID{4 + number}"]', sync=True)
        writer.say(f'pto.wait_flag["PIPE_MTE3", "PIPE_V", "EVENT_ID{4 + number}"]', sync=True)
    writer.say("pto.barrier #pto.pipe<PIPE_ALL>", sync=True)


def _tile(state: Chain, counter: str, parity: str, flag: str) -> None:
    writer = state.writer
    kind = state.shape.kinds[0]
    target = len(state.shape.kinds) - 1
    out_kind = state.shape.kinds[target]
    width, out_width = ELEMENTS[kind].bytes, ELEMENTS[out_kind].bytes
    half = writer.value("h", f"arith.muli {parity}, {writer.constant(BUFFER // width)} : index")
    ub_in = writer.value("u", _advanced(writer.buffer(0, kind), half, kind, "ub"))
    place = writer.value("t", f"arith.muli {counter}, {writer.constant(256 // width)} : index")
    source = writer.value("o", f"arith.addi %base0, {place} : index")
    gm_in = writer.value("g", _advanced("%a0", source, kind, "gm"))
    length = writer.constant(256, "i64")
    burst = f"nburst({writer.constant(1, 'i64')}, {length}, {length})"

    def flagged(word: str, pipes: str) -> None:
        writer.say(f"pto.{word}_flag_dyn[{pipes}, {flag}]", sync=True)

    flagged("wait", '"PIPE_V", "PIPE_MTE2"')
    writer.say(
        f"pto.mte_gm_ub {gm_in}, {ub_in}, {writer.constant(0, 'i64')}, {length} {burst}"
        f" : !pto.ptr<{kind}, gm>, !pto.ptr<{kind}, ub>, i64, i64, i64, i64, i64"
    )
    flagged("set", '"PIPE_MTE2", "PIPE_V"')
    flagged("wait", '"PIPE_MTE2", "PIPE_V"')
    flagged("wait", '"PIPE_MTE3", "PIPE_V"')
    lanes = 256 // width
    type_, bits = f"!pto.vreg<{lanes}x{kind}>", 8 * width
    result, mask, register = writer.fresh("v"), writer.fresh("m"), writer.fresh("v")
    out = writer.value("h", f"arith.muli {parity}, {writer.constant(BUFFER // width)} : index")
    with writer.region("pto.vecscope {"):
        writer.say(f'{mask} = pto.pset_b{bits} "PAT_ALL" : !pto.mask<b{bits}>')
        writer.say(f"{register} = pto.vlds {ub_in}[{writer.constant(0)}] : !pto.ptr<{kind}, ub> -> {type_}")
        writer.say(
            f"{result} = pto.vmax {register}, {register}, {mask} : {type_}, {type_}, !pto.mask<b{bits}> -> {type_}"
        )
        writer.say(
            f"pto.vsts {result}, {writer.buffer(2, kind)}[{out}], {mask}"
            f" : {type_}, !pto.ptr<{kind}, ub>, !pto.mask<b{bits}>"
        )
    flagged("set", '"PIPE_V", "PIPE_MTE2"')
    flagged("set", '"PIPE_V", "PIPE_MTE3"')
    flagged("wait", '"PIPE_V", "PIPE_MTE3"')
    out_half = writer.value("h", f"arith.muli {parity}, {writer.constant(BUFFER // out_width)} : index")
    ub_out = writer.value("u", _advanced(writer.buffer(2, out_kind), out_half, out_kind, "ub"))
    goal = writer.value("t", f"arith.muli {counter}, {writer.constant(256 // out_width)} : index")
    goal = writer.value("o", f"arith.addi %base{target}, {goal} : index")
    gm_out = writer.value("g", _advanced(f"%a{target}", goal, out_kind, "gm"))
    writer.say(
        f"pto.mte_ub_gm {ub_out}, {gm_out}, {length} {burst}"
        f" : !pto.ptr<{out_kind}, ub>, !pto.ptr<{out_kind}, gm>, i64, i64, i64, i64"
    )
    flagged("set", '"PIPE_MTE3", "PIPE_V"')
    state.filled |= {0, 1, 2, 3}


def _advanced(pointer: str, by: str, kind: str, space: str) -> str:
    return f"pto.addptr {pointer}, {by} : !pto.ptr<{kind}, {space}> -> !pto.ptr<{kind}, {space}>"
