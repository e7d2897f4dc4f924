"""Tile operations that move elements by index, by a pattern, by comparison or by sorting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import StringAttr, VectorType, i16
from xdsl.ir import Attribute
from xdsl.printer import Printer

from ptosim.effects.names import Pipe
from ptosim.language.operation import Operand, OptionalOperand, OptionalProperty, Problem
from ptosim.language.rules import tile_rules as rule
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.text.assembly_format import Vocabulary, check_word
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.text.tile_syntax import Clause, print_dictionary
from ptosim.language.tile.tile_attributes import KINDS
from ptosim.language.tile.tile_family import A2A3, FLOATS, INDICES, UP_TO_32_BITS, VectorTile, elements
from ptosim.language.tile.tile_types import TileBufType

_AXES = Vocabulary(("row", "col"))
_FACTORS = {"P1111": 1, "P0101": 2, "P1010": 2, "P0001": 4, "P0010": 4, "P0100": 4, "P1000": 4}
"""The number of elements from which a pattern takes one."""
_OFFSETS = elements("i16 i32", "i32")
_GATHERED = elements("i8 i16 i32 f16 f32 f8E4M3FN f8E5M2", "i16 i32 f16 f32")
"""Elements that are gathered by index."""
_COMPARED = elements("i16 i32 f16 f32", "i32 f16 f32")
_TAKEN = elements("i8 i16 i32 f16 bf16 f32 f8E4M3FN f8E5M2 hif8", "i16 i32 f16 bf16 f32")
"""Elements that are gathered by a pattern."""


class ByPattern(VectorTile):
    """An operation that has a form with a mask pattern: `ins(%src, {maskPattern = ...} : TB, "row")`."""

    typed_by = "src"
    accepted = UP_TO_32_BITS
    gathers = True
    """Whether dst is the smaller side."""

    @classmethod
    def worded(cls, parser: LocatedParser, clause: Clause) -> dict[str, Attribute]:
        """The axis stands as a string among the types."""
        found: dict[str, Attribute] = {}
        for word, span in clause.words.items():
            parser.place("axis", span)
            found["axis"] = StringAttr(check_word(parser, "axis", word, _AXES, span))
        return found

    def print_ins(self, printer: Printer, attributes: Mapping[str, Attribute]) -> None:
        if "maskPattern" not in attributes:
            super().print_ins(printer, {})
            return
        source = self.segment("src")[0]
        printer.print_ssa_value(source)
        printer.print_string(",")
        print_dictionary(printer, {"maskPattern": attributes["maskPattern"]}, self.words)
        printer.print_string(" : ")
        printer.print_attribute(source.type)
        printer.print_string(f', "{self.word("axis")}"' if self.word("axis") else "")

    @property
    def pattern(self) -> str | None:
        return self.word("maskPattern")

    def pattern_rules(self, target: str) -> Iterator[Problem]:
        """One side is the other, a factor smaller along the axis."""
        axis = self.word("axis")
        if axis is None:
            yield Problem(f'{self.name} with maskPattern requires an axis, "row" or "col"', at="maskPattern")
            return
        checks = (rule.in_vec("src", "dst"), rule.row_major("src", "dst"), rule.same_element("src", "dst"))
        yield from rule.every(*checks)(self, target)
        index, noun = (1, "columns") if axis == "row" else (0, "rows")
        source, result = self.tile("src").valid[index], self.tile("dst").valid[index]
        factor = _FACTORS[str(self.pattern)]
        wide, narrow = (source, result) if self.gathers else (result, source)
        if wide is not None and narrow is not None and wide != narrow * factor:
            ratio = f"1/{factor}" if self.gathers else f"{factor} times"
            yield rule.at_type(self, "dst", f"to have {ratio} of the {source} valid {noun} of src", result)


class TGather(ByPattern, name="pto.tgather"):
    """Takes elements of a tile by index, by a pattern, or by comparison.

    By index: dst[i, j] = src[idx[i, j]], where an index counts elements of the whole tile, row after row. By pattern:
    of every 1, 2 or 4 elements along the axis ("row": columns of a row; "col": rows of a column) the one that
    maskPattern marks, the lowest bit for the first. By comparison (eq, gt): for each row the flat numbers of the
    elements that match the scalar, offset added, from the left; cdst[r, 0] is how many. It covers the valid region of
    dst. On a2a3 gathering by index requires tmp; a5 leaves tmp alone.

        pto.tgather ins(%a, %i, %tmp : !pto.tile_buf<vec, 16x64xf32>, !pto.tile_buf<vec, 16x64xi32>,
            !pto.tile_buf<vec, 16x64xi32>) outs(%d : !pto.tile_buf<vec, 16x64xf32>)
        pto.tgather ins(%a, {maskPattern = #pto.mask_pattern<P0101>} : !pto.tile_buf<vec, 16x64xf32>, "row")
            outs(%h : !pto.tile_buf<vec, 16x32xf32>)
        pto.tgather ins(%a, %x, %tmp : !pto.tile_buf<vec, 16x64xf32>, f32, !pto.tile_buf<vec, 16x64xi32>)
            outs(%n, %c : !pto.tile_buf<vec, 16x64xi32>, !pto.tile_buf<vec, 16x8xi32>)
            {cmpMode = #pto<cmp gt>, offset = 0 : i32}
    """

    src = Operand()
    idx = OptionalOperand()
    scalar = OptionalOperand()
    tmp = OptionalOperand()
    dst = Operand()
    cdst = OptionalOperand()
    maskPattern = OptionalProperty()
    axis = OptionalProperty()
    cmpMode = OptionalProperty()
    offset = OptionalProperty()

    outs = ("dst", "cdst")
    partly_writes = ("dst", "cdst")
    words = {"maskPattern": KINDS["mask_pattern"], "axis": _AXES, "cmpMode": KINDS["cmp"]}
    numbers = ("offset",)
    inside = ("maskPattern", "axis")
    defaults = {"cmpMode": "eq", "offset": 0}

    @classmethod
    def positions(cls, parser: LocatedParser, clause: Clause, count: int) -> list[str]:
        if clause.word == "outs":
            return super().positions(parser, clause, count)
        by_index = count == 1 or isinstance(clause.types[1], TileBufType)
        pattern = "maskPattern" in clause.attributes
        forms = (["src"],) if pattern else (["src", "idx"], ["src", "idx", "tmp"]) if by_index else (_COMPARING,)
        found = next((form for form in forms if len(form) == count), None)
        if found is None:
            cls.miscounted(parser, clause, ["src", "idx", "tmp"] if by_index else forms[-1])
        return found

    def tile_rules(self, target: str) -> Iterator[Problem]:
        if self.has("cdst") != self.has("scalar"):
            yield Problem(f"{self.name} has cdst only, and always, in the form that compares", at="dst")
        elif self.pattern is not None:
            yield from rule.element_in("src", _TAKEN)(self, target)
            yield from self.pattern_rules(target)
        elif self.has("scalar"):
            yield from self._compare_rules(target)
        else:
            yield from self._index_rules(target)

    def _index_rules(self, target: str) -> Iterator[Problem]:
        if target == A2A3 and not self.has("tmp"):
            yield Problem(f"{self.name} requires tmp on {A2A3}", at="idx")
        yield from rule.every(
            rule.in_vec("src", "idx", "dst"),
            rule.element_in("src", _GATHERED),
            rule.same_element("src", "dst"),
            rule.element_in("idx", _OFFSETS),
            rule.on(A2A3, rule.same_element("idx", "tmp"), rule.same_valid("idx", "tmp")),
            rule.full_cols("dst", "idx"),
        )(self, target)

    def _compare_rules(self, target: str) -> Iterator[Problem]:
        checks = (rule.in_vec("src", "dst", "cdst"), rule.element_in("dst", INDICES), rule.element_in("cdst", INDICES))
        yield from rule.every(rule.element_in("src", _COMPARED), *checks, rule.number("scalar"))(self, target)
        if (mode := self.setting("cmpMode")) not in ("eq", "gt"):
            yield Problem(f"{self.name} compares with eq or gt, not {mode}", at="cmpMode")
        elif target == A2A3 and mode != "eq" and self.tile("src").kind.is_integer:
            yield Problem(f"{self.name} compares integers with eq only on {A2A3}, not {mode}", at="cmpMode")


_COMPARING = ["src", "scalar", "tmp"]


class TScatter(ByPattern, name="pto.tscatter"):
    """Puts elements of a tile to places given by index or by a pattern; dst is zero elsewhere.

    By index: dst[idx[i, j]] = src[i, j], where an index counts elements of the whole tile, row after row; equal indices
    leave it open which element stays. By pattern: the reverse of tgather, of every 1, 2 or 4 elements along the axis
    the one that maskPattern marks is written. All of dst is zeroed first, its bytes outside the valid region, too.

        pto.tscatter ins(%a, %i : !pto.tile_buf<vec, 16x64xf32>, !pto.tile_buf<vec, 16x64xi32>)
            outs(%d : !pto.tile_buf<vec, 16x64xf32>)
    """

    src = Operand()
    idx = OptionalOperand()
    dst = Operand()
    maskPattern = OptionalProperty()
    axis = OptionalProperty()

    gathers = False
    pipes = (Pipe.V, Pipe.S)
    words = {"maskPattern": KINDS["mask_pattern"], "axis": _AXES}
    inside = ("maskPattern", "axis")

    def pipe(self, target: str) -> Pipe:
        """On a2a3 the scalar unit scatters by index."""
        return Pipe.S if target == A2A3 and self.pattern is None else Pipe.V

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from rule.element_in("src", self.accepted)(self, target)
        if self.pattern is not None:
            if self.has("idx"):
                yield Problem(f"{self.name} takes idx or maskPattern, not both", at="idx")
            yield from self.pattern_rules(target)
        elif not self.has("idx"):
            yield Problem(f"{self.name} requires idx or maskPattern", at="src")
        else:
            checks = (
                rule.in_vec("src", "idx", "dst"),
                rule.same_element("src", "dst"),
                rule.element_in("idx", elements("i16 i32")),
            )
            yield from rule.every(*checks)(self, target)


class TGatherB(VectorTile, name="pto.tgatherb"):
    """Takes blocks of 32 bytes of a tile by their offsets in bytes.

    Block k of row i of dst is src from byte offset[i, k] on; offsets are multiples of 32. It covers the valid region of
    dst; bytes outside of it keep what they have.

        pto.tgatherb ins(%a, %o : !pto.tile_buf<vec, 16x64xf32>, !pto.tile_buf<vec, 16x8xui32>)
            outs(%d : !pto.tile_buf<vec, 16x64xf32>)
    """

    src = Operand()
    idx = Operand()
    dst = Operand()

    accepted = UP_TO_32_BITS
    checks = (rule.in_vec("src", "idx", "dst"), rule.same_element("src", "dst"), rule.element_in("idx", INDICES))


# --- sorting ----------------------------------------------------------------------------------------------------------


class TSort32(VectorTile, name="pto.tsort32"):
    """Sorts every 32 elements of a row in descending order, with an index for each.

    A record of dst has 8 bytes: the element (f16: and two bytes of zero) and its index, so dst has twice (f32) or four
    times (f16) as many columns. Equal elements keep their order. An idx of one valid row serves all rows. A last group
    of fewer than 32 is filled up with values that sort last, in tmp.

        pto.tsort32 ins(%a, %i : !pto.tile_buf<vec, 1x64xf32>, !pto.tile_buf<vec, 1x64xui32>)
            outs(%d : !pto.tile_buf<vec, 1x128xf32>)
    """

    src = Operand()
    idx = Operand()
    tmp = OptionalOperand()
    dst = Operand()

    accepted = FLOATS
    scratch = ("tmp",)
    checks = (
        rule.in_vec("src", "idx", "dst"),
        rule.row_major("src", "idx", "dst"),
        rule.same_element("src", "dst"),
        rule.element_in("idx", INDICES),
    )


_SOURCES = ("src0", "src1", "src2", "src3")


class TMrgSort(VectorTile, name="pto.tmrgsort"):
    """Merges sorted lists of records, as tsort32 makes them, in descending order.

    One source and blockLen: every four blocks of blockLen elements become one; blockLen is a multiple of 64. Two to
    four sources: they are merged into tmp and as much as dst has valid columns is kept; with exhausted = true merging
    ends when one list does, and executed says how many records of each were taken. Of equal elements that of the lower
    list comes first. `no_tmp` stands for a working tile that is left out.

        pto.tmrgsort ins(%a, %n : !pto.tile_buf<vec, 1x256xf32>, i32) outs(%d : !pto.tile_buf<vec, 1x256xf32>)
        %x = arith.constant dense<0> : vector<4xi16>
        pto.tmrgsort ins(%b, %c, %tmp {exhausted = false} : !pto.tile_buf<vec, 1x128xf32>,
            !pto.tile_buf<vec, 1x128xf32>, !pto.tile_buf<vec, 1x256xf32>)
            outs(%e, %x : !pto.tile_buf<vec, 1x256xf32>, vector<4xi16>)
    """

    src0 = Operand()
    src1 = OptionalOperand()
    src2 = OptionalOperand()
    src3 = OptionalOperand()
    blockLen = OptionalOperand()
    tmp = OptionalOperand()
    dst = Operand()
    executed = OptionalOperand()
    exhausted = OptionalProperty()

    outs = ("dst", "executed")
    scalars = ("blockLen",)
    untyped = ("executed",)
    partly_writes = ("dst", "executed")
    scratch = ("tmp",)
    typed_by = "src0"
    accepted = FLOATS
    flags = ("exhausted",)
    inside = ("exhausted",)
    defaults = {"exhausted": False}
    checks = (
        rule.in_vec(*_SOURCES, "tmp", "dst"),
        rule.row_major(*_SOURCES, "dst"),
        rule.same_element(*_SOURCES, "tmp", "dst"),
        rule.valid_rows(1, *_SOURCES, "dst"),
    )

    @classmethod
    def worded(cls, parser: LocatedParser, clause: Clause) -> dict[str, Attribute]:
        """`no_tmp` has been heeded with the roles."""
        if clause.word == "ins":
            clause.words.pop("no_tmp", None)
        return super().worded(parser, clause)

    @classmethod
    def positions(cls, parser: LocatedParser, clause: Clause, count: int) -> list[str]:
        if clause.word == "outs":
            return super().positions(parser, clause, count)
        types = clause.types
        if count == 2 and not isinstance(types[1], TileBufType):
            return ["src0", "blockLen"]
        lists = count if "no_tmp" in clause.words else count - 1
        if not 2 <= lists <= len(_SOURCES):
            cls.miscounted(parser, clause, [*_SOURCES, "tmp"])
        return [*_SOURCES[:lists], "tmp"][:count]

    def print_ins(self, printer: Printer, attributes: Mapping[str, Attribute]) -> None:
        values = [value for role in (*_SOURCES, "blockLen", "tmp") for value in self.segment(role)]
        printer.print_list(values, printer.print_ssa_value)
        printer.print_string("" if self.has("tmp") or self.has("blockLen") else " no_tmp")
        print_dictionary(printer, attributes, self.words)
        printer.print_string(" : ")
        printer.print_list([value.type for value in values], printer.print_attribute)

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from super().tile_rules(target)
        yield from self._block_rules(target) if self.has("blockLen") else self._list_rules()

    def _block_rules(self, target: str) -> Iterator[Problem]:
        yield from rule.any_integer("blockLen")(self, target)
        length = constant_of(self.segment("blockLen")[0])
        if length is not None and (length <= 0 or length % 64):
            yield Problem(
                f"{self.name} expects a blockLen that is a positive multiple of 64, not {length}", at="blockLen"
            )
        if self.has("executed"):
            yield Problem(f"{self.name} of blocks has no executed", at="executed")

    def _list_rules(self) -> Iterator[Problem]:
        expected = VectorType(i16, [4])
        if not self.has("executed"):
            yield Problem(f"{self.name} of lists expects executed, of type {expected}, after dst", at="dst")
        elif (found := self.segment("executed")[0].type) != expected:
            yield rule.at_type(self, "executed", f"to be {expected}", found)
        total = sum(source.valid[1] or 0 for _, source in rule.tiles(self, *_SOURCES))
        for role, tmp in rule.tiles(self, "tmp"):
            if tmp.cols < total:
                expected = f"to have at least the {total} valid columns of its sources"
                yield rule.at_type(self, role, expected, tmp.cols)
