"""Reductions of logical vectors, whole or by groups; broadcasts, ramps and histograms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ptosim.language.logical_types import LogicalVectorType
from ptosim.language.operation import Operand, OptionalProperty, Problem, made
from ptosim.language.text.assembly_format import Vocabulary
from ptosim.language.types import element_name, element_of
from ptosim.language.vmi.vmi_operation import (
    F16_F32,
    PMODES,
    PREFIX,
    WITHOUT_BF16,
    VmiOperation,
    alike,
    divides,
    elements_among,
    flag,
    governed,
)

_BYTES = frozenset({"i8", "ui8"})


class VmiReduction(VmiOperation):
    """One lane for each group of lanes, or for all of them."""

    form = "$input:logical, $mask:truths -> $result:logical"
    reassociates: ClassVar[bool] = False
    group = OptionalProperty()
    reassoc = OptionalProperty()

    def shapes(self) -> Iterator[Problem]:
        yield from elements_among(self, "input", WITHOUT_BF16)
        yield from governed(self, "mask", "input")
        yield from divides(self, "input")
        groups = self.integer("group") if self.attribute("group") is not None else 1
        result, element = self.vector("result"), self.element("input")
        if result is not None and groups is not None and result.lanes != groups:
            message = f"result of {self.name} has {result.lanes} lanes, but there are {groups} groups"
            yield Problem(message, at="result")
        if self.element("result") != element:
            message = f"result of {self.name} has elements of {self.element('result')}, but input of {element}"
            yield Problem(message, at="result")
        if self.reassociates and element in F16_F32 and not flag(self, "reassoc"):
            yield Problem(f"{self.name} of floats adds in an order of its own: write {{reassoc}}")
        if not self.reassociates and self.attribute("reassoc") is not None:
            yield Problem(f"{self.name} takes no reassoc: it rounds nothing", at="reassoc")


def _reduction(name: str, text: str, attributes: str) -> type[VmiReduction]:
    written = f"%a, %mask {{group = 8{attributes}}} : !pto.vmi.vreg<64xf32>, !pto.vmi.mask<64xpred>"
    page = f"{text}\n\n    %r = pto.vmi.{name} {written} -> !pto.vmi.vreg<8xf32>\n"
    return made(__name__, VmiReduction, PREFIX + name, __doc__=page, reassociates=name == "vcadd")


OPERATIONS = (
    _reduction(
        "vcadd",
        """Sum of the active lanes of a logical vector, or of each of C groups.

Lane g of the result is the sum of group g, 0 without an active lane. Integers wrap in their own width. Floats need
reassoc: the order of the sums is that of docs/vmi.md, whatever registers the lanes lie in.""",
        ", reassoc",
    ),
    _reduction(
        "vcmax",
        """Largest active lane of a logical vector, or of each of C groups.

Without an active lane the least value. Signless integers are unsigned.""",
        "",
    ),
    _reduction(
        "vcmin",
        """Smallest active lane of a logical vector, or of each of C groups.

