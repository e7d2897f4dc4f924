"""Random programs on logical vectors, and what they compute: an evaluator on arrays, one lane after the other.

The evaluator knows nothing of registers. Only the order of float sums is worked out by blocks of 32 bytes, as
the language says of it.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

DTYPES: dict[str, Any] = {
    **{f"{sign}i{bits}": f"u{bits // 8}" for sign in ("", "u") for bits in (8, 16, 32)},
    **{f"si{bits}": f"i{bits // 8}" for bits in (8, 16, 32)},
    "f16": "f2",
    "bf16": ml_dtypes.bfloat16,
    "f32": "f4",
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}
LANES = (1, 8, 64, 100, 128, 256, 300)
INTEGERS = [name for name in DTYPES if "i" in name]
FLOATS = ["f16", "bf16", "f32"]
OUT = 0x8000
"""Where a program stores what it computes."""

Array = NDArray[Any]


def size(kind: str) -> int:
    return np.dtype(DTYPES[kind]).itemsize


# --- what operations compute ------------------------------------------------------------------------------------------


def numbers(array: Array) -> Array:
    """Lanes to compute with: floats of 16 bits in f32."""
    return array.astype("f4") if array.dtype in (np.dtype("f2"), np.dtype(ml_dtypes.bfloat16)) else array


def rounded(values: Array, like: Array) -> Array:
    with np.errstate(all="ignore"):
        return values.astype(like.dtype)


BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vmul": lambda a, b: a * b,
    "vdiv": lambda a, b: a / b,
    "vmin": lambda a, b: (
        np.where(np.isnan(a) | np.isnan(b), np.nan, np.minimum(a, b)).astype(a.dtype)
        if a.dtype.kind == "f"
        else np.minimum(a, b)
    ),
    "vmax": lambda a, b: (
        np.where(np.isnan(a) | np.isnan(b), np.nan, np.maximum(a, b)).astype(a.dtype)
        if a.dtype.kind == "f"
        else np.maximum(a, b)
    ),
    "vand": lambda a, b: a & b,
    "vor": lambda a, b: a | b,
    "vxor": lambda a, b: a ^ b,
}
UNARY: dict[str, Callable[[Array], Array]] = {
    "vneg": lambda a: -a,
    "vabs": np.abs,
    "vrelu": lambda a: np.maximum(a, a.dtype.type(0)),
    "vsqrt": np.sqrt,
    "vnot": lambda a: ~a,
}
COMPARED: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def elements_of(name: str) -> list[str]:
    if name in ("vand", "vor", "vxor", "vnot"):
        return INTEGERS
    if name in ("vdiv", "vsqrt"):
        return ["f16", "f32"]
    if name == "vmul":
        return [kind for kind in INTEGERS if "8" not in kind] + FLOATS
    if name == "vneg":
        return [*INTEGERS, "f16", "f32"]
    if name == "vabs":
        return ["si8", "si16", "si32", *FLOATS]
    if name == "vrelu":
        return ["si32", "f16", "f32"]
    return INTEGERS + FLOATS


def tree(values: Array) -> Any:
    """x[i] + x[i + n/2], again and again."""
    while len(values) > 1:
        half = len(values) // 2
        values = values[:half] + values[half:]
    return values[0]


def float_sum(values: Array, active: Array, kind: str) -> Any:
    """The sum of one group, in the order of the language; the mask is not known before it runs."""
    dtype, width = np.dtype(DTYPES[kind]), size(kind)
    given = np.where(active, numbers(values), 0).astype("f4")
    block, register = 32 // width, 256 // width

    def once(lanes: Array, whole: int) -> Any:
        padded = np.zeros(whole, "f4")
        padded[: len(lanes)] = lanes
        return dtype.type(tree(padded))

    def plus(a: Any, b: Any) -> Any:
        return dtype.type(np.float32(a) + np.float32(b))

    count = len(values)
    if count <= block and block % count == 0 and block // count in (1, 2, 4):
        spaced = np.zeros(block, "f4")
        spaced[:: block // count] = given
        return once(spaced, block)
    if count in (2 * block, 4 * block):
        parts = [once(given[part :: count // block], block) for part in range(count // block)]
        while len(parts) > 1:
            parts = [plus(parts[index], parts[index + 1]) for index in range(0, len(parts), 2)]
        return parts[0]
    if count % register:
        return None
    return _of_registers([once(given[at : at + register], register) for at in range(0, count, register)], plus)


def _of_registers(sums: list[Any], plus: Callable[[Any, Any], Any]) -> Any:
    total = sums[0]
    for each in sums[1:]:
        total = plus(each, total)
    return total


# --- programs ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Value:
    name: str
    kind: str
    """Elements; a mask has none."""
    lanes: Array

    @property
    def type(self) -> str:
        return f"L<{len(self.lanes)}x{self.kind}>" if self.kind else f"Q<{len(self.lanes)}>"


@dataclass
class LogicalProgram:
    """A body, what UB holds before, and the bytes that it must hold at addresses behind."""

    seed: int
    lines: list[str] = field(default_factory=list[str])
    before: list[tuple[int, Array]] = field(default_factory=list[tuple[int, Array]])
    expected: list[tuple[int, Array]] = field(default_factory=list[tuple[int, Array]])
    values: list[Value] = field(default_factory=list[Value])
    _place: int = 0
    _store: int = OUT
    _count: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.source = np.random.default_rng(self.seed)

    @property
    def body(self) -> str:
        return "\n".join(self.lines)

    def name(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def data(self, kind: str, count: int) -> Array:
        dtype = np.dtype(DTYPES[kind])
        if dtype.kind in "iu":
            info = np.iinfo(dtype)
            wide = self.source.integers(info.min, int(info.max) + 1, count, dtype="i8")
            return np.where(self.source.random(count) < 0.5, wide, self.source.integers(0, 9, count)).astype(dtype)
        return (self.source.integers(-64, 65, count) / 4).astype(dtype)

    def add(self, text: str, kind: str, lanes: Array) -> Value:
        value = Value(self.name(), kind, lanes)
        self.lines.append(f"{value.name} = pto.vmi.{text} -> {value.type}")
        self.values.append(value)
        return value

    def load(self, kind: str, lanes: int) -> Value:
        array = self.data(kind, lanes)
        self._place = -(-self._place // 32) * 32
        address, self._place = self._place, self._place + array.nbytes
        self.before.append((address, array))
        return self.add(f"vload %ub{address}_{kind}[%c0] : P<{kind}>", kind, array)

    def mask(self, lanes: int) -> Value:
        """A mask of a count that is an argument, or is known; or of a comparison."""
        count = self.random.choice([0, 1, lanes // 2, lanes - 1, lanes, lanes + 9])
        chosen = self.random.randrange(4)
        if chosen == 0:
            groups = self.random.choice([each for each in (1, 2, 4, 5) if lanes % each == 0])
            width = lanes // groups
            few = self.random.randint(0, width)
            active = np.arange(lanes) % width < few
            text = f"create_group_mask %c{few} {{num_groups = {groups}, group_size = {width}}} : index"
            return self.add(text, "", active)
        if chosen == 1 and (known := [each for each in self.values if not each.kind and len(each.lanes) == lanes]):
            one, other = self.random.choice(known), self.random.choice(known)
            name = self.random.choice(["vand", "vor", "vxor", "vnot"])
            if name == "vnot":
                return self.add(f"vnot {one.name} : {one.type}", "", ~one.lanes)
            made = BINARY[name](one.lanes, other.lanes)
            return self.add(f"{name} {one.name}, {other.name} : {one.type}, {one.type}", "", made)
        form = f"create_mask %c{count} : index"
        if chosen == 2:
            at = self.name()
            form = f"create_mask {at} : index"
            self.lines.append(f"{at} = arith.addi %n, %c{count} : index")
        return self.add(form, "", np.arange(lanes) < count)

    # --- steps --------------------------------------------------------------------------------------------------------

    def pick(self, kinds: list[str], lanes: int | None = None) -> Value:
        known = [each for each in self.values if each.kind in kinds and lanes in (None, len(each.lanes))]
        if known and self.random.random() < 0.8:
            return self.random.choice(known)
        return self.load(self.random.choice(kinds), lanes or self.random.choice(LANES))

    def masked(self, lanes: int, always: bool = False) -> tuple[str, str, Array]:
        if not always and self.random.random() < 0.4:
            return "", "", np.ones(lanes, bool)
        mask = self.mask(lanes)
        return f", {mask.name}", f", {mask.type}", mask.lanes

    def binary(self) -> None:
        name = self.random.choice(list(BINARY))
        one = self.pick(elements_of(name))
        other = self.pick([one.kind], len(one.lanes))
        operand, type_, active = self.masked(len(one.lanes))
        with np.errstate(all="ignore"):
            found = rounded(BINARY[name](numbers(one.lanes), numbers(other.lanes)), one.lanes)
        found = np.where(active, found, np.zeros_like(found))
        self.add(f"{name} {one.name}, {other.name}{operand} : {one.type}, {one.type}{type_}", one.kind, found)

    def unary(self) -> None:
        name = self.random.choice(list(UNARY))
        one = self.pick(elements_of(name))
        operand, type_, active = self.masked(len(one.lanes))
        with np.errstate(all="ignore"):
            found = rounded(UNARY[name](numbers(one.lanes)), one.lanes)
        found = np.where(active, found, np.zeros_like(found))
        self.add(f"{name} {one.name}{operand} : {one.type}{type_}", one.kind, found)

    def compare(self) -> None:
        one = self.pick(INTEGERS + FLOATS)
        other = self.pick([one.kind], len(one.lanes))
        word = self.random.choice(list(COMPARED))
        seed = self.mask(len(one.lanes))
        found = seed.lanes & COMPARED[word](numbers(one.lanes), numbers(other.lanes))
        text = f'vcmp {one.name}, {other.name}, {seed.name} {{cmp = "{word}"}} : {one.type}, {one.type}, {seed.type}'
        mask = self.add(text, "", found)
        three = f"{mask.name}, {one.name}, {other.name} : {mask.type}, {one.type}, {one.type}"
        self.add(f"vsel {three}", one.kind, np.where(found, one.lanes, other.lanes))

    def convert(self) -> None:
        source, dest = self.random.choice(
            [("f16", "f32"), ("bf16", "f32"), ("f32", "f16"), ("f32", "bf16"), ("f32", "f8E4M3FN"), ("f8E5M2", "f32")]
            + [(f"{s}i{a}", f"{s}i{b}") for s in ("s", "u", "") for a, b in ((8, 16), (8, 32), (16, 32))]
            + [(f"{s}i{b}", f"{s}i{a}") for s in ("s", "u", "") for a, b in ((8, 16), (8, 32), (16, 32))]
            + [("f32", "si32"), ("si32", "f32"), ("f16", "si16"), ("f16", "si8"), ("f32", "si16"), ("f16", "si32")]
        )
        one = self.pick([source])
        found, attributes = converted(one.lanes, source, dest)
        self.add(f"vcvt {one.name}{attributes} : {one.type} -> "[:-4], dest, found)

    def reduce(self) -> None:
        one = self.pick([*INTEGERS, "f16", "f32"])
        lanes = len(one.lanes)
        groups = self.random.choice([each for each in (1, 2, 4, 5, 8, 32) if lanes % each == 0])
        name = self.random.choice(["vcadd", "vcmax", "vcmin"])
        mask = self.mask(lanes)
        rows = one.lanes.reshape(groups, -1)
        active = mask.lanes.reshape(groups, -1)
        found = reduced(name, rows, active, one.kind)
        if found is None:
            return
        words = [f"group = {groups}"] * (groups > 1) + ["reassoc"] * (name == "vcadd" and one.kind in FLOATS)
        attributes = f" {{{', '.join(words)}}}" if words else ""
        total = self.add(f"{name} {one.name}, {mask.name}{attributes} : {one.type}, {mask.type}", one.kind, found)
        again = f" {{group = {groups}}}" if groups > 1 else ""
        self.add(f"vbrc {total.name}{again} : {total.type}", one.kind, np.repeat(found, lanes // groups))

    def rearrange(self) -> None:
        one = self.pick(INTEGERS + FLOATS)
        lanes = len(one.lanes)
        other = self.pick([one.kind], lanes)
        mask = self.mask(lanes)
        name = self.random.choice(["vintlv", "vdintlv"])
        if name == "vintlv":
            stream = np.stack([one.lanes, other.lanes], 1).reshape(-1)
            low, high = stream[:lanes], stream[lanes:]
        else:
            stream = np.concatenate([one.lanes, other.lanes])
            low, high = stream[::2], stream[1::2]
        both = [np.where(mask.lanes, each, np.zeros_like(each)) for each in (low, high)]
        first, second = (Value(self.name(), one.kind, each) for each in both)
        operands = f"{one.name}, {other.name}, {mask.name} : {one.type}, {one.type}, {mask.type}"
        self.lines.append(f"{first.name}, {second.name} = pto.vmi.{name} {operands} -> {one.type}, {one.type}")
        self.values += [first, second]

    def cast(self) -> None:
        one = self.pick(INTEGERS + FLOATS)
        if one.kind in FLOATS and np.isnan(numbers(one.lanes)).any():
            return  # the sign of a NaN is of no account
        kinds = [kind for kind in INTEGERS + FLOATS if len(one.lanes) * size(one.kind) % size(kind) == 0]
        kind = self.random.choice(kinds)
        found = np.ascontiguousarray(one.lanes).view(DTYPES[kind])
        self.add(f"vinterpret_cast {one.name} : {one.type}", kind, found)

    def ramp(self) -> None:
        kind = self.random.choice([*INTEGERS, "f16", "f32"])
        lanes = self.random.choice(LANES)
        down = self.random.random() < 0.5
        step = np.arange(lanes).astype(np.dtype(DTYPES[kind]) if kind in FLOATS else "i8")
        with np.errstate(all="ignore"):
            found = (3 - step if down else 3 + step).astype(DTYPES[kind])
        scalar = kind if kind in FLOATS else kind.lstrip("su")
        number = "%c3.0_" + scalar if kind in FLOATS else f"%c3_{scalar}"
        self.add(f'vci {number} {{order = "{"DESC" if down else "ASC"}"}} : {scalar}', kind, found)

    def store(self, value: Value) -> None:
        lanes = len(value.lanes)
        operand, type_, active = self.masked(lanes)
        self._store = -(-self._store // 32) * 32
        address = self._store
        self._store += value.lanes.nbytes
        kept = self.data(value.kind, lanes)
        self.before.append((address, kept))
        pointer = f"%ub{address}_{value.kind}[%c0]"
        types = f"{value.type}, P<{value.kind}>{type_}"
        self.lines.append(f"pto.vmi.vstore {value.name}, {pointer}{operand} : {types}")
        self.expected.append((address, np.where(active, value.lanes, kept)))


def converted(lanes: Array, source: str, dest: str) -> tuple[Array, str]:
    """Rounded to nearest even and saturated; integers that become narrower keep their low bits."""
    dtype = np.dtype(DTYPES[dest])
    if source in INTEGERS and dest in INTEGERS:
        narrow = size(dest) < size(source)
        return lanes.astype(dtype), ' {saturate = "NOSAT"}' if narrow else ""
    if source == "si32" or (size(dest) > size(source) and dest == "f32"):
        return lanes.astype(dtype), ""
    values = numbers(lanes).astype("f8")
    if dest in INTEGERS:
        info = np.iinfo(dtype)
        whole = np.clip(np.rint(np.nan_to_num(values, nan=0.0)), info.min, info.max).astype(dtype)
        sat = "" if (source, dest) == ("f16", "si32") else ', saturate = "SAT"'
        return whole, f' {{rounding = "R"{sat}}}'
    most = float(ml_dtypes.finfo(dtype).max)
    clipped = np.clip(np.nan_to_num(values, nan=0.0, posinf=most, neginf=-most), -most, most)
    return clipped.astype("f4").astype(dtype), ' {rounding = "R", saturate = "SAT"}'


def reduced(name: str, rows: Array, active: Array, kind: str) -> Array | None:
    dtype = rows.dtype
    if name == "vcadd":
        if kind in FLOATS:
            sums = [float_sum(row, mask, kind) for row, mask in zip(rows, active, strict=True)]
            return None if any(each is None for each in sums) else np.array(sums, dtype)
        return np.where(active, rows, np.zeros_like(rows)).sum(1, dtype=dtype)
    least = name == "vcmin"
    if kind in FLOATS:
        neutral = np.inf if least else -np.inf
    else:
        neutral = np.iinfo(dtype).max if least else np.iinfo(dtype).min
    filled = np.where(active, rows, np.full_like(rows, neutral))
    return (filled.min if least else filled.max)(1)


STEPS = ("binary", "unary", "compare", "convert", "reduce", "rearrange", "cast", "ramp")


def logical_program(seed: int, length: int = 12) -> LogicalProgram:
    program = LogicalProgram(seed)
    for _ in range(length):
        getattr(program, program.random.choice(STEPS))()
    for value in [each for each in program.values if each.kind][-8:]:
        program.store(value)
    return program


def agrees(found: Array, expected: Array) -> bool:
    """Equal bits, or both NaN."""
    found = found.view(expected.dtype)
    if expected.dtype.kind in "iu":
        return bool((found == expected).all())
    same = found.view(f"u{expected.dtype.itemsize}") == expected.view(f"u{expected.dtype.itemsize}")
    with np.errstate(all="ignore"):
        return bool((same | (np.isnan(found.astype("f4")) & np.isnan(expected.astype("f4")))).all())
