"""The older, typed spellings of operations on logical vectors: each letter or name says what the types now say.

How they are written stands here, what they are today in vmi/older_spellings.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ptosim.language.micro.vector import integers
from ptosim.language.operation import OptionalProperty, Problem, Property, made
from ptosim.language.text.assembly_format import Vocabulary
from ptosim.language.types import element_of
from ptosim.language.vmi.vmi_arithmetic import ORDERED
from ptosim.language.vmi.vmi_conversion import VmiConvert, VmiReinterpret, unsigned
from ptosim.language.vmi.vmi_operation import (
    F16_F32,
    FLOATS,
    INTEGERS,
    PREFIX,
    SIGNED,
    VmiOperation,
    alike,
    divides,
    elements_among,
    flag,
    governed,
)
from ptosim.language.vmi.vmi_reduction import VmiBroadcast, VmiRamp

_V = "!pto.vmi.vreg<64xf32>"
_I = "!pto.vmi.vreg<64xi32>"
_M = "!pto.vmi.mask<64xpred>"


class OlderLanewise(VmiOperation):
    """An operation lane by lane without a mask, whose name says which elements it takes."""

    by_lanes = True
    today: ClassVar[str] = ""
    accepted: ClassVar[frozenset[str]] = INTEGERS
    data: ClassVar[tuple[str, ...]] = ("lhs", "rhs", "result")

    def shapes(self) -> Iterator[Problem]:
        yield from alike(self, *self.data)
        yield from elements_among(self, self.data[0], self.accepted)


class OlderBinary(OlderLanewise):
    form = "$lhs:logical, $rhs:logical -> $result:logical"


class OlderUnary(OlderLanewise):
    form = "$input:logical -> $result:logical"
    data = ("input", "result")


class OlderMulAdd(OlderLanewise, name="pto.vmi.fma"):
    """Sum and product of logical vectors, a * b + acc, rounded once (now pto.vmi.vmula).

    acc is the last operand here.

        %r = pto.vmi.fma %a, %b, %acc : !pto.vmi.vreg<64xf32>, !pto.vmi.vreg<64xf32>, !pto.vmi.vreg<64xf32>
            -> !pto.vmi.vreg<64xf32>
    """

    form = "$lhs:logical, $rhs:logical, $acc:logical -> $result:logical"
    data = ("lhs", "rhs", "acc", "result")
    accepted = INTEGERS | FLOATS
    today = "vmula"


_MUL = integers(16, 32)
_UNSIGNED = INTEGERS - SIGNED
_BINARY = {
    **{f"{name}f": (f"v{name}", F16_F32 if name == "div" else FLOATS) for name in "add sub mul min max div".split()},
    **{f"{name}i": (f"v{name}", _MUL if name == "mul" else INTEGERS) for name in "add sub mul min max".split()},
    **{name: (f"v{name[:-1]}", INTEGERS) for name in ("andi", "ori", "xori")},
    "shli": ("vshl", INTEGERS),
    "shrui": ("vshr", _UNSIGNED),
    "shrsi": ("vshr", SIGNED),
}
_UNARY = {
    "negf": ("vneg", F16_F32),
    "negi": ("vneg", INTEGERS),
    "absf": ("vabs", F16_F32),
    "absi": ("vabs", SIGNED),
    **{name: (f"v{name}", F16_F32) for name in ("sqrt", "exp", "ln")},
    "relu": ("vrelu", F16_F32 | {"si32"}),
    "not": ("vnot", INTEGERS),
}


def _older(family: type[VmiOperation], name: str, now: str, written: str, **facts: object) -> type[VmiOperation]:
    page = f"Older spelling of pto.vmi.{now}.\n\nIts name says what the types say today.\n\n    {written}\n"
    return made(__name__, family, PREFIX + name, __doc__=page, **facts)


def _binary(name: str, today: str, accepted: frozenset[str]) -> type[VmiOperation]:
    type_ = _I if accepted <= INTEGERS else _V
    written = f"%r = pto.vmi.{name} %a, %b : {type_}, {type_} -> {type_}"
    return _older(OlderBinary, name, today, written, today=today, accepted=accepted)


def _unary(name: str, today: str, accepted: frozenset[str]) -> type[VmiOperation]:
    type_ = _I if accepted <= INTEGERS else _V
    written = f"%r = pto.vmi.{name} %a : {type_} -> {type_}"
    return _older(OlderUnary, name, today, written, today=today, accepted=accepted)


# --- comparison, selection, ramps -------------------------------------------------------------------------------------

_PLAIN = ("eq", "ne")
_INTEGER_PREDICATES = Vocabulary((*_PLAIN, *(f"{sign}{each}" for sign in "us" for each in ("lt", "le", "gt", "ge"))))
_FLOAT_PREDICATES = Vocabulary((*_PLAIN, "lt", "le", "gt", "ge", *ORDERED))


class OlderCompare(VmiOperation):
    """Compare logical vectors into a mask."""

    by_lanes = True
    form = "@predicate, $lhs:logical, $rhs:logical -> $result:truths"
    accepted: ClassVar[frozenset[str]] = FLOATS
    predicate = Property()

    def shapes(self) -> Iterator[Problem]:
        yield from alike(self, "lhs", "rhs")
        yield from elements_among(self, "lhs", self.accepted)
        yield from governed(self, "result", "lhs")


def _compare(name: str, accepted: frozenset[str], known: Vocabulary, predicate: str) -> type[VmiOperation]:
    type_ = _I if name == "cmpi" else _V
    written = f'%m = pto.vmi.{name} "{predicate}", %a, %b : {type_}, {type_} -> {_M}'
    return _older(OlderCompare, name, "vcmp", written, accepted=accepted, words={"predicate": known})


class OlderSelect(VmiOperation, name="pto.vmi.select"):
    """Older spelling of pto.vmi.vsel.

    Chooses per lane between two logical vectors.

        %r = pto.vmi.select %mask, %t, %f : !pto.vmi.mask<64xpred>, !pto.vmi.vreg<64xf32>, !pto.vmi.vreg<64xf32>
            -> !pto.vmi.vreg<64xf32>
    """

    by_lanes = True
    form = "$mask:truths, $on_true:logical, $on_false:logical -> $result:logical"

    def shapes(self) -> Iterator[Problem]:
        yield from alike(self, "on_true", "on_false", "result")
        yield from governed(self, "mask", "on_true")


# --- conversions ------------------------------------------------------------------------------------------------------


class OlderConvert(VmiConvert):
    """A conversion whose name says the direction."""

    direction: ClassVar[tuple[str, str, int]] = ("f", "f", 1)
    """Kinds of source and result: f, s or u; and whether the result is wider (1), narrower (-1) or either (0)."""

    def shapes(self) -> Iterator[Problem]:
        source, dest = self.vector("input"), self.vector("result")
        if source is not None and dest is not None:
            kinds = [_kind(unsigned(element_of(type_.element).name)) for type_ in (source, dest)]
            one, other, wider = self.direction
            bits = [element_of(type_.element).bits for type_ in (source, dest)]
            change = (bits[1] > bits[0]) - (bits[1] < bits[0])
            fits = kinds[0] in one and kinds[1] in other and (wider == 0 or change in (wider, 0 if wider < 0 else 1))
            if not fits:
                yield Problem(f"{self.name} does not convert {source.element} to {dest.element}", at="input")
                return
        yield from super().shapes()


def _kind(name: str) -> str:
    return name[0] if name[0] in "su" and name[1] == "i" else "f"


def _convert(name: str, source: str, dest: str, wider: int, example: str) -> type[VmiOperation]:
    return _older(
        OlderConvert, name, "vcvt", f"%r = pto.vmi.{name} %a {example}", direction=(source, dest, wider), merges=True
    )


_ROUNDED = '{rounding = "R", saturate = "SAT"}'
CONVERSIONS = (
    _convert("extf", "f", "f", 1, ": !pto.vmi.vreg<64xf16> -> !pto.vmi.vreg<64xf32>"),
    _convert("truncf", "f", "f", -1, f"{_ROUNDED} : !pto.vmi.vreg<64xf32> -> !pto.vmi.vreg<64xf16>"),
    _convert("fptosi", "f", "s", 0, f"{_ROUNDED} : !pto.vmi.vreg<64xf32> -> !pto.vmi.vreg<64xsi32>"),
    _convert("fptoui", "f", "u", 0, f"{_ROUNDED} : !pto.vmi.vreg<64xf16> -> !pto.vmi.vreg<64xui8>"),
    _convert("sitofp", "s", "f", 0, ": !pto.vmi.vreg<64xsi32> -> !pto.vmi.vreg<64xf32>"),
    _convert("extsi", "s", "s", 1, ": !pto.vmi.vreg<64xsi8> -> !pto.vmi.vreg<64xsi32>"),
    _convert("extui", "u", "u", 1, ": !pto.vmi.vreg<64xui8> -> !pto.vmi.vreg<64xui32>"),
    _convert("trunci", "su", "su", -1, '{saturate = "NOSAT"} : !pto.vmi.vreg<64xi32> -> !pto.vmi.vreg<64xi8>'),
)


# --- reductions -------------------------------------------------------------------------------------------------------


class OlderReduction(VmiOperation):
    """A reduction whose name says which elements it takes; by groups if its name says so."""

    form = "$input:logical, $mask:truths -> $result:logical"
    today: ClassVar[str] = ""
    accepted: ClassVar[frozenset[str]] = INTEGERS
    grouped: ClassVar[bool] = False
    num_groups = OptionalProperty()
    reassoc = OptionalProperty()

    @property
    def groups(self) -> int:
        return (self.integer("num_groups") or 1) if self.grouped else 1

    def shapes(self) -> Iterator[Problem]:
        yield from elements_among(self, "input", self.accepted)
        yield from governed(self, "mask", "input")
        if self.grouped and self.num_groups is None:
            yield Problem(f"{self.name} says how many groups there are: {{num_groups = C}}")
        elif not self.grouped and self.num_groups is not None:
            yield Problem(f"{self.name} has no groups", at="num_groups")
        else:
            yield from divides(self, "input", "num_groups")
        result = self.vector("result")
        if result is not None and result.lanes != self.groups:
            yield Problem(f"result of {self.name} has {result.lanes} lanes, not {self.groups}", at="result")
        if self.element("result") != self.element("input"):
            message = f"result of {self.name} holds {self.element('result')}, but input {self.element('input')}"
            yield Problem(message, at="result")
        if self.name.endswith("addf") and not flag(self, "reassoc"):
            yield Problem(f"{self.name} adds in an order of its own: write {{reassoc}}")


def _reduction(name: str, grouped: bool) -> type[VmiOperation]:
    kind, full = name[-1], f"{'group_' * grouped}reduce_{name}"
    accepted = F16_F32 if kind == "f" else integers(32) if name == "addi" else INTEGERS
    words = [f"{'num_groups = 8' * grouped}", "reassoc" * (name == "addf")]
    attributes = ", ".join(word for word in words if word)
    type_ = _I if kind == "i" else _V
    result = type_.replace("64", "8" if grouped else "1")
    shown = f" {{{attributes}}}" * bool(attributes)
    written = f"%r = pto.vmi.{full} %a, %mask{shown} : {type_}, {_M} -> {result}"
    today = f"vc{name[:-1]}"
    return _older(OlderReduction, full, today, written, today=today, accepted=accepted, grouped=grouped)


class OlderGroupBroadcast(VmiOperation, name="pto.vmi.group_broadcast"):
    """Older spelling of pto.vmi.vbrc by groups.

    Fills each group of lanes with a lane of another logical vector.

        %r = pto.vmi.group_broadcast %v {num_groups = 8} : !pto.vmi.vreg<8xf32> -> !pto.vmi.vreg<64xf32>
    """

    form = "$input:logical -> $result:logical"
    num_groups = Property()

    def shapes(self) -> Iterator[Problem]:
        yield from divides(self, "result", "num_groups")
        if self.element("input") != self.element("result"):
            message = f"result of {self.name} holds {self.element('result')}, but input {self.element('input')}"
            yield Problem(message, at="result")
        if self.vector("input") is not None and self.lanes("input") != self.integer("num_groups"):
            yield Problem(f"input of {self.name} has {self.lanes('input')} lanes, not one for each group", at="input")


# --- logic of masks ---------------------------------------------------------------------------------------------------


class OlderMaskLogic(VmiOperation):
    form = "$lhs:truths, $rhs:truths -> $result:truths"
    today: ClassVar[str] = ""

    def shapes(self) -> Iterator[Problem]:
        yield from alike(self, "lhs", "rhs", "result")


class OlderMaskNot(VmiOperation, name="pto.vmi.mask_not"):
    """Older spelling of pto.vmi.vnot on masks.

    The lanes that are not active.

        %r = pto.vmi.mask_not %a : !pto.vmi.mask<64xpred> -> !pto.vmi.mask<64xpred>
    """

    form = "$input:truths -> $result:truths"
    today: ClassVar[str] = "vnot"

    def shapes(self) -> Iterator[Problem]:
        yield from alike(self, "input", "result")


def _mask_logic(name: str) -> type[VmiOperation]:
    written = f"%r = pto.vmi.mask_{name} %a, %b : {_M}, {_M} -> {_M}"
    return _older(OlderMaskLogic, f"mask_{name}", f"v{name}", written, today=f"v{name}")


OPERATIONS = (
    *(_binary(name, today, accepted) for name, (today, accepted) in _BINARY.items()),
    *(_unary(name, today, accepted) for name, (today, accepted) in _UNARY.items()),
    _compare("cmpf", FLOATS, _FLOAT_PREDICATES, "olt"),
    _compare("cmpi", INTEGERS, _INTEGER_PREDICATES, "ult"),
    _older(VmiBroadcast, "broadcast", "vbrc", f"%r = pto.vmi.broadcast %x : f32 -> {_V}"),
    _older(VmiRamp, "iota", "vci", f'%r = pto.vmi.iota %base {{order = "ASC"}} : i32 -> {_I}'),
    _older(VmiRamp, "group_iota", "vci", f'%r = pto.vmi.group_iota %base {{order = "ASC", group = 8}} : i32 -> {_I}'),
    _older(VmiReinterpret, "bitcast", "vinterpret_cast", f"%r = pto.vmi.bitcast %a : {_V} -> {_I}"),
    *CONVERSIONS,
    *(
        _reduction(f"{name}{kind}", grouped)
        for grouped in (False, True)
        for name in ("add", "max", "min")
        for kind in "fi"
    ),
    *(_mask_logic(name) for name in ("and", "or", "xor")),
)
