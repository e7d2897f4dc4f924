"""Vector loads and stores: which byte goes where, how far an access reaches, how it must be aligned.

The dist modes are static byte tables. What depends on operand values is a closed form in the operators that Python
ints, NumPy arrays of int64 and IR values share. Extents are relative to the pointer of the access; its alignment is
that of pointer plus lowest byte. Gathers and unaligned streams have modules of their own; doing an access is left to
the engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

from ptosim.effects.element import BLOCKS, GRANULE, VECTOR_BYTES, Element, Granularity
from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Extent, Spread, Static, Taint, Touch, named

Table = tuple[int, ...]

NOTHING = -1
"""In a load: this register byte becomes zero. In a store: this memory byte stays as it is."""

ALWAYS = -1
"""In the gates of a store: written whatever the mask says."""


@dataclass(frozen=True)
class LoadMode:
    """Distribution of memory over one or two registers by a load."""

    name: str
    footprint: int
    """Bytes read, from the address on."""
    alignment: int
    tables: tuple[Table, ...]
    """Per result register: the memory byte that each of its 256 bytes comes from, or NOTHING."""
    on_hardware: bool = True
    """Whether current hardware has it; other modes are defined by the ISA text alone."""
    crosses: bool = False
    """Whether it broadcasts: one element, or each of a few, fills many lanes."""


@dataclass(frozen=True)
class StoreMode:
    """Collection of memory from one or two registers by a store."""

    name: str
    footprint: int
    """Bytes from the address to the end of the last one that may be written."""
    alignment: int
    source: Table
    """Per byte of the footprint: the register byte it receives (from 256 on: of the second register), or NOTHING."""
    gate: Table
    """Per byte of the footprint: the predicate bit that enables it, or ALWAYS."""
    granularity: Granularity | None = None
    """The mask type it takes; None: the one of the element width."""
    on_hardware: bool = True


# --- loads ------------------------------------------------------------------------------------------------------------


def _units(size: int, order: Iterable[int]) -> Table:
    """The byte table of a table of units of `size` bytes."""
    return tuple(NOTHING if unit == NOTHING else unit * size + byte for unit in order for byte in range(size))


def _load(name: str, footprint: int, size: int, *orders: Callable[[int], int], alignment: int = 32) -> LoadMode:
    """A mode that fills unit j of result register r from unit `orders[r](j)` of memory; units have `size` bytes."""
    tables = tuple(_units(size, map(order, range(VECTOR_BYTES // size))) for order in orders)
    return LoadMode(name, footprint, alignment, tables, not name.startswith("SPLT"), name.startswith(("BRC", "E2B")))


def _first(_: int) -> int:
    return 0


def _same(unit: int) -> int:
    return unit


def _every(count: int, start: int = 0) -> Callable[[int], int]:
    """Every count-th unit of memory."""
    return lambda unit: count * unit + start


def _each(times: int) -> Callable[[int], int]:
    """Each unit of memory so many times in a row."""
    return lambda unit: unit // times


def _apart(distance: int) -> Callable[[int], int]:
    """Each unit of memory followed by zeros up to `distance` units."""
    return lambda unit: NOTHING if unit % distance else unit // distance


def _bits(*sizes: int) -> Iterable[tuple[int, str]]:
    return ((size, f"B{8 * size}") for size in sizes)


def _named(modes: Iterable[LoadMode]) -> dict[str, LoadMode]:
    return {mode.name: mode for mode in modes}


LOAD_MODES = _named(
    [
        _load("NORM", 256, 1, _same),
        *(_load(f"BRC_{bits}", size, size, _first, alignment=size) for size, bits in _bits(1, 2, 4)),
        *(_load(f"US_{bits}", 128, size, _each(2)) for size, bits in _bits(1, 2)),
        *(_load(f"DS_{bits}", 512, size, _every(2)) for size, bits in _bits(1, 2)),
        *(_load(f"UNPK_{bits}", 128, size, _apart(2)) for size, bits in _bits(1, 2, 4)),
        _load("BRC_BLK", 32, 32, _first),
        _load("E2B_B16", 16, 2, _each(16), alignment=16),
        _load("E2B_B32", 32, 4, _each(8)),
        _load("UNPK4", 64, 1, _apart(4)),
        _load("SPLT4CHN", 1024, 1, _every(4)),
        *(_load(f"SPLT2CHN_{bits}", 512, size, _every(2)) for size, bits in _bits(1, 2)),
        _load("DINTLV_B32", 512, 4, _every(2)),
    ]
)
"""The dist modes of vlds. DINTLV_B32 is there the first half of vldsx2."""

DUAL_LOAD_MODES = _named(
    _load(name, 512, size, _every(2), _every(2, 1))
    for name, size in (("BDINTLV", GRANULE), ("DINTLV_B8", 1), ("DINTLV_B16", 2), ("DINTLV_B32", 4))
)
"""The dist modes of vldsx2."""


def load_mode(dist: str | None) -> LoadMode:
    """The mode of a vlds with this dist."""
    return LOAD_MODES[dist or "NORM"]


@dataclass(frozen=True)
class Demand:
    """The memory that a load with a mask needs: for each unit of the footprint, the lanes that are filled from it."""

    unit: int
    lanes: tuple[Table, ...]

    @property
    def is_whole(self) -> bool:
        """Whether a full mask needs every byte."""
        return all(self.lanes)


@cache
def demand(mode: LoadMode, width: int) -> Demand:
    """The demand of lanes of `width` bytes; a register beside the first has the same lanes."""
    unit = min(width, *map(largest_unit, mode.tables))
    lanes: list[set[int]] = [set() for _ in range(mode.footprint // unit)]
    for table in mode.tables:
        for byte in range(0, VECTOR_BYTES, unit):
            if table[byte] != NOTHING:
                lanes[table[byte] // unit].add(byte // width)
    return Demand(unit, tuple(tuple(sorted(each)) for each in lanes))


def largest_unit(table: Table) -> int:
    """The bytes of the largest units, up to eight, that a table moves whole, or leaves out."""
    return next(size for size in (8, 4, 2, 1) if _moves(table, size))


def _moves(table: Table, size: int) -> bool:
    starts = table[::size]
    whole = all(start == NOTHING or start % size == 0 for start in starts)
    return whole and table == _units(size, (start if start == NOTHING else start // size for start in starts))


# --- stores -----------------------------------------------------------------------------------------------------------


def _in_place(size: int) -> StoreMode:
    gate = tuple(byte // size * size for byte in range(VECTOR_BYTES))
    return StoreMode(f"NORM_B{8 * size}", VECTOR_BYTES, 32, tuple(range(VECTOR_BYTES)), gate)


def _first_unit(size: int) -> StoreMode:
    return StoreMode(f"1PT_B{8 * size}", size, size, tuple(range(size)), (ALWAYS,) * size)


def _packed(name: str, unit: int, kept: int, granularity: Granularity) -> StoreMode:
    """The low `kept` bytes of each unit, side by side; the lowest predicate bit of a unit gates it."""
    source = tuple(start + byte for start in range(0, VECTOR_BYTES, unit) for byte in range(kept))
    gate = tuple(start for start in range(0, VECTOR_BYTES, unit) for _ in range(kept))
    return StoreMode(name, len(source), 32, source, gate, granularity)


def _interleaved(size: int) -> StoreMode:
    pairs = ((unit, unit + VECTOR_BYTES // size) for unit in range(VECTOR_BYTES // size))
    source = _units(size, (unit for pair in pairs for unit in pair))
    return StoreMode(f"INTLV_B{8 * size}", len(source), 32, source, (ALWAYS,) * len(source))


def _merged(name: str, size: int, planes: int, granularity: Granularity) -> StoreMode:
    """Each granule holds its planes one after the other; unit i of every plane comes together in memory."""
    units = GRANULE // size
    depth = units // planes
    granule = [plane * depth + unit for unit in range(depth) for plane in range(planes)]
    source = _units(size, (start * units + unit for start in range(BLOCKS) for unit in granule))
    group = size * planes
    gate = tuple(byte // group * group for byte in range(VECTOR_BYTES))
    return StoreMode(name, VECTOR_BYTES, 32, source, gate, granularity, on_hardware=False)


STORE_MODES = {
    mode.name: mode
    for mode in (
        *map(_in_place, (1, 2, 4)),
        *map(_first_unit, (1, 2, 4)),
        _packed("PK_B16", 2, 1, "b16"),
        _packed("PK_B32", 4, 2, "b32"),
        _packed("PK_B64", 8, 4, "b32"),
        _packed("PK4_B32", 4, 1, "b32"),
        _merged("MRG4CHN_B8", 1, 4, "b32"),
        _merged("MRG2CHN_B8", 1, 2, "b16"),
        _merged("MRG2CHN_B16", 2, 2, "b32"),
    )
}
"""The dist modes of vsts."""

DUAL_STORE_MODES = {mode.name: mode for mode in map(_interleaved, (1, 2, 4))}
"""The dist modes of vstsx2. The mask has no say in them."""

_PLAIN_STORES = {size: _in_place(size) for size in (1, 2, 4, 8)}


_MERGED_UNITS = {"MRG4CHN_B8": 1, "MRG2CHN_B8": 1, "MRG2CHN_B16": 2}


def store_mode(dist: str | None, element: Element, mask_stride: int | None = None) -> StoreMode:
    """The mode of a vsts with this dist; without one a plain store of elements, 64-bit ones by every eighth bit.

    A merging store may also have a mask as fine as its elements: then each merged unit has a bit of its own.
    """
    if dist is None:
        return _PLAIN_STORES[element.bytes]
    if mask_stride == element.bytes == _MERGED_UNITS.get(dist):
        return replace(STORE_MODES[dist], gate=_in_place(element.bytes).gate, granularity=None)
    return STORE_MODES[dist]


def store_mode_of(static: Static) -> StoreMode:
    """The mode of a vsts."""
    return store_mode(static.words.get("dist"), static.elements["value"], static.mask_strides.get("mask"))


# --- fixed strides ----------------------------------------------------------------------------------------------------

_STRIDES = {"STRIDE_S3_B16": (3, 2), "STRIDE_S4_B64": (4, 8), "STRIDE_S8_B32": (8, 4), "STRIDE_S2_B64": (2, 8)}
"""Every how many units, and bytes of a unit. No page says which elements are meant: this takes the name literally."""


def _strided_load(name: str, stride: int, size: int) -> LoadMode:
    footprint = (VECTOR_BYTES // size - 1) * stride * size + size
    return _load(name, footprint, size, _every(stride), alignment=size)


def _strided_store(load: LoadMode) -> StoreMode:
    source = [NOTHING] * load.footprint
    for register_byte, memory_byte in enumerate(load.tables[0]):
        source[memory_byte] = register_byte
    return StoreMode(load.name, load.footprint, load.alignment, tuple(source), (ALWAYS,) * load.footprint)


STRIDED_LOAD_MODES = _named(_strided_load(name, *stride) for name, stride in _STRIDES.items())
"""The strides of vsld."""

STRIDED_STORE_MODES = {name: _strided_store(mode) for name, mode in STRIDED_LOAD_MODES.items()}
"""The strides of vsst."""

# --- closed forms -----------------------------------------------------------------------------------------------------


def block_strides(operands: Any, static: Static) -> tuple[Any, Any]:
    """Block and repeat stride of vsldb and vsstb, in blocks: two 16-bit operands or the halves of a control word."""
    if "control" in static.present:
        return (operands.control >> 16) & 0xFFFF, operands.control & 0xFFFF
    return operands.block_stride & 0xFFFF, operands.repeat_stride & 0xFFFF


def block_offsets(operands: Any, static: Static) -> tuple[Any, ...]:
    """The byte offset of each of the 8 blocks of vsldb and vsstb from the pointer."""
    block_stride, repeat_stride = block_strides(operands, static)
    # With an updated base the repeat stride is what the base advances by, not part of the address.
    first = 0 if "next" in static.present else repeat_stride * GRANULE
    return tuple(first + block_stride * (block * GRANULE) for block in range(BLOCKS))


# --- records ----------------------------------------------------------------------------------------------------------

_Form = Callable[[Any], Extent]
_Accesses = Callable[[Static], tuple[Access, ...]]


def _displacement(static: Static, base: str, size: int) -> _Form:
    """`size` bytes at the offset, which counts elements; with an updated base at the base itself."""
    unit = static.elements[base].bytes
    if "next" in static.present:
        return lambda operands: (0, size)
    return lambda operands: (operands.offset * unit, operands.offset * unit + size)


def _reading(mode_of: Callable[[Static], LoadMode]) -> _Accesses:
    """With a mask by the bytes that its lanes call for (`demand`), without one by those that are used."""

    def accesses(static: Static) -> tuple[Access, ...]:
        mode = mode_of(static)
        extent = _displacement(static, "source", mode.footprint)
        touch: Touch = "active" if "mask" in static.present else "used"
        gate = "mask" if "mask" in static.present else None
        return (Access("read", Space.UB, "source", extent, mode.alignment, touch, gate, mode),)

    return accesses


def _writing(mode_of: Callable[[Static], StoreMode]) -> _Accesses:
    def accesses(static: Static) -> tuple[Access, ...]:
        mode = mode_of(static)
        extent = _displacement(static, "dest", mode.footprint)
        gated = "mask" in static.present and any(bit != ALWAYS for bit in mode.gate)
        touch: Touch = "active" if gated else "always"
        return (Access("write", Space.UB, "dest", extent, mode.alignment, touch, "mask" if gated else None, mode),)

    return accesses


def _blocks(direction: Literal["read", "write"], base: str) -> _Accesses:
    def accesses(static: Static) -> tuple[Access, ...]:
        def extent(operands: Any) -> Extent:
            offsets = block_offsets(operands, static)
            return offsets[0], offsets[-1] + GRANULE

        return (Access(direction, Space.UB, base, extent, GRANULE, "active", "mask", block_offsets),)

    return accesses


def _mode(static: Static) -> LoadMode:
    return load_mode(static.words.get("dist"))


def _broadcasts(static: Static) -> bool:
    return _mode(static).crosses


def _record(name: str, timing: str, accesses: _Accesses, taint: Taint = Taint.MOVEMENT) -> Effects:
    return Effects(f"pto.{name}", Pipe.V, timing, taint, accesses)


EFFECTS = named(
    _record("vlds", "load", _reading(_mode), Taint(Spread.MOVEMENT, _broadcasts)),
    _record("vldsx2", "load_pair", _reading(lambda static: DUAL_LOAD_MODES[static.words["dist"]])),
    _record("vsld", "load", _reading(lambda static: STRIDED_LOAD_MODES[static.words["stride"]])),
    _record("vsldb", "load", _blocks("read", "source")),
    _record("vsts", "store", _writing(store_mode_of)),
    _record("vstsx2", "store_interleave", _writing(lambda static: DUAL_STORE_MODES[static.words["dist"]])),
    _record("vsst", "store", _writing(lambda static: STRIDED_STORE_MODES[static.words["stride"]])),
    _record("vsstb", "store", _blocks("write", "dest")),
)
