"""The memories as sizes and addresses, and what to say when an access leaves them. Bytes belong to the engines.

A GM pointer is a place in one argument: as an integer (argument + 1) << 48 plus the offset in bytes. An offset before
the start of the argument borrows from the upper part, so decoding takes the nearest argument and the offset may be
negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ptosim.diagnostics import Details, PTOError, error
from ptosim.effects.names import Space

if TYPE_CHECKING:
    from ptosim.machine.core import Core
    from ptosim.machine.entry import Site
    from ptosim.target.profile import Target

POISON = bytes.fromhex("c17fc17fc1ffc1ff")
"""What fills, over and over, the on-chip memories of a run that must not rely on zeros. Lanes of f16, bf16 and f32 are
quiet NaNs, which every arithmetic instruction hands on; integers are positive and negative by turns, so that sums,
maxima and minima show them."""

OFFSET_BITS = 48
_HALF = 1 << (OFFSET_BITS - 1)


@dataclass(frozen=True, slots=True)
class Argument:
    """A kernel argument in global memory."""

    index: int
    name: str
    size: int  # bytes

    def __str__(self) -> str:
        return f"argument {self.index} (%{self.name})"


def space_size(target: Target, space: Space) -> int:
    """The bytes of an on-chip memory of one core; GM is as large as its arguments."""
    return target.memory[space]


def poisoned(size: int) -> bytes:
    """The contents of a memory of so many bytes."""
    return (POISON * -(-size // len(POISON)))[:size]


def pointer(argument: int, offset: int = 0) -> int:
    """The integer form of a GM pointer."""
    return ((argument + 1) << OFFSET_BITS) + offset


def decode(address: int) -> tuple[int, int]:
    """The argument index and byte offset of a GM pointer; the index may belong to no argument."""
    argument = ((address + _HALF) >> OFFSET_BITS) - 1
    return argument, address - pointer(argument)


def gm_out_of_bounds(
    core: Core, site: Site, arguments: tuple[Argument, ...], verb: str, start: int, stop: int
) -> PTOError:
    """An access to GM pointers [start, stop) that leaves its argument. `verb` is "reads" or "writes"."""
    index, first = decode(start)
    size = stop - start
    if not 0 <= index < len(arguments):
        message = f"{verb} {size} bytes at address 0x{start & (1 << 64) - 1:x}, which lies in no argument"
        return error("out-of-bounds", message, site.location, **_context(core, site))
    argument = arguments[index]
    outside = first if first < 0 else max(first, argument.size)
    message = (
        f"{verb} bytes {first} to {first + size - 1} of {argument}, which has {argument.size} bytes: "
        f"the first byte outside is {outside}"
    )
    return error("out-of-bounds", message, site.location, **_context(core, site, (first, first + size)))


def on_chip_out_of_bounds(core: Core, site: Site, space: Space, verb: str, start: int, stop: int) -> PTOError:
    """An access to [start, stop) of an on-chip memory that leaves it."""
    size = space_size(core.target, space)
    outside = start if start < 0 else max(start, size)
    message = (
        f"{verb} bytes {start} to {stop - 1} of {space}, which has {size} bytes: the first byte outside is {outside}"
    )
    return error("out-of-bounds", message, site.location, **_context(core, site, (start, stop)))


def misaligned(core: Core, site: Site, space: Space, verb: str, address: int, alignment: int) -> PTOError:
    """An access whose address is not a multiple of the alignment."""
    offset = decode(address)[1] if space is Space.GM else address
    message = f"{verb} {space} at {offset}, which is not a multiple of {alignment}"
    return error("misaligned", message, site.location, **_context(core, site))


def _context(core: Core, site: Site, extent: tuple[int, int] | None = None) -> Details:
    return Details(core=core.name, pipe=str(site.pipe), bytes=extent, block=core.block, loops=tuple(core.loops))