Without an active lane the greatest value. Signless integers are unsigned.""",
        "",
    ),
)


# --- broadcasts and ramps ---------------------------------------------------------------------------------------------


class VmiBroadcast(VmiOperation, name="pto.vmi.vbrc"):
    """Fill a logical vector with a scalar, with a vector of one lane, or each of its C groups with a lane of another.

    Lane i is x, or x[i / (L / C)].

        %r = pto.vmi.vbrc %x : f32 -> !pto.vmi.vreg<100xf32>
        %g = pto.vmi.vbrc %v {group = 4} : !pto.vmi.vreg<4xf32> -> !pto.vmi.vreg<100xf32>
    """

    form = "$input -> $result:logical"
    group = OptionalProperty()

    def shapes(self) -> Iterator[Problem]:
        yield from divides(self, "result")
        source, result, groups = self.type_of("input"), self.vector("result"), self.integer("group")
        if result is None:
            return
        if not isinstance(source, LogicalVectorType):
            if source != result.element:
                yield Problem(f"input of {self.name} has type {source}, but result holds {result.element}", at="input")
            if self.attribute("group") is not None:
                yield Problem(f"{self.name} by groups takes a vector, not {source}", at="group")
            return
        if source.element != result.element:
            yield Problem(f"input of {self.name} holds {source.element}, but result {result.element}", at="input")
        if self.attribute("group") is None and source.lanes != 1:
            message = f"{self.name} of {source.lanes} lanes says how many groups there are: {{group = {source.lanes}}}"
            yield Problem(message, at="input")
        elif groups is not None and source.lanes != groups:
            yield Problem(f"input of {self.name} has {source.lanes} lanes, but there are {groups} groups", at="input")


class VmiRamp(VmiOperation, name="pto.vmi.vci"):
    """A logical vector of lane numbers, from a base upward or downward.

    Lane i is base + i, or base - i with order = "DESC"; by groups the numbers begin again in each. Integers wrap,
    floats add in their own type.

        %r = pto.vmi.vci %base {order = "ASC"} : i32 -> !pto.vmi.vreg<100xi32>
    """

    form = "$base -> $result:logical"
    words = {"order": Vocabulary(("ASC", "DESC")), "pmode": PMODES}
    base = Operand()
    order = OptionalProperty()
    group = OptionalProperty()

    def shapes(self) -> Iterator[Problem]:
        yield from elements_among(self, "result", WITHOUT_BF16)
        yield from divides(self, "result")
        result, base = self.vector("result"), element_name(self.base.type)
        if result is None:
            return
        element = element_of(result.element)
        allowed = {element.name, element.name.lstrip("su")} if element.is_integer else {element.name}
        if base not in allowed:
            yield Problem(f"base of {self.name} has type {self.base.type}, but result holds {result.element}", "base")
        groups, lanes = self.integer("group"), element.lanes
        if groups is not None and groups > 1 and result.lanes % groups == 0:
            size = result.lanes // groups
            if size % lanes and lanes % size:
                message = f"groups of {size} lanes neither divide a register of {lanes} nor are a multiple of it"
                yield Problem(message, at="group")


# --- histograms -------------------------------------------------------------------------------------------------------


class VmiHistogram(VmiOperation):
    """Counts of byte values, added to counts."""

    form = "$acc:logical, $source:logical, $mask:truths -> $result:logical"

    def shapes(self) -> Iterator[Problem]:
        yield from alike(self, "acc", "result")
        yield from elements_among(self, "acc", frozenset({"i16", "ui16"}))
        yield from elements_among(self, "source", _BYTES)
        yield from governed(self, "mask", "source")
        if self.lanes("acc") not in (128, 256):
            yield Problem(f"{self.name} counts 128 or 256 values, not {self.lanes('acc')}", at="acc")


class VmiDistribution(VmiHistogram, name="pto.vmi.vdhist"):
    """The count of each byte value among the active lanes of a logical vector, added to earlier counts.

    Lane b is acc[b] and the number of lanes that are b, modulo 2^16. Values beyond the lanes count nowhere.

        %r = pto.vmi.vdhist %acc, %src, %mask
            : !pto.vmi.vreg<256xui16>, !pto.vmi.vreg<300xui8>, !pto.vmi.mask<300xpred> -> !pto.vmi.vreg<256xui16>
    """


class VmiCumulative(VmiHistogram, name="pto.vmi.vchist"):
    """The number of active lanes of a logical vector that are at most each byte value, added to earlier counts.

    Lane b is acc[b] and the number of lanes that are at most b, modulo 2^16.

        %r = pto.vmi.vchist %acc, %src, %mask
            : !pto.vmi.vreg<256xui16>, !pto.vmi.vreg<300xui8>, !pto.vmi.mask<300xpred> -> !pto.vmi.vreg<256xui16>
    """
