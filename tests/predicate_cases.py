"""Every instruction that makes or rearranges masks, in every way it can be written (see vector_cases).

Loads and stores of masks are not among them.
"""

from collections.abc import Iterator
from itertools import product

from ptosim.effects.predicate import PATTERNS
from ptosim.language.catalogue import operations, room_of
from ptosim.language.micro import predicate

GRANULARITIES = ("b8", "b16", "b32")


def names() -> set[str]:
    """The instructions of the room; none of them touches memory."""
    return {op.name for op in operations() if room_of(op) == "predicate"}


def cases() -> dict[str, list[str]]:
    """By name of the instruction, all the ways to write it."""
    found: dict[str, list[str]] = {}
    for name, text in _written():
        found.setdefault(f"pto.{name}", []).append(text)
    return found


def _written() -> Iterator[tuple[str, str]]:
    for granularity in GRANULARITIES:
        mask = f"M<{granularity}>"
        for name, pattern in product(("pset", "pge"), PATTERNS):
            made = f'%p = pto.{name}_{granularity} "{pattern}" : !pto.mask<{granularity}>'
            yield f"{name}_{granularity}", f"{made}\n%d = pto.psel %p, %a, %b : {mask}, {mask}, {mask} -> {mask}"
        for count in ("i32", "ui32", "si32"):
            yield f"plt_{granularity}", f"%d, %next = pto.plt_{granularity} %s : {count} -> {mask}, {count}"
        yield f"pltm_{granularity}", f"%d = pto.pltm_{granularity} %l, %b : i16, i32 -> {mask}"
        for name in ("pand", "por", "pxor", "psel"):
            yield name, f"%d = pto.{name} %a, %b, %m : {mask}, {mask}, {mask} -> {mask}"
        yield "pnot", f"%d = pto.pnot %a, %m : {mask}, {mask} -> {mask}"
        for name in ("pintlv", "pdintlv"):
            whole = f"{name}_{granularity}"
            yield whole, f"%d, %e = pto.{whole} %a, %b : {mask}, {mask} -> {mask}, {mask}"
        for other in GRANULARITIES:
            yield "pbitcast", f"%d = pto.pbitcast %a : {mask} -> M<{other}>"
    for op, part in product((predicate.PPack, predicate.PUnpack), ("LOWER", "HIGHER")):
        name = op.name.removeprefix("pto.")
        for one, other in (*op.steps, *((same, same) for same in GRANULARITIES)):
            yield name, f'%d = pto.{name} %a, "{part}" : M<{one}> -> M<{other}>'
