"""The names of `pto`: decorators, types and words here; every call is looked up when it is first used."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HOMES = {
    "ptosim.ptodsl.decorators": "jit merge_jit_modules",
    "ptosim.author.tileop": "tileop",
    "ptosim.author.functions": "func",
    "ptosim.author.simt": "simt simt_launch Vec",
    "ptosim.author.fifo": "pipe",
    "ptosim.author.vmi": "vmi",
    "ptosim.author.scopes": "section vecscope static_range for_ if_ while_ yield_",
}
"""The modules of names that are no calls of operations."""

_known: dict[str, Any] = {}


class _Tiles:
    """`pto.tile.*`: operations on tiles."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        from ptosim.author.surface import tile_call

        return tile_call(name)

    def __dir__(self) -> list[str]:
        from ptosim.author.surface import tile_names

        return sorted(tile_names())


tile = _Tiles()


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name not in _known:
        _known[name] = _found(name)
    return _known[name]


def _found(name: str) -> Any:
    from importlib import import_module

    for home, names in HOMES.items():
        if name in names.split():
            return getattr(import_module(home), name)
    if name == "const_expr":
        from ptosim.author.dtypes import CONST_EXPR

        return CONST_EXPR
    from ptosim.author import words

    if name in words.NAMES:
        return words.enum(name)
    from ptosim.author.dtypes import DTYPES, ptr

    if name in DTYPES:
        return DTYPES[name]
    if name == "ptr":
        return ptr
    from ptosim.author.surface import pto_name

    return pto_name(name)


def __dir__() -> list[str]:
    from ptosim.author import words
    from ptosim.author.surface import known_names

    own = [name for names in HOMES.values() for name in names.split()]
    return sorted({*own, *words.NAMES, *known_names(), "tile", "const_expr"})
