"""Instructions of AVX-512 on f32 lanes that LLVM has no other name for, where `Module.avx512` says they are there.

LLVM takes them for one register of the processor; longer vectors are split here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import F32, I1, I8, I16, I32, Type, Value
from ptosim.native.vector.registers import extract, insert, joined, shuffle

LANES = 16
"""f32 lanes in a register of the processor."""

_AS_ALWAYS = 4
"""The rounding operand of an instruction that may round in its own way: it does not."""


def look_up(f: FunctionBuilder, table: Sequence[float], numbers: Value) -> Value:
    """For each lane the one of 32 entries that the low bits of its number name."""
    kind = F32.vector(LANES)
    low, high = f.constant(kind, table[:LANES]), f.constant(kind, table[LANES:])
    return joined(f, [_call(f, "vpermi2var.ps.512", kind, low, part, high) for (part,) in _parts(f, numbers)])


def scale(f: FunctionBuilder, lanes: Value, powers: Value) -> Value:
    """Times 2 to the integer that is next below; beyond the largest f32 that is infinite."""
    every, rounding = f.constant(I16, -1), f.constant(I32, _AS_ALWAYS)
    parts = _parts(f, lanes, powers)
    return joined(f, [_call(f, "mask.scalef.ps.512", a.kind, a, power, a, every, rounding) for a, power in parts])


_SUBNORMAL, _INFINITIES, _NANS = 0x20, 0x18, 0x81


def is_odd(f: FunctionBuilder, lanes: Value) -> Value:
    """Whether each lane is neither zero nor a normal number."""
    kind, odd = I1.vector(LANES), f.constant(I32, _SUBNORMAL | _INFINITIES | _NANS)
    return joined(f, [_call(f, "fpclass.ps.512", kind, part, odd) for (part,) in _parts(f, lanes)])


def extremum(f: FunctionBuilder, a: Value, b: Value, largest: bool) -> Value:
    """The larger or the smaller of two scalars or of the lanes of two vectors; +0 is larger than -0. Where one is a NaN
    it is the other."""
    if not a.kind.lanes:
        first, second = (insert(f.poison(F32.vector(4)), 0, scalar) for scalar in (a, b))
        return extract(extremum(f, first, second, largest), 0)
    return joined(f, [_extremum(f, *part, largest=largest) for part in _parts(f, a, b)])


def _extremum(f: FunctionBuilder, a: Value, b: Value, largest: bool) -> Value:
    lanes = a.kind.lanes
    which = f.constant(I32, 0b0101 if largest else 0b0100)  # and the sign of the chosen one
    every = f.constant(I16 if lanes == LANES else I8, -1)
    rounding = [f.constant(I32, _AS_ALWAYS)] if lanes == LANES else []
    return _call(f, f"mask.range.ps.{32 * lanes}", a.kind, a, b, which, a, every, *rounding)


def extremum_of_all(f: FunctionBuilder, lanes: Value, largest: bool) -> Value:
    """The largest or the smallest lane, as a scalar; NaNs do not count unless there is nothing else."""
    while (half := lanes.kind.lanes // 2) >= 4:
        lanes = extremum(f, shuffle(f, range(half), lanes), shuffle(f, range(half, 2 * half), lanes), largest)
    for table in ((2, 3, 0, 1), (1, 0, 3, 2)):
        lanes = extremum(f, lanes, shuffle(f, table, lanes), largest)
    return extract(lanes, 0)


def _call(f: FunctionBuilder, name: str, kind: Type, *arguments: Value) -> Value:
    return f.intrinsic(f"llvm.x86.avx512.{name}", kind, *arguments, overloads=())


def _parts(f: FunctionBuilder, *vectors: Value) -> Iterator[tuple[Value, ...]]:
    """For each vector the part that one register of the processor holds, one such part after the other."""
    count = vectors[0].kind.lanes
    lanes = min(count, LANES)
    for start in range(0, count, lanes):
        yield tuple(shuffle(f, range(start, start + lanes), vector) for vector in vectors)
