"""Random kernels: loops, branches, copies, flags that may come late, vector scopes with masks and unaligned streams.

Most of them race, and some wait for ever. In the program schedule both engines still have to do the same.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

GM_BYTES = 16384
UB_BYTES = 16384
PIPES = ("MTE2", "V", "MTE3", "S")


class Program:
    """The text of one kernel, written line by line."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []
        self.depth = 1
        self.names = 0
        self.indices = ["%block", "%n"]  # values of type index that may be used here
        self.flags: list[tuple[str, str, int]] = []  # set and not yet waited for, in the order of the text
        self.write()

    # --- text ---------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def fresh(self, stem: str = "v") -> str:
        self.names += 1
        return f"%{stem}{self.names}"

    @contextmanager
    def block(self, opening: str, closing: str = "}") -> Iterator[None]:
        self.line(opening)
        known = list(self.indices)
        self.depth += 1
        yield
        self.depth -= 1
        self.indices = known
        self.line(closing)

    def constant(self, number: int | float, type_: str = "index") -> str:
        name = self.fresh("c")
        self.line(f"{name} = arith.constant {number} : {type_}")
        return name

    def index(self, step: int, limit: int) -> str:
        """A multiple of `step` below `limit`, from some value that is known here."""
        value, count = self.random.choice(self.indices), limit // step
        scaled, kept, moved = self.fresh(), self.fresh(), self.fresh()
        self.line(f"{scaled} = arith.addi {value}, {self.constant(self.random.randrange(count))} : index")
        self.line(f"{kept} = arith.remui {scaled}, {self.constant(count)} : index")
        self.line(f"{moved} = arith.muli {kept}, {self.constant(step)} : index")
        return moved

    def integer(self, value: str, type_: str = "i64") -> str:
        name = self.fresh()
        self.line(f"{name} = arith.index_cast {value} : index to {type_}")
        return name

    def pointer(self, type_: str, step: int = 32, size: int = 2048) -> str:
        """A place in UB with `size` bytes behind it."""
        name = self.fresh("p")
        place = self.integer(self.index(step, UB_BYTES - size))
        self.line(f"{name} = pto.castptr {place} : i64 -> !pto.ptr<{type_}, ub>")
        return name

    # --- the kernel ---------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def write(self) -> None:
        arguments = "%x: !pto.ptr<ui8, gm>, %y: !pto.ptr<ui8, gm>, %count: i32, %scale: f32"
        with self.block(f"func.func @k({arguments}) attributes {{pto.kernel}} {{"):
            self.line("%block_i64 = pto.get_block_idx")
            self.line("%block = arith.index_cast %block_i64 : i64 to index")
            self.line("%n = arith.index_cast %count : i32 to index")
            self.load()
            for _ in range(self.random.randint(4, 12)):
                self.statement(3)
            self.drain()
            self.line("pto.barrier #pto.pipe<PIPE_ALL>")
            self.store()
            self.line("pto.barrier #pto.pipe<PIPE_ALL>")
            self.line("return")

    def statement(self, deeper: int) -> None:
        choices: list[Callable[[], None]] = [self.load, self.store, self.scope, self.scope, self.pair, self.late]
        choices += [self.scalars, self.barrier, self.buffer]
        if deeper:
            choices += [lambda: self.loop(deeper - 1), lambda: self.branch(deeper - 1)]
        self.random.choice(choices)()

    def loop(self, deeper: int) -> None:
        index, carried, result = self.fresh("i"), self.fresh("a"), self.fresh("r")
        low, high, step = (self.constant(self.random.randint(*bounds)) for bounds in ((0, 2), (0, 4), (1, 2)))
        start = self.random.choice(self.indices)
        head = f"{result} = scf.for {index} = {low} to {high} step {step} iter_args({carried} = {start}) -> (index) {{"
        before = list(self.flags)
        with self.block(head):
            self.indices += [index, carried]
            for _ in range(self.random.randint(1, 3)):
                self.statement(deeper)
            self.line(f"scf.yield {self.random.choice(self.indices)} : index")
        self.flags = before
        self.indices.append(result)

    def branch(self, deeper: int) -> None:
        condition = self.fresh()
        order = self.random.choice(["eq", "slt", "uge"])
        first, second = self.random.choice(self.indices), self.constant(self.random.randint(0, 3))
        self.line(f"{condition} = arith.cmpi {order}, {first}, {second} : index")
        before = list(self.flags)
        with self.block(f"scf.if {condition} {{", "} else {"):
            self.statement(deeper)
        self.depth += 1
        self.flags = list(before)
        known = list(self.indices)
        if self.random.random() < 0.5:
            self.statement(deeper)
        self.indices, self.flags = known, before
        self.depth -= 1
        self.line("}")

    # --- pipes --------------------------------------------------------------------------------------------------

    def load(self) -> None:
        source, dest = self.fresh(), self.pointer("ui8")
        self.line(
            f"{source} = pto.addptr %x, {self.index(16, GM_BYTES - 4096)} : !pto.ptr<ui8, gm> -> !pto.ptr<ui8, gm>"
        )
        zero = self.constant(0, "i64")
        length, count, stride = self.sizes()
        self.line(f"pto.mte_gm_ub {source}, {dest}, {zero}, {length} nburst({count}, {length}, {stride})")
        self.line("  : !pto.ptr<ui8, gm>, !pto.ptr<ui8, ub>, i64, i64, i64, i64, i64")

    def store(self) -> None:
        source, dest = self.pointer("ui8"), self.fresh()
        self.line(f"{dest} = pto.addptr %y, {self.index(16, GM_BYTES - 4096)} : !pto.ptr<ui8, gm> -> !pto.ptr<ui8, gm>")
        length, count, stride = self.sizes()
        self.line(f"pto.mte_ub_gm {source}, {dest}, {length} nburst({count}, {stride}, {length})")
        self.line("  : !pto.ptr<ui8, ub>, !pto.ptr<ui8, gm>, i64, i64, i64, i64")

    def sizes(self) -> tuple[str, str, str]:
        """Length, count and UB stride of rows that fit 2048 bytes."""
        length, count = self.random.choice([1, 20, 64, 100, 256, 500]), self.random.randint(1, 4)
        stride = 32 * self.random.randint((length + 31) // 32, 16)
        return self.constant(length, "i64"), self.constant(count, "i64"), self.constant(stride, "i64")

    def pair(self) -> None:
        """A set and its wait."""
        source, destination = self.random.sample(PIPES, 2)
        event = self.random.randrange(4)
        self.flag("set", source, destination, event)
        if self.random.random() < 0.7:
            self.flag("wait", source, destination, event)
        else:
            self.flags.append((source, destination, event))

    def late(self) -> None:
        """A wait whose set comes a few statements later, if it comes; never one that would stop the scalar unit."""
        source, destination = self.random.sample(PIPES[:3], 2)
        event = self.random.randrange(4, 8)
        self.flag("wait", source, destination, event)
        for _ in range(self.random.randint(0, 2)):
            self.statement(0)
        if self.random.random() < 0.95:
            self.flag("set", source, destination, event)

    def flag(self, verb: str, source: str, destination: str, event: int) -> None:
        if self.random.random() < 0.3:
            number = self.constant(event)
            self.line(f'pto.{verb}_flag_dyn["PIPE_{source}", "PIPE_{destination}", {number}]')
        else:
            self.line(f'pto.{verb}_flag["PIPE_{source}", "PIPE_{destination}", "EVENT_ID{event}"]')

    def drain(self) -> None:
        for source, destination, event in self.flags:
            self.flag("wait", source, destination, event)

    def barrier(self) -> None:
        self.line(f"pto.barrier #pto.pipe<PIPE_{self.random.choice(['MTE2', 'V', 'MTE3', 'ALL'])}>")

    def buffer(self) -> None:
        pipe, number = self.random.choice(PIPES[:3]), self.random.randrange(8)
        self.line(f'pto.get_buf "PIPE_{pipe}", {number}, 0')
        if pipe == "V":
            self.scope()
        elif pipe == "MTE2":
            self.load()
        else:
            self.store()
        self.line(f'pto.rls_buf "PIPE_{pipe}", {number}, 0')

    def scalars(self) -> None:
        """The scalar unit looks at UB and changes it."""
        pointer, value, changed = self.pointer("i32"), self.fresh(), self.fresh()
        zero = self.constant(0)
        self.line(f"{value} = pto.load_scalar {pointer}[{zero}] : !pto.ptr<i32, ub> -> i32")
        operation = self.random.choice(["addi", "muli", "xori", "shli", "maxsi", "minui"])
        self.line(f"{changed} = arith.{operation} {value}, %count : i32")
        self.line(f"pto.store_scalar {changed}, {pointer}[{zero}] : !pto.ptr<i32, ub>, i32")

    # --- vector scopes ------------------------------------------------------------------------------------------

    def scope(self) -> None:
        with self.block("pto.vecscope {"):
            Scope(self, self.random.choice(["f32", "i32", "f16", "i16", "ui8"]))


class Scope:
    """The body of a vector scope that computes on one element type."""

    FLOATS = ("vadd", "vsub", "vmul", "vmax", "vmin")
    INTEGERS = (*FLOATS, "vand", "vor", "vxor")

    def __init__(self, program: Program, element: str) -> None:
        self.p = program
        self.random = program.random
        self.element = element
        width = {"f32": 4, "i32": 4, "f16": 2, "i16": 2, "ui8": 1}[element]
        self.lanes = 256 // width
        self.granularity = f"b{8 * width}"
        self.vreg = f"!pto.vreg<{self.lanes}x{element}>"
        self.mask = f"!pto.mask<{self.granularity}>"
        self.registers: list[str] = []
        self.masks: list[str] = []
        self.make_mask()
        self.load()
        for _ in range(self.random.randint(2, 8)):
            self.statement(2)
        self.store()

    def statement(self, deeper: int) -> None:
        choices = [self.load, self.store, self.compute, self.compute, self.compare, self.make_mask, self.stream]
        if deeper:
            choices += [lambda: self.loop(deeper - 1), lambda: self.branch(deeper - 1)]
        self.random.choice(choices)()

    def loop(self, deeper: int) -> None:
        p = self.p
        index, register, mask, left = (p.fresh(stem) for stem in "iamn")
        results = [p.fresh("r") for _ in range(3)]
        low, step = p.constant(0), p.constant(1)
        high = p.constant(self.random.randint(0, 4))
        start = [self.random.choice(self.registers), self.random.choice(self.masks), "%count"]
        carried = ", ".join(f"{name} = {value}" for name, value in zip((register, mask, left), start, strict=True))
        head = f"{', '.join(results)} = scf.for {index} = {low} to {high} step {step} iter_args({carried})"
        known = list(self.registers), list(self.masks)
        with p.block(f"{head} -> ({self.vreg}, {self.mask}, i32) {{"):
            p.indices.append(index)
            tail, rest = p.fresh("t"), p.fresh("n")
            p.line(f"{tail}, {rest} = pto.plt_{self.granularity} {left} : i32 -> {self.mask}, i32")
            self.registers.append(register)
            self.masks += [mask, tail]
            for _ in range(self.random.randint(1, 3)):
                self.statement(deeper)
            ends = f"{self.random.choice(self.registers)}, {self.random.choice(self.masks)}, {rest}"
            p.line(f"scf.yield {ends} : {self.vreg}, {self.mask}, i32")
        self.registers, self.masks = known
        self.registers.append(results[0])
        self.masks.append(results[1])

    def branch(self, deeper: int) -> None:
        p = self.p
        condition, register, mask = (p.fresh() for _ in range(3))
        p.line(f"{condition} = arith.cmpi slt, {self.random.choice(p.indices)}, {p.constant(2)} : index")
        known = list(self.registers), list(self.masks)
        with p.block(f"{register}, {mask} = scf.if {condition} -> ({self.vreg}, {self.mask}) {{", "} else {"):
            self.statement(deeper)
            self.yielded()
        self.registers, self.masks = (list(values) for values in known)
        p.depth += 1
        indices = list(p.indices)
        self.statement(deeper)
        self.yielded()
        p.indices = indices
        p.depth -= 1
        p.line("}")
        self.registers, self.masks = known
        self.registers.append(register)
        self.masks.append(mask)

    def yielded(self) -> None:
        values = f"{self.random.choice(self.registers)}, {self.random.choice(self.masks)}"
        self.p.line(f"scf.yield {values} : {self.vreg}, {self.mask}")

    def load(self) -> None:
        p, name = self.p, self.p.fresh("x")
        pointer = p.pointer(self.element)
        zero = p.constant(0)
        how = self.random.choice(["", "", ' {dist = "BRC_B32"}', ' {dist = "UNPK_B16"}', ' {dist = "DS_B8"}'])
        p.line(f"{name} = pto.vlds {pointer}[{zero}]{how} : !pto.ptr<{self.element}, ub> -> {self.vreg}")
        self.registers.append(name)

    def store(self) -> None:
        p = self.p
        value, mask, zero = self.random.choice(self.registers), self.random.choice(self.masks), p.constant(0)
        pointer = p.pointer(self.element)
        p.line(f"pto.vsts {value}, {pointer}[{zero}], {mask} : {self.vreg}, !pto.ptr<{self.element}, ub>, {self.mask}")

    def compute(self) -> None:
        p, name = self.p, self.p.fresh("x")
        operations = self.FLOATS if self.element.startswith("f") else self.INTEGERS
        if self.element == "ui8":
            operations = ("vadd", "vsub", "vmax", "vmin", "vand", "vxor")
        a, b, mask = (self.random.choice(choices) for choices in (self.registers, self.registers, self.masks))
        kinds = f"{self.vreg}, {self.vreg}, {self.mask} -> {self.vreg}"
        if self.random.random() < 0.2:
            p.line(f"{name} = pto.vsel {a}, {b}, {mask} : {kinds}")
        else:
            p.line(f"{name} = pto.{self.random.choice(operations)} {a}, {b}, {mask} : {kinds}")
        self.registers.append(name)

    def compare(self) -> None:
        p, name = self.p, self.p.fresh("m")
        a, b, seed = (self.random.choice(choices) for choices in (self.registers, self.registers, self.masks))
        order = self.random.choice(["lt", "eq", "ge"])
        p.line(f'{name} = pto.vcmp {a}, {b}, {seed}, "{order}" : {self.vreg}, {self.vreg}, {self.mask} -> {self.mask}')
        self.masks.append(name)

    def make_mask(self) -> None:
        p, name = self.p, self.p.fresh("m")
        match self.random.randrange(4 if self.masks else 2):
            case 0:
                pattern = self.random.choice(["PAT_ALL", "PAT_M3", "PAT_VL8", "PAT_H", "PAT_ALLF"])
                p.line(f'{name} = pto.pset_{self.granularity} "{pattern}" : {self.mask}')
            case 1:
                left = p.fresh("n")
                p.line(f"{name}, {left} = pto.plt_{self.granularity} %count : i32 -> {self.mask}, i32")
            case 2:
                pointer, zero = p.pointer("ui8"), p.constant(0)
                p.line(f'{name} = pto.plds {pointer}[{zero}], "NORM" : !pto.ptr<ui8, ub>, index -> {self.mask}')
            case _:
                a, b, c = (self.random.choice(self.masks) for _ in range(3))
                word = self.random.choice(["pand", "por", "pxor"])
                p.line(f"{name} = pto.{word} {a}, {b}, {c} : {self.mask}, {self.mask}, {self.mask} -> {self.mask}")
        self.masks.append(name)

    def stream(self) -> None:
        """A few stores of any length, one behind the other, flushed at the end."""
        p = self.p
        pointer, align = p.pointer(self.element, 4), p.fresh("s")
        kind = f"!pto.ptr<{self.element}, ub>"
        p.line(f"{align} = pto.init_align : !pto.align")
        for _ in range(self.random.randint(1, 3)):
            count = p.constant(self.random.randint(0, min(64, self.lanes)), "i32")
            following, further = p.fresh("s"), p.fresh("p")
            value = self.random.choice(self.registers)
            p.line(f"{following}, {further} = pto.vstus {align}, {count}, {value}, {pointer}")
            p.line(f"  : !pto.align, i32, {self.vreg}, {kind} -> !pto.align, {kind}")
            align, pointer = following, further
        p.line(f"pto.vstas {align}, {pointer}, {p.constant(0, 'i32')} : !pto.align, {kind}, i32")
