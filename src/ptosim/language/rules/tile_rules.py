"""The rules that families of tile operations share, as small checks: each says what it expects and what it found.

A check is made for certain roles and asked of an operation: `checks = (in_vec("src", "dst"), row_major("dst"))`. Roles
that an operation leaves out are passed over. An extent that only the run knows agrees with every other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from xdsl.ir import Attribute

from ptosim.diagnostics import Severity
from ptosim.language.micro.vector import FLOATS, INTEGERS, integers, listing
from ptosim.language.operation import Problem
from ptosim.language.tile.tile_buf import TileBuf
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_types import TileBufType
from ptosim.language.types import element_name, element_of

Check = Callable[[TileOperation, str], Iterator[Problem]]

Elements = Mapping[str, frozenset[str]]
"""Names of element types by target."""


def tiles(op: TileOperation, *roles: str) -> Iterator[tuple[str, TileBuf]]:
    """The tiles of these roles, as far as they are there."""
    for role in roles:
        if op.has(role):
            yield role, op.tile(role)


def at_type(op: TileOperation, role: str, expected: str, found: object) -> Problem:
    """A problem of the type written for a role."""
    return Problem(f"{op.name} expects {role} {expected}, not {found}", at=f"{role}_type")


def extents(shape: Iterable[int | None]) -> str:
    return "x".join("?" if extent is None else str(extent) for extent in shape)


def agree(one: int | None, other: int | None) -> bool:
    return one is None or other is None or one == other


def _each(
    roles: tuple[str, ...], expected: str, holds: Callable[[TileBuf], bool], found: Callable[[TileBuf], object]
) -> Check:
    def check(op: TileOperation, target: str) -> Iterator[Problem]:
        for role, tile in tiles(op, *roles):
            if not holds(tile):
                yield at_type(op, role, expected, found(tile))

    return check


def _alike(
    roles: tuple[str, ...],
    what: str,
    holds: Callable[[TileBuf, TileBuf], bool],
    found: Callable[[TileBuf], object],
) -> Check:
    """The first of the roles sets the pattern; the first that departs from it is reported."""

    def check(op: TileOperation, target: str) -> Iterator[Problem]:
        (first, pattern), *others = tiles(op, *roles)
        for role, tile in others:
            if not holds(pattern, tile):
                yield at_type(op, role, f"to have the {what} of {first}, {found(pattern)}", found(tile))
                return

    return check


# --- place and layout -------------------------------------------------------------------------------------------------


def located(*roles: str, allowed: tuple[str, ...]) -> Check:
    return _each(roles, f"in {' or '.join(allowed)}", lambda tile: tile.loc in allowed, lambda tile: tile.loc)


def in_vec(*roles: str) -> Check:
    return located(*roles, allowed=("vec",))


def row_major(*roles: str) -> Check:
    def check(op: TileOperation, target: str) -> Iterator[Problem]:
        for role, tile in tiles(op, *roles):
            if tile.blayout != "row_major":
                problem = at_type(op, role, "with blayout row_major", tile.blayout)
                yield replace(problem, hint=_as_row(tile) if tile.cols == 1 else None)

    return check


def _as_row(column: TileBuf) -> str:
    """The hint that makes a column a row of the same bytes."""
    row = replace(column, rows=1, cols=column.rows, valid=column.valid[::-1], blayout="row_major")
    there, back = TileBufType(column), TileBufType(row)
    return f"a column is a row of the same bytes: %row = pto.treshape %column : {there} -> {back}"


def none_box(*roles: str) -> Check:
    return _each(roles, "with slayout none_box", lambda tile: not tile.boxed, lambda tile: tile.slayout)


def distinct(one: str, other: str, severity: Severity = "error") -> Check:
    """Two roles are not played by the same value."""
    kind = "invalid" if severity == "error" else "lint"

    def check(op: TileOperation, target: str) -> Iterator[Problem]:
        if op.has(one) and op.has(other) and op.segment(one)[0] is op.segment(other)[0]:
            yield Problem(f"{op.name} expects {one} and {other} to use different storage", other, kind, severity)

    return check


# --- shapes -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SameValid:
    """The valid regions of some roles agree: in rows, in columns or in both. The run says what only it knows."""

    roles: tuple[str, ...]
    what: str
    sides: tuple[int, ...]

    def __call__(self, op: TileOperation, target: str) -> Iterator[Problem]:
        return _alike(self.roles, self.what, self._agree, self._shown)(op, target)

    def _agree(self, one: TileBuf, other: TileBuf) -> bool:
        return all(agree(one.valid[side], other.valid[side]) for side in self.sides)

    def _shown(self, tile: TileBuf) -> object:
        return extents(tile.valid) if self.sides == (0, 1) else ", ".join(str(tile.valid[side]) for side in self.sides)


def same_valid(*roles: str) -> SameValid:
    return SameValid(roles, "valid shape", (0, 1))


def same_valid_rows(*roles: str) -> SameValid:
    return SameValid(roles, "valid rows", (0,))


def same_valid_cols(*roles: str) -> SameValid:
    return SameValid(roles, "valid columns", (1,))


def same_shape(*roles: str) -> Check:
    return _alike(roles, "shape", lambda one, other: one.shape == other.shape, lambda tile: extents(tile.shape))


def valid_rows(count: int, *roles: str) -> Check:
    return _each(roles, f"with {count} valid row", lambda tile: agree(tile.valid[0], count), lambda tile: tile.valid[0])


def valid_cols(count: int, *roles: str) -> Check:
    return _each(
        roles, f"with {count} valid column", lambda tile: agree(tile.valid[1], count), lambda tile: tile.valid[1]
    )


def full_cols(*roles: str) -> Check:
    """Every column is valid."""
    return _each(
        roles,
        "with every column valid",
        lambda tile: agree(tile.valid[1], tile.cols),
        lambda tile: f"{tile.valid[1]} of {tile.cols}",
    )


def not_empty(role: str, unless_empty: str | None = None) -> Check:
    """The valid shape has no zero, unless that of another role is 0x0, the mark of an empty result."""

    def check(op: TileOperation, target: str) -> Iterator[Problem]:
        if unless_empty is not None and op.tile(unless_empty).valid == (0, 0):
            return
        if 0 in (valid := op.tile(role).valid):
            yield at_type(op, role, "with a valid shape without zeros", extents(valid))

    return check


def within(role: str, bound: str) -> Check:
    """The valid shape of one role is not larger than that of another."""

    def check(op: TileOperation, target: str) -> Iterator[Problem]:
        inner, outer = op.tile(role).valid, op.tile(bound).valid
        if any(one is not None and other is not None and one > other for one, other in zip(inner, outer, strict=True)):
            expected = f"with a valid shape within that of {bound}, {extents(outer)}"
            yield at_type(op, role, expected, extents(inner))

    return check


# --- elements ---------------------------------------------------------------------------------------------------------


def same_element(*roles: str) -> Check:
    return _alike(
        roles, "element type", lambda one, other: one.element == other.element, lambda tile: name_of(tile.element)
    )


def name_of(element: Attribute) -> str:
    return element_name(element) or str(element)


def named(accepted: frozenset[str]) -> str:
    """Element types for messages; where an integer is accepted, it is so with every sign."""
    return listing(frozenset(name for name in accepted if not name.startswith(("si", "ui"))))


def element_in(role: str, accepted: Elements) -> Check:
    """The element type is one that the machine has the operation for."""

    def check(op: TileOperation, target: str) -> Iterator[Problem]:
        name = name_of(op.tile(role).element)
        if name not in accepted[target]:
            expected = f"to have elements of {named(accepted[target])} on {target}"
            yield at_type(op, role, expected, name)

    return check


def every(*checks: Check) -> Check:
    """Several checks as one."""

    def check(op: TileOperation, target: str) -> Iterator[Problem]:
        for each in checks:
            yield from each(op, target)

    return check


def assembler(*checks: Check) -> Check:
    """Checks that only the assembler makes: the machine does what such an operation says."""
    together = every(*checks)

    def check(op: TileOperation, target: str) -> Iterator[Problem]:
        return demanded_by_assembler(together(op, target))

    return check


def demanded_by_assembler(problems: Iterator[Problem]) -> Iterator[Problem]:
    """The same problems as those of the assembler alone."""
    return (replace(problem, by_assembler=True) for problem in problems)


def on(target: str, *checks: Check) -> Check:
    """Checks of one machine only."""
    together = every(*checks)
    return lambda op, machine: together(op, machine) if machine == target else iter(())


# --- scalars ----------------------------------------------------------------------------------------------------------


def _scalar(role: str, expected: str, holds: Callable[[Attribute], bool]) -> Check:
    def check(op: TileOperation, target: str) -> Iterator[Problem]:
        for value in op.segment(role):
            if not holds(value.type):
                yield at_type(op, role, expected, value.type)

    return check


def is_integer(type_: Attribute) -> bool:
    return element_name(type_) in INTEGERS


def _is_signless(type_: Attribute) -> bool:
    return is_integer(type_) and name_of(type_).startswith("i")


def number(role: str) -> Check:
    return _scalar(
        role, "to be a signless integer or a float", lambda type_: _is_signless(type_) or element_name(type_) in FLOATS
    )


def signless_integer(role: str) -> Check:
    return _scalar(role, "to be a signless integer", _is_signless)


def any_integer(role: str) -> Check:
    return _scalar(role, "to be an integer", is_integer)


def integer_of(width: int, *roles: str) -> Check:
    """Scalars that are integers of one width, of any signedness."""

    def check(op: TileOperation, target: str) -> Iterator[Problem]:
        for role in roles:
            type_ = op.segment(role)[0].type
            if element_name(type_) not in integers(width):
                yield at_type(op, role, f"to be i{width}", type_)

    return check


def scalar_is(role: str, name: str) -> Check:
    return _scalar(role, f"to be {name}", lambda type_: element_name(type_) == name)


def scalar_of(role: str, tile: str) -> Check:
    """The scalar is an element of a tile; an integer may differ in its sign, since scalars have none."""

    def check(op: TileOperation, target: str) -> Iterator[Problem]:
        type_, element = op.segment(role)[0].type, op.tile(tile).element
        if type_ != element and not same_width(type_, element):
            yield at_type(op, role, f"to have the element type of {tile}, {name_of(element)}", type_)

    return check


def same_width(one: Attribute, other: Attribute) -> bool:
    """Whether both are integers of one width, whatever their sign."""
    return is_integer(one) and is_integer(other) and element_of(one).bits == element_of(other).bits


# --- working memory ---------------------------------------------------------------------------------------------------


def tmp_bytes(least: int, role: str = "tmp") -> Check:
    """A working tile has at least so many bytes."""
    return _each(
        (role,), f"to have at least {least} bytes", lambda tile: tile.size >= least, lambda tile: f"{tile.size} bytes"
    )


def tmp_valid_rows(least: int, role: str = "tmp") -> Check:
    """A working tile has at least so many valid rows, as far as they are known."""
    return _each(
        (role,),
        f"to have at least {least} valid row{'s' * (least > 1)}",
        lambda tile: tile.valid[0] is None or tile.valid[0] >= least,
        lambda tile: tile.valid[0],
    )
