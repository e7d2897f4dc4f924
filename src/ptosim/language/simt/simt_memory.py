"""Loads and stores of a workitem: one element, scalar or packed, of UB or GM; those of GM may say how it is cached."""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.effects.names import Space
from ptosim.language.micro.pointer import ElementLoad, ElementStore
from ptosim.language.operation import OptionalProperty, Problem, PTOOperation
from ptosim.language.text.assembly_format import Vocabulary
from ptosim.language.types import PtrType, element_name

L1_CACHE = Vocabulary(("cache", "uncache"), printed="{}")
_LOADED = "nmfv nmlv nmprs nmpref nakeep naclean nadrop idsfv idslv idsprs idspref exfv exlv exprs expref"
_STORED = "nmfv nmlv nmprs nmred naci napw napi nared wbhfv wbhlv wbhprs wbhred wtsfv wtslv wtsprs wtsred"
L2_OF_LOADS = Vocabulary(tuple(_LOADED.split()), printed="{}")
L2_OF_STORES = Vocabulary(tuple(_STORED.split()), printed="{}")

_SCALARS = ("f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2", "f8E8M0", "hif8")
CACHED = frozenset(
    (
        *(f"{sign}i{bits}" for sign in ("", "s", "u") for bits in (8, 16, 32, 64)),
        *(*_SCALARS, "hif8x2", "vector<2xf16>", "vector<2xbf16>", "vector<2xf32>"),
        *(f"vector<2xi{bits}>" for bits in (8, 16, 32)),
        *(f"vector<{count}x{part}>" for count in (2, 4, 8) for part in ("f8E4M3FN", "f8E5M2")),
    )
)
"""The types of pto.ldg and pto.stg."""


class Load(ElementLoad, name="pto.load"):
    """Load one element, as a workitem or as the scalar unit.

    The offset counts elements of the pointer, packed ones as a whole.

        %v = pto.load %p[%i] : !pto.ptr<f32, ub> -> f32
    """

    simt = "any"
    placement = "outside"
    spaces = {"pointer": (Space.GM, Space.UB)}


class Store(ElementStore, name="pto.store"):
    """Store one element, as a workitem or as the scalar unit.

    The offset counts elements of the pointer, packed ones as a whole.

        pto.store %v, %p[%i] : !pto.ptr<f32, ub>, f32
    """

    simt = "any"
    placement = "outside"
    operand_order = ("pointer", "offset", "value")
    spaces = {"pointer": (Space.GM, Space.UB)}


class _Cached(PTOOperation):
    """An access of GM that says how it is cached."""

    simt = "inside"
    placement = "outside"
    targets = ("a5",)
    spaces = {"pointer": (Space.GM,)}
    l1cache = OptionalProperty()
    l2cache = OptionalProperty()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        pointer = self.segment("pointer")[0].type
        if isinstance(pointer, PtrType) and element_name(pointer.element) not in CACHED:
            yield Problem(f"{self.name} does not access elements of {pointer.element}", at="pointer")


class Ldg(_Cached, ElementLoad, name="pto.ldg"):
    """Load one element of GM, past the cache or through it.

    l1cache(uncache) passes the data cache of the core by; the words of l2cache change no value.

        %v = pto.ldg %p[%i] l1cache(uncache) l2cache(nmfv) : !pto.ptr<f32, gm> -> f32
    """

    form = "$pointer[$offset:index] {l1cache (@l1cache)} {l2cache (@l2cache)}"
    words = {"l1cache": L1_CACHE, "l2cache": L2_OF_LOADS}


class Stg(_Cached, ElementStore, name="pto.stg"):
    """Store one element to GM.

    Stores write through; the words of l1cache and l2cache change no value.

        pto.stg %v, %p[%i] l2cache(wbhfv) : !pto.ptr<f32, gm>, f32
    """

    form = "$value, $pointer[$offset:index] {l1cache (@l1cache)} {l2cache (@l2cache)}"
    operand_order = ("pointer", "offset", "value")
    words = {"l1cache": L1_CACHE, "l2cache": L2_OF_STORES}
