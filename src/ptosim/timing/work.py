"""The duration of an entry on its pipe: a vector function by its path, a copy by its bytes, the rest by its
arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from xdsl.ir import Operation

from ptosim.diagnostics import error
from ptosim.effects.catalogue import effects
from ptosim.effects.element import Element
from ptosim.effects.names import Space
from ptosim.effects.sfu import RECORD_BYTES
from ptosim.effects.simt import COUNTED, LAUNCH
from ptosim.language.analysis.static_values import static_of
from ptosim.language.micro.sync_token import SimTSync
from ptosim.language.operation import PTOOperation, is_scope
from ptosim.language.text.parser import ParsedModule
from ptosim.machine.entry import Site
from ptosim.target import Target
from ptosim.timing.function_time import VectorFunctionTiming
from ptosim.timing.program import Body, Path
from ptosim.timing.vector_function import vector_function
from ptosim.timing.vector_program import operations_written_out, vector_program
from ptosim.timing.workitems import launch_cycles

TILE = 16
"""Rows and columns of a matrix product that the cube does at a time."""
TILE_BYTES = 32
"""And the bytes of k."""

_OF_WHOLE_FRACTALS = frozenset({"l1_l0a", "l1_l0b"})
"""Copies that take as long where fractals lie behind the end of L1: these are zeros, and nothing is read for them."""

MOST_OPERATIONS = 200_000
"""The most operations of a vector scope whose calls are written out. No file has room for so many without calls that
call again.
"""


@dataclass(frozen=True, eq=False)
class Priced:
    """An operation of the kernel, as far as its time is concerned."""

    timing_class: str
    """Empty for a vector scope."""
    program: Body | None = None
    """The program of a vector scope."""
    element: Element | None = None
    """The elements that a matrix product multiplies."""
    narrow: bool = False
    """A product that takes its f32 operands as tf32, at the pace of narrower ones."""
    operands: tuple[str, ...] = ()
    """Roles of the operands, in order."""
    pointers: frozenset[str] = frozenset()
    """The operands that point to GM,"""
    written: frozenset[str] = frozenset()
    """and which to what it writes."""

    @property
    def width(self) -> int:
        """Bytes of an element, as far as the price depends on it."""
        return 2 if self.narrow else self.element.bytes if self.element else 4


class Cost(NamedTuple):
    cycles: int
    bytes: int = 0
    function: VectorFunctionTiming | None = None


class Prices:
    """The prices of one kernel on one target, good for any number of runs. A path through a scope is priced once."""

    def __init__(self, target: Target, parsed: ParsedModule) -> None:
        self.target = target
        self.parsed = parsed
        self.waits_for_bytes = any(isinstance(op, SimTSync) for op in parsed.module.walk())
        """Whether some entries are waited for by the bytes that they touch."""
        self._priced: dict[Site, Priced] = {}
        self._known: dict[tuple[Site, Path], Cost] = {}

    def of(self, site: Site) -> Priced:
        if site not in self._priced:
            self._priced[site] = self._price(site)
        return self._priced[site]

    def scope(self, site: Site, path: Path) -> Cost:
        """One execution of a vector scope along this path."""
        key = site, path
        if key not in self._known:
            program = self.of(site).program
            assert program is not None
            timing = vector_function(program, path, self.target)
            self._known[key] = Cost(timing.cycles, function=timing)
        return self._known[key]

    def instruction(
        self, site: Site, facts: Mapping[str, Any], read: int, written: int, is_remote: bool = False
    ) -> Cost:
        """A copy or an operation of a pipe, with its arguments and the bytes that it touched; `is_remote`: of another
        rank."""
        priced = self.of(site)
        if priced.timing_class == LAUNCH:
            assert self.target.simt is not None  # other machines refuse workitems
            return Cost(launch_cycles(facts["counts"], self.target.simt))
        if copy := self.target.dma.get(priced.timing_class):
            is_whole = priced.timing_class in _OF_WHOLE_FRACTALS
            moved = max(read, written) if is_whole else read or written  # a fill reads nothing
            return Cost(max(copy.cycles(moved), self.target.dma["link"].cycles(moved) if is_remote else 0), moved)
        operation = self.target.operation[priced.timing_class]
        return Cost(operation.cycles(_ITEMS[priced.timing_class](priced, facts, written), priced.width))

    # --- what an operation is -----------------------------------------------------------------------------------------

    def _price(self, site: Site) -> Priced:
        op = self.parsed.operations[site.number]
        if is_scope(op):
            self._check_size(op)
            return Priced("", vector_program(op, self._line_of))
        static = static_of(op, self.target.architecture)
        record = effects()[op.name]
        return Priced(
            record.timing,
            element=static.elements.get("a"),
            narrow="tf32_mode" in static.words,
            operands=(
                *(op.operand_roles if isinstance(op, PTOOperation) else ()),
                *(COUNTED if record.timing == LAUNCH else ()),
            ),
            pointers=frozenset(role for role, space in static.spaces.items() if space == Space.GM),
            written=frozenset(access.base for access in record.accesses(static) if access.direction == "write"),
        )

    def _check_size(self, scope: Operation) -> None:
        if operations_written_out(scope) > MOST_OPERATIONS:
            message = f"with its calls written out, this vector scope has more than {MOST_OPERATIONS} operations"
            raise error("limit", message, self.parsed.location(scope))

    def _line_of(self, op: Operation) -> int:
        location = self.parsed.location(op)
        return location.line if location else 0


class JointPrices(Prices):
    """The prices of several kernels that run together: a site says which module it stands in."""

    def __init__(self, prices: Sequence[Prices]) -> None:
        super().__init__(prices[0].target, prices[0].parsed)
        self.waits_for_bytes = any(each.waits_for_bytes for each in prices)
        self._by_source = {id(each.parsed.source): each for each in prices}

    def of(self, site: Site) -> Priced:
        return self._prices(site).of(site)

    def scope(self, site: Site, path: Path) -> Cost:
        return self._prices(site).scope(site, path)

    def _prices(self, site: Site) -> Prices:
        source = site.location.source if site.location else None
        return self._by_source.get(id(source), next(iter(self._by_source.values())))


# --- how many items an operation takes --------------------------------------------------------------------------------


def _sorted_groups(priced: Priced, facts: Mapping[str, Any], written: int) -> int:
    return facts["repeat"]


def _merged_records(priced: Priced, facts: Mapping[str, Any], written: int) -> int:
    """Records that come out: a merge that suspends leaves the others."""
    return written // RECORD_BYTES


def _tiles(priced: Priced, facts: Mapping[str, Any], written: int) -> int:
    """The tiles of a matrix product: none if accumulators start without operands. The raw forms have m, k and n in
    one word, 12 bits each.
    """
    if priced.element is None:
        return 0
    word = facts.get("packed", 0)
    m, n, k = (facts.get(name, word >> shift & 0xFFF) for name, shift in (("m", 0), ("n", 24), ("k", 12)))
    packed = 2 if priced.element.name.startswith("f4") else 1
    return -(-m // TILE) * -(-n // TILE) * -(-k // (TILE_BYTES // priced.element.bytes * packed))


_ITEMS = {"sort": _sorted_groups, "merge_sort": _merged_records, "mad": _tiles}
