"""Lanes of logical vectors that change places: selection by lane numbers, interleaving, static shuffles, squeezing."""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.language.operation import Problem
from ptosim.language.types import element_of
from ptosim.language.vmi.vmi_operation import INTEGERS, VmiOperation, alike, elements_among, governed, same_lanes

SELECTED = {8: (64, 128, 256), 16: (64, 128), 32: (64,)}
"""Lanes that a selection by lane numbers takes, by the bits of an element."""


class VmiSelectLanes(VmiOperation, name="pto.vmi.vselr"):
    """Lanes of a logical vector by their numbers: lane i is a[index[i]].

    The numbers are integers as wide as the elements, read without sign. One register: 64 lanes of 32 bits, 64 or 128 of
    16, 64, 128 or 256 of 8. A number beyond the register counts modulo its lanes.

        %r = pto.vmi.vselr %a, %index : !pto.vmi.vreg<64xf32>, !pto.vmi.vreg<64xi32> -> !pto.vmi.vreg<64xf32>
    """

    form = "$input:logical, $index:logical -> $result:logical"

    def shapes(self) -> Iterator[Problem]:
        yield from elements_among(self, "index", INTEGERS)
        yield from same_lanes(self, "result", "index")
        source, index = self.vector("input"), self.vector("index")
        if source is not None and index is not None:
            bits = element_of(source.element).bits
            if element_of(index.element).bits != bits:
                yield Problem(f"index of {self.name} holds {index.element}, but input has {bits}-bit lanes", at="index")
        if self.element("result") != self.element("input"):
            message = f"result of {self.name} holds {self.element('result')}, but input {self.element('input')}"
            yield Problem(message, at="result")

    def limits(self) -> Iterator[Problem]:
        for role in ("input", "result"):
            type_ = self.vector(role)
            if type_ is not None and type_.lanes not in (known := SELECTED[element_of(type_.element).bits]):
                lanes = ", ".join(map(str, known))
                message = f"{self.name} of {type_.element} takes and gives {lanes} lanes, not {type_.lanes}"
                yield Problem(message, at=role, kind="unsupported")


class _Interleaving(VmiOperation):
    form = "$lhs:logical, $rhs:logical, $mask:truths -> $low:logical, $high:logical"

    def shapes(self) -> Iterator[Problem]:
        yield from alike(self, "lhs", "rhs", "low", "high")
        yield from governed(self, "mask", "lhs")


class VmiInterleave(_Interleaving, name="pto.vmi.vintlv"):
    """Interleave two logical vectors: the first and the last half of a0 b0 a1 b1 ...

    Inactive lanes of the results become zero. pto.vmi.vdintlv undoes it.

        %low, %high = pto.vmi.vintlv %a, %b, %mask : !pto.vmi.vreg<100xf32>, !pto.vmi.vreg<100xf32>,
            !pto.vmi.mask<100xpred> -> !pto.vmi.vreg<100xf32>, !pto.vmi.vreg<100xf32>
    """


class VmiDeinterleave(_Interleaving, name="pto.vmi.vdintlv"):
    """Separate the even and the odd lanes of two logical vectors, taken one behind the other.

    Inactive lanes of the results become zero. pto.vmi.vintlv undoes it.

        %low, %high = pto.vmi.vdintlv %a, %b, %mask : !pto.vmi.vreg<100xf32>, !pto.vmi.vreg<100xf32>,
            !pto.vmi.mask<100xpred> -> !pto.vmi.vreg<100xf32>, !pto.vmi.vreg<100xf32>
    """
