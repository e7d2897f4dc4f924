"""Calls of `pto.tile` that say something of their own: copies of views, moves, reshapes, sorts, and scratch."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i32

from ptosim.author.call import PLAIN, build, perform
from ptosim.author.coerce import index, literal, traced_value
from ptosim.author.dtypes import dtype as named
from ptosim.author.failures import WrongType, WrongValue, failure
from ptosim.author.tile_types import described
from ptosim.author.tiles import TileValue
from ptosim.author.trace import current, not_in_tileop
from ptosim.author.values import PointerValue, ViewValue, wrap
from ptosim.author.views import partition_view
from ptosim.author.words import choice
from ptosim.language.catalogue import operation
from ptosim.language.tile.tile_types import PartitionViewType, TileBufType
from ptosim.language.tile.tile_view import AllocTile


def _kind(name: str) -> Any:
    found = operation(name)
    assert found is not None
    return found


def _part(view: Any, tile: Any, offsets: Any, sizes: Any, name: str) -> Any:
    """The part of a view that a tile is filled from or goes to."""
    if isinstance(view, PointerValue):
        raise failure(
            WrongType, f"{name} takes a view; make one with pto.make_tensor_view(pointer, shape=…, strides=…)"
        )
    if not isinstance(view, ViewValue):
        raise failure(WrongType, f"{name} takes a view and a tile, not {view!r}")
    if not isinstance(tile, TileValue):
        raise failure(WrongType, f"{name} takes a view and a tile, not {tile!r}")
    is_part = isinstance(view.ssa.type, PartitionViewType)
    if is_part and offsets is None and sizes is None:
        return view
    rank = view.rank
    if sizes is None:
        valid = [tile.valid_shape[number] for number in range(tile.rank)]
        sizes = [*([1] * (rank - len(valid))), *valid[-rank:]]
    return partition_view(view, offsets=[0] * rank if offsets is None else offsets, sizes=sizes)


def load(view: Any, tile: Any, *, offsets: Any = None, sizes: Any = None) -> None:
    """Fill a tile from a view, or from a part of it."""
    not_in_tileop("pto.tile.load")
    part = _part(view, tile, offsets, sizes, "pto.tile.load")
    build(_kind("pto.tload"), "pto.tload", {"src": part, "dst": tile})


def store(tile: Any, view: Any, *, offsets: Any = None, sizes: Any = None, fp: Any = None, **given: Any) -> None:
    """Store a tile to a view, or to a part of it."""
    not_in_tileop("pto.tile.store")
    part = _part(view, tile, offsets, sizes, "pto.tile.store")
    perform(_kind("pto.tstore"), "pto.tile.store", PLAIN, (), {"src": tile, "dst": part, "fp": fp, **given})


_MODES = {
    "vec0": "single_mode_vec0",
    "vec1": "single_mode_vec1",
    "split_m": "dual_mode_split_m",
    "split_n": "dual_mode_split_n",
    "single_mode_vec0": "single_mode_vec0",
    "single_mode_vec1": "single_mode_vec1",
    "dual_mode_split_m": "dual_mode_split_m",
    "dual_mode_split_n": "dual_mode_split_n",
}


def _mode(mode: Any) -> Any:
    return None if mode is None else StringAttr(choice(mode, _MODES, "mode"))


def mov(src: Any, dst: Any, *, fp: Any = None, mode: Any = None, **given: Any) -> None:
    """Move a tile to another; between vector tiles of one width the bits."""
    not_in_tileop("pto.tile.mov")
    if isinstance(src, TileValue) and isinstance(dst, TileValue):
        a, b = src.tile, dst.tile
        if a.loc == b.loc == "vec" and a.element != b.element and a.kind.bits == b.kind.bits:
            from dataclasses import replace

            type_ = TileBufType(replace(a, element=b.element))
            src = src.like(current().make(_kind("pto.bitcast"), {"source": src.ssa}, [type_]).results[0])
    arguments = {"src": src, "dst": dst, "fp": fp, "accToVecMode": _mode(mode), **given}
    perform(_kind("pto.tmov"), "pto.tile.mov", PLAIN, (), arguments)


def _at(name: str) -> Any:
    def moved(src: Any, dst: Any, row: Any, col: Any, *, fp: Any = None, mode: Any = None, **given: Any) -> None:
        not_in_tileop(f"pto.tile.{name}")
        arguments = {"src": src, "dst": dst, "row": row, "col": col, "fp": fp, "accToVecMode": _mode(mode), **given}
        perform(_kind(f"pto.t{name}"), f"pto.tile.{name}", PLAIN, (), arguments)

    moved.__name__ = name
    moved.__doc__ = "Move a part of a tile that begins at a row and a column."
    return moved


extract, insert = _at("extract"), _at("insert")


def reshape(src: Any, *, shape: Any, dtype: Any = None, blayout: Any = None) -> TileValue:
    """The same bytes as a tile of another shape."""
    value = traced_value(src, "src of pto.tile.reshape", "a tile", TileValue)
    assert isinstance(value.type, TileBufType)
    tile = value.type.data
    element = src.dtype if dtype is None else named(dtype)
    layout = tile.blayout if blayout is None else blayout
    made = described(shape, element, tile.loc, None, layout, tile.slayout, tile.fractal, tile.pad)
    result = TileValue(current().make(_kind("pto.treshape"), {"source": value}, [made.type]).results[0])
    result.rank = len(made.shape)
    return result


def _scratch(like: Any) -> Any:
    """A tile to work in; none where tiles are placed by the author."""
    if not isinstance(like, TileValue):
        return None
    owner = like.ssa.owner
    if isinstance(owner, AllocTile) and owner.addr is not None:
        return None
    tile = like.tile
    sides: dict[str, Any] = {}
    for role, valid, number in zip(("valid_row", "valid_col"), tile.valid, (0, 1), strict=True):
        if valid is None:
            at = number - (2 - like.rank)
            sides[role] = index(like.valid_shape[at] if at >= 0 else 1, role)
    made = current().make(AllocTile, sides, [like.ssa.type], name="tmp")
    return wrap(made.results[0])


def _with_scratch(name: str, like: str) -> Any:
    """A call whose working memory may be left out."""
    kind = _kind(f"pto.t{name}")

    def call(*args: Any, **given: Any) -> None:
        from ptosim.author.call import bind, guard

        guard(kind, f"pto.tile.{name}")
        bound = bind(kind, f"pto.tile.{name}", PLAIN, args, given)
        if "tmp" not in bound:
            bound["tmp"] = _scratch(bound.get(like))
        build(kind, f"pto.tile.{name}", {role: value for role, value in bound.items() if value is not None})

    call.__name__ = name
    call.__doc__ = kind.__doc__
    return call


ROW_REDUCTIONS = ("rowsum", "rowmax", "rowmin", "rowprod", "rowargmax", "rowargmin")


def mrgsort(
    src: Any,
    dst: Any,
    block_len: Any = None,
    *,
    tmp: Any = None,
    excuted: Any = None,
    executed: Any = None,
    exhausted: Any = None,
) -> None:
    """Merge sorted runs: of one tile by the length of a run, or of two to four tiles."""
    not_in_tileop("pto.tile.mrgsort")
    tiles: list[Any] = list(src) if isinstance(src, tuple | list) else [src]
    if not 1 <= len(tiles) <= 4:
        raise failure(WrongValue, f"pto.tile.mrgsort merges one to four tiles, not {len(tiles)}")
    given: dict[str, Any] = {f"src{number}": each for number, each in enumerate(tiles)}
    if len(tiles) == 1 and block_len is None:
        raise failure(WrongType, "pto.tile.mrgsort of one tile takes block_len, the length of a sorted run")
    given |= {"dst": dst, "blockLen": block_len, "tmp": tmp, "executed": executed if executed is not None else excuted}
    if exhausted is not None:
        given["exhausted"] = bool(exhausted)
    perform(_kind("pto.tmrgsort"), "pto.tile.mrgsort", PLAIN, (), given)


def tri(diagonal: Any, dst: Any, *, upper_or_lower: Any = "lower") -> None:
    """Ones below or above a diagonal."""
    from ptosim.author.coerce import scalar_value

    not_in_tileop("pto.tile.tri")
    number = literal(upper_or_lower)
    side = number if number is not None else choice(upper_or_lower, {"lower": "0", "upper": "1"}, "upper_or_lower")
    tile = traced_value(dst, "dst of pto.tile.tri", "a tile", TileValue)
    operands = {"scalar": scalar_value(diagonal, i32, "diagonal"), "dst": tile}
    current().make(_kind("pto.ttri"), operands, (), {"upperOrLower": IntegerAttr(int(side), i32)})


def print_(src: Any, tmp: Any = None, *, print_format: Any = None) -> None:
    """Show a tile when the kernel runs."""
    given = {"src": src, "tmp": tmp, "printFormat": print_format}
    perform(_kind("pto.tprint"), "pto.tile.print", PLAIN, (), given)


def own_calls() -> dict[str, Any]:
    """The calls of this room by their names."""
    calls: dict[str, Any] = {
        "load": load,
        "store": store,
        "mov": mov,
        "extract": extract,
        "insert": insert,
        "reshape": reshape,
        "mrgsort": mrgsort,
        "tri": tri,
        "print": print_,
    }
    for name in ROW_REDUCTIONS:
        calls[name] = _with_scratch(name, "src")
    calls["sel"] = _with_scratch("sel", "src0")
    calls["sels"] = _with_scratch("sels", "src")
    return calls
