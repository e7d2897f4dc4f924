"""Operations without an instruction on hardware: conditions that only the run can know, tiles as text.

These operations are written by passes. They load again as any other text does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from string import Formatter
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType

from ptosim.diagnostics import SEVERITY
from ptosim.language import operation
from ptosim.language.micro.cube import CubeOperation
from ptosim.language.rules.operand_rules import nth, pointed
from ptosim.language.text.assembly_format import Vocabulary, integers_of
from ptosim.language.text.tile_text import FORMATS, Drawing
from ptosim.language.types import PtrType, element_name, element_of
from ptosim.target.classes import REPEATED_INSTRUCTIONS, UB_COPY

KINDS = Vocabulary(tuple(SEVERITY))
SEVERITIES = Vocabulary(("error", "warning"))

MOST_VALUES = 2
"""The most values in an error of a compiled kernel."""


class SimRequire(operation.PTOOperation, name="pto.sim.require"):
    """Require a condition that only the run can decide.

    Where the condition is false, a check reports a finding of this kind and goes on; its severity is that of the kind
    unless one is given. A run ignores it, unless it is `fatal`: then it ends with the error. Up to two integers behind
    the condition fill the `{}` of the message. It takes no time.

        pto.sim.require %ok {kind = "invalid", message = "the valid rows exceed those of the tile"} : i1
        pto.sim.require %ok, %rows {kind = "out-of-bounds", message = "row {} is outside", fatal} : i1, index
    """

    form = "$condition:i1{, $values...}"
    words = {"kind": KINDS, "severity": SEVERITIES}
    placement = "outside"
    values = operation.VariadicOperand()
    kind = operation.Property()
    message = operation.Property()
    severity = operation.OptionalProperty()
    fatal = operation.OptionalProperty()

    def facts(self) -> Mapping[str, Any]:
        severity = self.word("severity") or SEVERITY[self.word("kind") or ""]
        return {"severity": severity, "fatal": self.fatal is not None}

    def rules(self, target: str) -> Iterator[operation.Problem]:
        for index, value in enumerate(self.values):
            if element_name(value.type) is None or element_of(value.type).is_float:
                yield operation.Problem(f"a message shows integers, not {value.type}", at=nth("values", index))
        if len(self.values) > MOST_VALUES:
            yield operation.Problem(f"a message shows at most {MOST_VALUES} values", at=nth("values", MOST_VALUES))
        if (text := self.word("message")) is None:
            yield operation.Problem("message must be a text", at="message")
        elif _places(text) != len(self.values):
            yield operation.Problem(
                f"the message must have one {{}} for each value: {len(self.values)} of them", at="message"
            )


def _places(text: str) -> int | None:
    """The number of values that a text has room for; None where something else stands in braces."""
    try:
        fields = [field[1:] for field in Formatter().parse(text) if field[1] is not None]
    except ValueError:
        return None
    return len(fields) if all(field == ("", "", None) for field in fields) else None


class SimLookup(operation.PTOOperation, name="pto.sim.lookup"):
    """Look up a number in a table.

    The value at an index; an index beyond the table takes the last value. Numbers that follow no sum from turn to turn,
    such as addresses of buffers in turn, are written so. It takes no time.

        %address = pto.sim.lookup %rows {values = dense<[0, 32768, 0]> : tensor<3xi64>} : index -> index
    """

    form = "$index:index -> $result:index"
    placement = "outside"
    index = operation.Operand()
    values = operation.Property()
    result = operation.Result()

    def facts(self) -> Mapping[str, Any]:
        return {"values": self.numbers}

    @property
    def numbers(self) -> tuple[int, ...]:
        """The table."""
        values = self.values
        return (
            tuple(int(number) for number in values.get_values()) if isinstance(values, DenseIntOrFPElementsAttr) else ()
        )

    def rules(self, target: str) -> Iterator[operation.Problem]:
        values = self.values
        if not isinstance(values, DenseIntOrFPElementsAttr) or not isinstance(values.get_element_type(), IntegerType):
            yield operation.Problem(
                "values are a dense list of integers, such as dense<[0, 64]> : tensor<2xi64>", at="values"
            )
        elif not self.numbers:
            yield operation.Problem("a table has at least one value", at="values")


class SimPrintTile(operation.PTOOperation, name="pto.sim.print_tile"):
    """Print a region of memory as a tile.

    Prints all physical elements, row by row, as they are when the scalar unit comes here; a bar stands behind the valid
    columns and a line below the valid rows. Strides count elements. With a `box` the first two are those inside of a
    box of so many rows and columns, and two more those from box to box. Elements outside of the memory are question
    marks. Only a run prints; a check and a profile do not, and to them it is no access.

        pto.sim.print_tile %ub shape (%rows, %c64) valid (%rows, %c8) strides (%c64, %c1)
            {title = "%sum", format = "width8_precision2"} : !pto.ptr<f32, ub>
        pto.sim.print_tile %ub shape (%c64, %c64) valid (%c64, %c64) strides (%c8, %c1, %c64, %c512)
            {box = array<i64: 16, 8>} : !pto.ptr<f32, ub>
    """

    form = (
        "$base shape ($rows:index, $columns:index) valid ($valid_rows:index, $valid_columns:index) "
        "strides ($row_stride:index, $column_stride:index{, $block_row_stride:index, $block_column_stride:index})"
    )
    listed = ("base",)
    words = {"format": Vocabulary(tuple(FORMATS))}
    placement = "outside"
    base = operation.Operand()
    block_row_stride = operation.OptionalOperand()
    title = operation.OptionalProperty()
    format = operation.OptionalProperty()
    box = operation.OptionalProperty()

    def facts(self) -> Mapping[str, Any]:
        assert isinstance(self.base.type, PtrType)
        rows, columns = integers_of(self, "box") or (1, 1)
        element = element_of(self.base.type.element).name
        drawing = Drawing(
            self.word("title") or "", element, self.word("format") or next(iter(FORMATS)), (rows, columns)
        )
        return {"drawing": drawing, "space": self.base.type.space}

    def rules(self, target: str) -> Iterator[operation.Problem]:
        if not isinstance(self.base.type, PtrType):
            yield operation.Problem(f"base must be a pointer, not {self.base.type}", at="base")
        box = integers_of(self, "box")
        if self.box is not None and (len(box) != 2 or min(box) < 1):
            yield operation.Problem("a box is two positive integers: its rows and columns", at="box")
        if (self.box is None) != (self.block_row_stride is None):
            yield operation.Problem("a box needs two strides from box to box, and they a box", at="box")


class SimInstructions(operation.PTOOperation, name="pto.sim.instructions"):
    """Say which instructions of the A2/A3 vector unit a tile operation is (pipe V).

    `times` instructions of so many repeats of 256 bytes each, of elements of `width` bytes, on so many bytes that are
    valid; of a `copy_ubuf_to_ubuf` the bytes alone count. A scope in which these stand takes the time that they take
    and nothing else; what it computes is what its micro-instructions say.

        pto.sim.instructions %c1 of %c64 on %c16384 {instruction = "vadd", width = 4 : i64}
        pto.sim.instructions %c1 of %c64 on %c16384 {instruction = "vcadd", width = 4 : i64, count_mode}
    """

    form = "$times:index of $repeats:index on $bytes:index"
    typed = False
    words = {"instruction": Vocabulary((*REPEATED_INSTRUCTIONS, UB_COPY))}
    placement = "inside"
    scope_is_written = True
    targets = ("a2a3",)
    instruction = operation.Property()
    width = operation.Property()
    count_mode = operation.OptionalProperty()

    def facts(self) -> Mapping[str, Any]:
        return {"is_counted": self.count_mode is not None}

    def rules(self, target: str) -> Iterator[operation.Problem]:
        if (width := self.integer("width")) not in (1, 2, 4, 8):
            yield operation.Problem(f"width is the bytes of an element, 1, 2, 4 or 8, not {width}", at="width")
        parent = self.parent_op()
        if parent is None or not operation.is_scope(parent):
            yield operation.Problem("belongs directly in a vector scope")


class SimScaleWords(CubeOperation, name="pto.sim.scale_words"):
    """Make parameter words of the fixpipe from scales (pipe FIX).

    `count` scales in L1 become as many words of 8 bytes in the fixpipe buffer: the scale, and that 8-bit results have a
    sign, unless it is `unsigned`. This is what a tile of scales in scaling means; mte_l1_fb copies words that are
    already made.

        pto.sim.scale_words %l1, %fb, %count : !pto.ptr<f16, l1>, !pto.ptr<f32, fb>, i64
        pto.sim.scale_words %l1, %fb, %count {unsigned} : !pto.ptr<f16, l1>, !pto.ptr<f32, fb>, i64
    """

    form = "$source:l1, $dest:fb, $count:i64"
    unsigned = operation.OptionalProperty()

    def facts(self) -> Mapping[str, Any]:
        return {"unsigned": self.unsigned is not None}

    def rules(self, target: str) -> Iterator[operation.Problem]:
        if (name := pointed(self, "source")) not in ("f16", "bf16", "f32"):
            yield operation.Problem(f"scales are f16, bf16 or f32, not {name}", at="source")


class SimStartAcc(CubeOperation, name="pto.sim.start_acc"):
    """Start m x n accumulators from zero, or from a row of the bias table (pipe M).

    What a product of no values is: the hardware multiplies at least one.

        pto.sim.start_acc %c, %m, %n : !pto.ptr<f32, l0c>, i64, i64
        pto.sim.start_acc %c, %m, %n, %bias : !pto.ptr<f32, l0c>, i64, i64, !pto.ptr<f32, bt>
    """

    form = "$c:l0c, $m:i64, $n:i64{, $bias:bt}"
    bias = operation.OptionalOperand()

    def rules(self, target: str) -> Iterator[operation.Problem]:
        if self.bias is None:
            return
        bias, accumulator = pointed(self, "bias"), pointed(self, "c")
        if bias != accumulator:
            yield operation.Problem(f"the bias is {bias}, but the accumulator is {accumulator}", at="bias")
