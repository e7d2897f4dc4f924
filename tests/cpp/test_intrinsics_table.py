"""Headers know every tile operation of the language, but for a list that only shrinks, and no operation besides."""

import re

from ptosim.cpp.compiler import HEADERS
from ptosim.language.catalogue import operations
from ptosim.language.tile.tile_operation import TileOperation

NAME = re.compile(r"pto\.(t[a-z]\w*(?:\.\w+)*|m(?:gather|scatter))")
SPELLED = re.compile(r'PTOSIM_\w+\(\w+, "(\w+)"(?:, "(\w+)")?')
MISSING = {"taddrelu", "talloc", "talloc_to_aic", "talloc_to_aiv", "tprefetch_async"}
"""Operations that have no C++ name."""
SAID_OTHERWISE = {"tsync", "tpush", "tpop", "tfree"}
"""Operations whose C++ form is one of flags, or of a direction."""


def spelled() -> set[str]:
    """The operations that the headers write."""
    found: set[str] = set()
    for path in (HEADERS / "ptosim").glob("*.hpp"):
        text = path.read_text()
        found |= set(NAME.findall(text))
        found |= {
            f"{name}_{core}" for name in re.findall(r"pto\.(t\w+_(?:to|from))_%s", text) for core in ("aic", "aiv")
        }
        for match in SPELLED.findall(text):
            found |= {name for name in match if name}
        for product in re.findall(r'PTOSIM_PHASES\(\w+, T\w+, "(\w+)"\)', text):
            forms = (
                (".mx", ".mx.acc", ".mx.bias") if "MX, T" in text and f"MX, T{product[1:].upper()}_MX" in text else ()
            )
            found |= {f"{product}{form}" for form in ("", ".acc", ".bias", *forms)}
    return found


def test_every_tile_operation_has_an_intrinsic() -> None:
    names = {op.name.removeprefix("pto.") for op in operations() if issubclass(op, TileOperation)}
    compute = {name for name in names if re.match(r"t[a-z]|mgather|mscatter", name) and not name.startswith("tile_")}
    older = {op.name.removeprefix("pto.") for op in operations() if op.replaced_by is not None}
    assert compute - spelled() - older - SAID_OTHERWISE == MISSING
