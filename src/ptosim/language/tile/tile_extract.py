"""Moves between tiles: whole tiles, windows taken out of a tile, tiles put into a window.

The memories of the two tiles decide the pipe and the rules: a path. How a path becomes copies is for the lowering.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from xdsl.ir import SSAValue

from ptosim.effects.names import Pipe
from ptosim.language.operation import Operand, OptionalOperand, OptionalProperty, Problem
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.rules.tile_place_rules import element_word, is_laid_out
from ptosim.language.rules.tile_rules import at_type, same_element, same_shape
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.text.tile_syntax import Clause
from ptosim.language.tile.scale_words import stands_for_scales
from ptosim.language.tile.tile_accumulator import leaves, splits
from ptosim.language.tile.tile_attributes import KINDS
from ptosim.language.tile.tile_buf import is_fp4
from ptosim.language.tile.tile_exponents import exponent_rules
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_types import tile_of

Path = tuple[str, str]

_PIPES: Mapping[Path, Pipe] = {
    ("vec", "vec"): Pipe.V,
    ("vec", "mat"): Pipe.MTE3,
    ("mat", "left"): Pipe.MTE1,
    ("mat", "right"): Pipe.MTE1,
    ("mat", "bias"): Pipe.MTE1,
    ("mat", "scaling"): Pipe.MTE1,
    ("acc", "mat"): Pipe.FIX,
    ("acc", "vec"): Pipe.FIX,
}
"""The pipe of a path; parameters of the fixpipe go to their buffer by its own pipe."""

_BIASES = {("f32", "f32"), ("i32", "i32"), ("f16", "f32"), ("bf16", "f32")}
"""Elements in L1 and in the bias table."""


class Move(TileOperation):
    """A tile, or a window of it, from one local memory to another."""

    pipes = (Pipe.V, Pipe.MTE1, Pipe.MTE3, Pipe.FIX)
    words = {"accToVecMode": KINDS["acc_to_vec_mode"], "reluPreMode": KINDS["relu_pre_mode"]}
    defaults = {"accToVecMode": "single_mode_vec0", "reluPreMode": "no_relu"}
    paths: ClassVar[Mapping[str, frozenset[Path]]]
    """The paths that each machine has."""
    src = Operand()
    fp = OptionalOperand()
    pre_quant = OptionalOperand()
    dst = Operand()
    accToVecMode = OptionalProperty()
    reluPreMode = OptionalProperty()

    @property
    def path(self) -> Path:
        return self.tile("src").loc, self.tile("dst").loc

    def pipe(self, target: str) -> Pipe:
        parameters = self.path == ("mat", "scaling") and not self.moves_scales
        return Pipe.FIX if parameters else _PIPES[self.path]

    @property
    def moves_scales(self) -> bool:
        """Whether it brings MX scales beside their operand, not parameters to the fixpipe."""
        return self.path == ("mat", "scaling") and (
            element_word(self.tile("src")) == "f8E8M0" or stands_for_scales(self.segment("dst")[0])
        )

    def tile_rules(self, target: str) -> Iterator[Problem]:
        if self.path not in self.paths[target]:
            known = ", ".join(f"{source} to {dest}" for source, dest in sorted(self.paths[target]))
            source, dest = self.path
            yield Problem(
                f"{self.name} cannot move from {source} to {dest} on {target}; it moves {known}", at="dst_type"
            )
            return
        yield from leaves(self, target, self.tile("dst").element, isinstance(self, WindowMove))
        yield from splits(self)
        yield from self._elements(target)
        if self.tile("src").loc == "acc":
            yield from is_laid_out(self, "src", "NZ")
        if self.path == ("vec", "mat"):
            boxed = self.tile("src").boxed and self.tile("src").layout == self.tile("dst").layout
            yield from () if boxed else is_laid_out(self, "dst", "NZ", on=" for a tile of vec")
        yield from self.path_rules(target)

    def _elements(self, target: str) -> Iterator[Problem]:
        """Only what leaves an accumulator, and what becomes a bias, may change its element type."""
        src, dst = self.tile("src"), self.tile("dst")
        pair = element_word(src), element_word(dst)
        if self.path == ("mat", "bias"):
            if pair not in _BIASES:
                known = ", ".join(f"{source} to {dest}" for source, dest in sorted(_BIASES))
                yield at_type(self, "dst", f"in bias to come from {known}", f"{pair[0]} to {pair[1]}")
        elif src.loc != "acc" and not self.moves_scales:
            yield from same_element("src", "dst")(self, target)

    def path_rules(self, target: str) -> Iterator[Problem]:
        """Problems of the operation beyond its path."""
        return iter(())


# --- whole tiles ------------------------------------------------------------------------------------------------------


class TMov(Move, name="pto.tmov"):
    """Move a tile to another memory, or to another layout.

    dst[i, j] = src[i, j]. mat to left, right, bias or scaling feeds the cube unit; acc to mat or vec goes through the
    fixpipe, where f32 may become f16 or bf16, an i64 parameter word or a tile of parameters in scaling quantises, and
    `reluPreMode` normal_relu clips at zero; vec to vec may change the layout. `accToVecMode` says which vector core
    gets the tile, or which half of it each gets. With a second tile in vec, working memory, the scale exponents of an
    MX operand are brought to the order of the cube unit; `grpAxis` is the axis that shares them.

        pto.tmov ins(%m : !pto.tile_buf<mat, 16x64xf16, blayout=col_major, slayout=row_major>)
            outs(%a : !pto.tile_buf<left, 16x64xf16, blayout=col_major, slayout=row_major>)
    """

    scalars = ("pre_quant",)
    apart = ("fp", "tmp", "pre_quant")
    scratch = ("tmp",)
    generic = ("src", "dst", "fp", "pre_quant")
    words = {**Move.words, "grpAxis": KINDS["mx_group_axis"]}
    paths = {
        "a5": frozenset(_PIPES),
        "a2a3": frozenset(_PIPES) - {("vec", "mat")},
    }
    src = Operand()
    fp = OptionalOperand()
    tmp = OptionalOperand()
    pre_quant = OptionalOperand()
    dst = Operand()
    grpAxis = OptionalProperty()

    @classmethod
    def positions(cls, parser: LocatedParser, clause: Clause, count: int) -> list[str]:
        """A second tile in scaling holds parameters, another one is working memory."""
        if clause.word == "outs":
            return super().positions(parser, clause, count)
        roles = ["src"]
        for item in clause.items[1:]:
            tile = tile_of(item.value.type)
            roles.append("pre_quant" if tile is None else "fp" if tile.loc == "scaling" else "tmp")
        if not clause.items or len(set(roles)) < len(roles):
            cls.miscounted(parser, clause, cls.clause_roles("ins"))
        return roles

    def role_in_generic(self, role: str, values: Sequence[SSAValue]) -> str:
        """The generic form has one place for both kinds of second tile."""
        tile = tile_of(values[0].type) if role == "fp" and values else None
        return "tmp" if tile is not None and tile.loc != "scaling" else role

    def path_rules(self, target: str) -> Iterator[Problem]:
        if self.tile("src").loc == "mat" and not self._unpacks():
            yield from same_shape("src", "dst")(self, target)
        if self.path == ("mat", "bias") and self.tile("dst").rows != 1:
            yield at_type(self, "dst", "in bias to have one row", self.tile("dst").rows)
        yield from exponent_rules(self, target)

    def _unpacks(self) -> bool:
        """Whether a tile of pairs of fp4 values, along its blocks, goes to one that counts the values."""
        src, dst = self.tile("src"), self.tile("dst")
        rows, cols = src.shape
        return is_fp4(src.element) and dst.shape == ((2 * rows, cols) if src.layout == "ZN" else (rows, 2 * cols))


class TMovFp(TMov, name="pto.tmov.fp"):
    """Older name of pto.tmov with a tile of parameters.

    The tile of parameters stands second.

        pto.tmov.fp ins(%c, %f : !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>,
            !pto.tile_buf<scaling, 1x32xi64>)
            outs(%m : !pto.tile_buf<mat, 16x32xi8, blayout=col_major, slayout=row_major>)
    """

    replaced_by = "pto.tmov"


# --- windows ----------------------------------------------------------------------------------------------------------


class WindowMove(Move):
    """A move whose larger tile is accessed from a row and a column on."""

    scalars = ("row", "col", "pre_quant")
    generic = ("src", "row", "col", "dst", "fp", "pre_quant")
    larger: ClassVar[str]
    """The tile that the window is in."""

    def extent(self) -> tuple[int | None, int | None]:
        """The extent of the window, as far as it is known: the tile it goes to, or the valid region it comes from."""
        return self.tile("dst").shape if self.larger == "src" else self.tile("src").valid

    def path_rules(self, target: str) -> Iterator[Problem]:
        tile = self.tile(self.larger)
        for role, size, limit in zip(("row", "col"), self.extent(), tile.shape, strict=True):
            (value,) = self.segment(role)
            if str(value.type) != "index":
                yield at_type(self, role, "to be index", value.type)
            start = constant_of(value)
            if start is None:
                continue
            if start < 0:
                yield Problem(f"{role} is {start}; a window begins inside the tile", at=role)
            elif size is not None and start + size > limit:
                side = "rows" if role == "row" else "columns"
                message = f"{role} {start} + {size} {side} of the window exceed the {limit} {side} of {self.larger}"
                yield Problem(message, at=role, by_assembler=self.larger == "src")


class TExtract(WindowMove, name="pto.textract"):
    """Take a window out of a tile.

    dst[i, j] = src[i + row, j + col] over the valid region of dst. mat to left or right feeds the cube unit: an NZ tile
    taken to right, or a ZN one to left, is transposed on the way so that the elements stay the same. acc to mat or vec
    goes through the fixpipe as by pto.tmov.

        pto.textract ins(%m, %row, %col
            : !pto.tile_buf<mat, 64x256xf16, blayout=col_major, slayout=row_major>, index, index)
            outs(%a : !pto.tile_buf<left, 16x64xf16, blayout=col_major, slayout=row_major>)
    """

    keywords = {"fp": "fp"}
    larger = "src"
    paths = {
        "a5": frozenset(_PIPES) - {("mat", "bias")},
        "a2a3": frozenset({("mat", "left"), ("mat", "right"), ("vec", "vec"), ("acc", "mat")}),
    }
    src = Operand()
    row = Operand()
    col = Operand()
    pre_quant = OptionalOperand()
    fp = OptionalOperand()
    dst = Operand()

    def path_rules(self, target: str) -> Iterator[Problem]:
        yield from super().path_rules(target)
        if self.path == ("acc", "mat") and target != "a5" and element_word(self.tile("dst")) == "f32":
            yield at_type(self, "dst", f"of acc to have elements of f16 or bf16 on {target}", "f32")
        if self.path == ("mat", "left"):
            yield from is_laid_out(self, "dst", "NZ" if target == "a5" else "ZZ", on=f" in left of {target}")
        elif self.path == ("mat", "right"):
            yield from is_laid_out(self, "dst", "ZN", on=" in right")
        elif self.path == ("vec", "vec") and target == "a5":
            for role in ("src", "dst"):
                yield from is_laid_out(self, role, "ND", on=" between tiles in vec")


class TInsert(WindowMove, name="pto.tinsert"):
    """Put a tile into a window of another.

    dst[i + row, j + col] = src[i, j] over the valid region of src; the rest of dst keeps its contents. acc to mat or
    vec goes through the fixpipe as by pto.tmov, vec to mat is a copy of UB to L1. `tinsertMode` split2 and split4 cut
    that copy into parts.

        pto.tinsert ins(%s, %row, %col : !pto.tile_buf<vec, 16x64xf32>, index, index)
            outs(%d : !pto.tile_buf<vec, 32x64xf32>)
    """

    pipes = (Pipe.V, Pipe.S, Pipe.MTE3, Pipe.FIX)
    keywords = {"fp": "fp", "pre_quant": "pre_quant"}
    partly_writes = ("dst",)
    larger = "dst"
    words = {**Move.words, "tinsertMode": KINDS["tinsert_mode"]}
    paths = {
        "a5": frozenset({("acc", "mat"), ("acc", "vec"), ("vec", "vec"), ("vec", "mat")}),
        "a2a3": frozenset({("acc", "mat"), ("vec", "vec")}),
    }
    src = Operand()
    row = Operand()
    col = Operand()
    fp = OptionalOperand()
    pre_quant = OptionalOperand()
    dst = Operand()
    tinsertMode = OptionalProperty()

    def pipe(self, target: str) -> Pipe:
        """One element in UB is copied by the scalar unit."""
        single = self.path == ("vec", "vec") and self.tile("src").valid == (1, 1)
        return Pipe.S if single else super().pipe(target)

    def path_rules(self, target: str) -> Iterator[Problem]:
        yield from super().path_rules(target)
        src, dst = self.tile("src"), self.tile("dst")
        if self.path == ("vec", "vec") and src.layout != dst.layout:
            yield at_type(self, "dst", f"to be laid out as {src.layout} like src", dst.layout)
        yield from self._elements_of_a2a3() if target != "a5" else ()
        if self.tinsertMode is not None and self.path != ("vec", "mat"):
            message = f"tinsertMode is for moves from vec to mat, not from {src.loc} to {dst.loc}"
            yield Problem(message, at="tinsertMode")

    def _elements_of_a2a3(self) -> Iterator[Problem]:
        found = element_word(self.tile("dst"))
        quantised = self.has("fp") or self.has("pre_quant")
        if self.path == ("acc", "mat") and not quantised and found == "f32":
            yield at_type(self, "dst", "of acc to have elements of f16 or bf16 on a2a3", found)
        elif self.path == ("vec", "vec") and found not in _INSERTED:
            yield at_type(self, "dst", f"to have elements of {', '.join(_INSERTED)} on a2a3", found)


_INSERTED = ("i8", "f16", "bf16", "f32")
"""Elements that a2a3 puts into a window of UB."""


class _ParametersSecond(WindowMove):
    """An older form: the tile of parameters stands second, before row and column."""

    keywords = {}

    @classmethod
    def positions(cls, parser: LocatedParser, clause: Clause, count: int) -> list[str]:
        if clause.word == "outs":
            return super().positions(parser, clause, count)
        if count != 4:
            cls.miscounted(parser, clause, ["src", "fp", "row", "col"])
        second = tile_of(clause.items[1].value.type) is not None
        return ["src", "fp", "row", "col"] if second else ["src", "row", "col", "fp"]


class TExtractFp(_ParametersSecond, TExtract, name="pto.textract_fp"):
    """Older name of pto.textract with a tile of parameters.

    The tile of parameters stands second.

        pto.textract_fp ins(%c, %f, %row, %col
            : !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>,
              !pto.tile_buf<scaling, 1x32xi64>, index, index)
            outs(%m : !pto.tile_buf<mat, 16x32xi8, blayout=col_major, slayout=row_major>)
    """

    replaced_by = "pto.textract"


class TInsertFp(_ParametersSecond, TInsert, name="pto.tinsert_fp"):
    """Older name of pto.tinsert with a tile of parameters.

    The tile of parameters stands second.

        pto.tinsert_fp ins(%c, %f, %row, %col
            : !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>,
              !pto.tile_buf<scaling, 1x32xi64>, index, index)
            outs(%m : !pto.tile_buf<mat, 32x32xi8, blayout=col_major, slayout=row_major>)
    """

    replaced_by = "pto.tinsert"
