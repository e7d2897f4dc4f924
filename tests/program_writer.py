"""What random kernels are written with: lines, names, constants and pointers defined once, offsets in range."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

KINDS = ("f32", "i32", "f16", "i16", "ui8", "bf16", "ui16", "i8", "ui32")
BUFFERS = 8
BUFFER = 2048  # bytes of UB for each
REGION = 1024  # bytes of a GM argument for each block


@dataclass(frozen=True)
class Line:
    depth: int
    text: str
    sync: bool = False


@dataclass
class Writer:
    """Lines of a function body, with constants and UB pointers at its head."""

    random: random.Random
    head: dict[str, str] = field(default_factory=dict[str, str])
    lines: list[Line] = field(default_factory=list[Line])
    depth: int = 2
    names: int = 0
    indices: list[str] = field(default_factory=list[str])
    """Loop counters and other small numbers that are in reach, of type index."""

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"%{prefix}{self.names}"

    def say(self, text: str, sync: bool = False) -> None:
        self.lines.append(Line(self.depth, text, sync))

    def value(self, prefix: str, expression: str) -> str:
        name = self.fresh(prefix)
        self.say(f"{name} = {expression}")
        return name

    def constant(self, value: int | float | str, type_: str = "index") -> str:
        name = f"%c{value}_{type_}".replace("-", "m").replace(".", "p").replace("+", "")
        self.head.setdefault(name, f"{name} = arith.constant {value} : {type_}")
        return name

    def buffer(self, number: int, kind: str, shift: int = 0) -> str:
        """A pointer to one of the buffers in UB."""
        address = self.constant(number * BUFFER + shift, "i64")
        name = f"%ub_{number * BUFFER + shift}_{kind}"
        self.head.setdefault(name, f"{name} = pto.castptr {address} : i64 -> !pto.ptr<{kind}, ub>")
        return name

    @contextmanager
    def region(self, opening: str, closing: str = "}") -> Iterator[None]:
        reach = list(self.indices)
        if opening:
            self.say(opening)
        self.depth += 1
        yield
        self.depth -= 1
        self.say(closing)
        self.indices = reach

    @contextmanager
    def aside(self) -> Iterator[list[Line]]:
        """Lines that go to a list of their own."""
        before, self.lines = self.lines, []
        yield self.lines
        self.lines = before

    def offset(self, unit: int, room: int) -> str:
        """A number of elements, a multiple of `unit` and not above `room`: a constant, or from a loop counter."""
        most = max(room // unit, 0)
        start = self.random.randint(0, most)
        if not self.indices or self.chance(0.4):
            return self.constant(start * unit)
        counter = self.random.choice(self.indices)
        scaled = self.value("s", f"arith.muli {counter}, {self.constant(unit)} : index")
        bounded = self.value("r", f"arith.remui {scaled}, {self.constant((most + 1) * unit)} : index")
        return bounded


@dataclass(frozen=True)
class Shape:
    """The choices that hold for a whole kernel."""

    kinds: tuple[str, ...]
    sync: str  # "flags", "barriers", "buffers" or "mixed"
    shared: bool  # blocks do not keep to their own region
    spoilt: float  # how likely an address is wrong
