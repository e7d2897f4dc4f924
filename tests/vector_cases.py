"""Every vector compute instruction with every element type and word it takes, and the values worth trying on it.

A case is an instruction in the notation of vector_programs. What an instruction accepts is asked of its class; how it
is written is said here, once for each family.
"""

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from ptosim.effects.conversion import CONVERSIONS
from ptosim.effects.element import ELEMENTS, Element
from ptosim.effects.float_format import BF16, F16, F32
from ptosim.language.catalogue import operations, room_of
from ptosim.language.micro import compare, conversion, rearrange, reduction, sfu, vector
from ptosim.language.operation import PTOOperation
from vector_programs import SLOT, Array, Slot, VectorProgram, binary, mask_type, unary, with_scalar

ROOMS = ("arithmetic", "arithmetic_integer", "conversion", "reduction", "compare", "rearrange", "sfu")
OUTSIDE = ("pto.vbitsort", "pto.vmrgsort4")  # they work on UB, outside of scopes: see sort_programs


def instructions() -> list[type[PTOOperation]]:
    """The classes of the rooms that work on registers."""
    return [op for op in operations() if room_of(op) in ROOMS and op.name not in OUTSIDE]


def cases() -> dict[str, list[str]]:
    """By name of the instruction, all the ways to write it."""
    return {op.name: list(_written(op)) for op in instructions()}


# --- how they are written ---------------------------------------------------------------------------------------------


def _written(op: type[PTOOperation]) -> Iterator[str]:
    name = op.name.removeprefix("pto.")
    if name in _SPECIAL:
        yield from _SPECIAL[name](name)
        return
    families: dict[type, Callable[[str, str], str]] = {
        reduction.ExtremumWithMatches: _two_results("%d, %p", "{v}, {m}", "%a, %m", "{v}, {m}"),
        vector.MultiplyAdd: _one_result("%c, %a, %b, %m", "{v}, {v}, {v}, {m}"),
        vector.VectorUnary: unary,
        vector.VectorBinary: binary,
        vector.VectorScalar: with_scalar,
    }
    write = next((form for family, form in families.items() if issubclass(op, family)), None)
    assert write, f"docs/howto/add-an-instruction.md, step 5: {op.name} has no family: write it in _SPECIAL"
    for kind in _kinds(op):
        yield write(name, kind)


def _kinds(op: type[PTOOperation]) -> list[str]:
    accepted: frozenset[str] = getattr(op, "accepted")  # noqa: B009 (only vector instructions have it)
    return [kind for kind in ELEMENTS if kind in accepted and ELEMENTS[kind].bits >= 8 and kind not in ("index", "f64")]


def _class(name: str) -> type[PTOOperation]:
    return next(op for op in instructions() if op.name == f"pto.{name}")


def _filled(pattern: str, kind: str) -> str:
    return pattern.replace("{v}", f"V<{kind}>").replace("{m}", mask_type(kind)).replace("{s}", kind)


def _one_result(operands: str, types: str, result: str = "{v}") -> Callable[[str, str], str]:
    return lambda name, kind: f"%d = pto.{name} {operands} : {_filled(types, kind)} -> {_filled(result, kind)}"


def _two_results(results: str, types_out: str, operands: str, types: str) -> Callable[[str, str], str]:
    return lambda name, kind: (
        f"{results} = pto.{name} {operands} : {_filled(types, kind)} -> {_filled(types_out, kind)}"
    )


def _with(write: Callable[[str, str], str]) -> Callable[[str], Iterator[str]]:
    """One line for each element type."""
    return lambda name: (write(name, kind) for kind in _kinds(_class(name)))


def _scalars(kind: str) -> list[str]:
    """The scalar types that meet an element type."""
    return [kind, kind[1:]] if kind[0] in "su" else [kind]


def _scalar_forms(name: str) -> Iterator[str]:
    for kind in _kinds(_class(name)):
        yield from (with_scalar(name, kind, scalar) for scalar in _scalars(kind))


def _broadcasts(name: str) -> Iterator[str]:
    for kind in _kinds(_class(name)):
        for scalar in _scalars(kind):
            masked = ("%s, %m", f"{scalar}, {mask_type(kind)}") if name == "vdup" else ("%s", scalar)
            yield f"%d = pto.{name} {masked[0]} : {masked[1]} -> V<{kind}>"
        if name == "vdup":
            for position in ("LOWEST", "HIGHEST"):
                yield f'%d = pto.vdup %a, %m {{position = "{position}"}} : V<{kind}>, {mask_type(kind)} -> V<{kind}>'


def _shifts(name: str) -> Iterator[str]:
    for kind in _kinds(_class(name)):
        if name.endswith("s"):
            yield with_scalar(name, kind, "i16")
            continue
        for sign in ("i", "si", "ui"):
            yield binary(name, kind).replace(
                "%m : V<" + kind + ">, V<" + kind, f"%m : V<{kind}>, V<{sign}{ELEMENTS[kind].bits}"
            )


def _chains(name: str) -> Iterator[str]:
    for kind in _kinds(_class(name)):
        v = f"V<{kind}>"
        middle = ("%c, ", "M<b32>, ") if name.endswith("cs") else ("", "")
        yield f"%d, %o = pto.{name} %a, %b, {middle[0]}%m : {v}, {v}, {middle[1]}M<b32> -> {v}, M<b32>"


def _conversions(name: str) -> Iterator[str]:
    for (source, dest), pair in CONVERSIONS.items():
        choices = {"rnd": pair.roundings, "sat": pair.saturations, "part": pair.parts}
        chosen = {key: words for key, words in choices.items() if words}
        for words in product(*chosen.values()):
            written = ", ".join(f'{key} = "{word}"' for key, word in zip(chosen, words, strict=True))
            yield f"%d = pto.vcvt %a, %m {{{written}}} : V<{source}>, {mask_type(source)} -> V<{dest}>"


def _truncations(name: str) -> Iterator[str]:
    for kind, rnd in product(_kinds(conversion.VTrc), "RAFCZ"):
        yield f'%d = pto.vtrc %a, %m, "{rnd}" : V<{kind}>, {mask_type(kind)} -> V<{kind}>'


def _ramps(name: str) -> Iterator[str]:
    for kind, order in product(_kinds(conversion.VCi), ("ASC", "DESC")):
        for scalar in _scalars(kind):
            yield f'%d = pto.vci %s {{order = "{order}"}} : {scalar} -> V<{kind}>'


def _retypings(name: str) -> Iterator[str]:
    kinds = ["f8E4M3FN", "ui8", "f16", "bf16", "f32", "i64"]
    yield from (f"%d = pto.vbitcast %a : V<{one}> -> V<{other}>" for one, other in product(kinds, kinds))


def _sums(name: str) -> Iterator[str]:
    for kind in _kinds(reduction.VCAdd):
        bits = ELEMENTS[kind].bits
        result = kind.replace(str(bits), str(2 * bits)) if ELEMENTS[kind].is_integer and bits < 32 else kind
        yield f"%d = pto.vcadd %a, %m : V<{kind}>, {mask_type(kind)} -> V<{result}>"


def _histograms(name: str) -> Iterator[str]:
    for half in (0, 1):
        yield (
            f"%bin = arith.constant {half} : i32\n"
            f"%d = pto.{name} %c, %a, %m, %bin : V<ui16>, V<ui8>, M<b8>, i32 -> V<ui16>"
        )


def _comparisons(name: str) -> Iterator[str]:
    for kind, word in product(_kinds(compare.VCmp), ("eq", "ne", "lt", "le", "gt", "ge")):
        mask = mask_type(kind)
        if name == "vcmp":
            yield f'%p = pto.vcmp %a, %b, %m, "{word}" : V<{kind}>, V<{kind}>, {mask} -> {mask}'
            continue
        for scalar in _scalars(kind):
            yield f'%p = pto.vcmps %a, %s, %m, "{word}" : V<{kind}>, {scalar}, {mask} -> {mask}'


def _lane_numbers(name: str) -> Iterator[str]:
    for kind in _kinds(compare.VSelR):
        for sign in ("i", "ui"):
            yield f"%d = pto.{name} %a, %i : V<{kind}>, V<{sign}{ELEMENTS[kind].bits}> -> V<{kind}>"


def _halves(name: str) -> Iterator[str]:
    for kind, part in product(_kinds(_class(name)), ("LOWER", "HIGHER")):
        yield f'%d = pto.{name} %a, %b, "{part}" : V<{kind}>, V<{kind}> -> V<{kind}>'


def _packs(name: str) -> Iterator[str]:
    for kind, part in product(_kinds(rearrange.VPack), ("LOWER", "HIGHER")):
        yield f'%d = pto.vpack %a, "{part}" : V<{kind}> -> V<ui{ELEMENTS[kind].bits // 2}>'


def _unpacks(name: str) -> Iterator[str]:
    for kind, sign in product(_kinds(rearrange.VSunpack), ("i", "si", "ui")):
        yield f"%d = pto.{name} %a, %part : V<{kind}> -> V<{sign}{2 * ELEMENTS[kind].bits}>"


def _differences(name: str) -> Iterator[str]:
    for kind, part in product(_kinds(sfu.VExpdif), ("EVEN", "ODD")):
        yield f'%d = pto.vexpdif %a, %b, %m, "{part}" : V<{kind}>, V<{kind}>, {mask_type(kind)} -> V<f32>'


def _scaled_conversions(name: str) -> Iterator[str]:
    for part in ("EVEN", "ODD"):
        yield f'%d = pto.vmulscvt %a, %s, %m, "A", "{part}" : V<f32>, f32, M<b32> -> V<f16>'


_SPECIAL: dict[str, Callable[[str], Iterator[str]]] = {
    **dict.fromkeys(("vbr", "vdup"), _broadcasts),
    **dict.fromkeys(("vadds", "vmuls", "vmaxs", "vmins", "vlrelu"), _scalar_forms),
    **dict.fromkeys(("vshl", "vshr", "vshls", "vshrs"), _shifts),
    **dict.fromkeys(("vaddc", "vsubc", "vaddcs", "vsubcs"), _chains),
    "vcvt": _conversions,
    "vtrc": _truncations,
    "vci": _ramps,
    "vbitcast": _retypings,
    "vmulscvt": _scaled_conversions,
    "vcadd": _sums,
    **dict.fromkeys(("dhistv2", "chistv2"), _histograms),
    **dict.fromkeys(("vcmp", "vcmps"), _comparisons),
    "vsel": _with(_one_result("%a, %b, %m", "{v}, {v}, {m}")),
    **dict.fromkeys(("vselr", "vselrv2"), _lane_numbers),
    **dict.fromkeys(("vintlv", "vdintlv"), _with(_two_results("%d, %e", "{v}, {v}", "%a, %b", "{v}, {v}"))),
    **dict.fromkeys(("vintlvv2", "vdintlvv2"), _halves),
    "vpack": _packs,
    **dict.fromkeys(("vsunpack", "vzunpack"), _unpacks),
    "vprelu": _with(_one_result("%a, %b, %m", "{v}, {v}, {m}")),
    "vexpdif": _differences,
    "vaxpy": _with(_one_result("%a, %b, %s, %m", "{v}, {v}, {s}, {m}")),
    "vmull": _with(_two_results("%d, %e", "{v}, {v}", "%a, %b, %m", "{v}, {v}, {m}")),
}


# --- values -----------------------------------------------------------------------------------------------------------

_FORMATS = {"f16": F16, "bf16": BF16, "f32": F32}
_NUMBERS = (0.5, 1.0, 1.4, 1.5, 2.5, 3.5, 127.5, 255.5, 448.0, 464.0, 32767.5, 65504.0, 65520.0, 2.0**31, 88.7, 104.0)


def edges(kind: Element) -> Array:
    """Bit patterns at which something changes."""
    width, top = kind.bits, 1 << (kind.bits - 1)
    if kind.name in _FORMATS:
        form = _FORMATS[kind.name]
        least_normal, infinity = 1 << form.fraction, form.infinity
        one = form.bias << form.fraction
        magnitudes = [0, 1, least_normal - 1, least_normal, one - 1, one, one + 1, infinity - 1, infinity]
        magnitudes += [infinity + 1, form.nan, form.nan + 1, top - 1]
        numbers = np.array(_NUMBERS, np.float32).view(np.uint32)
        magnitudes += (
            [int(n) >> 16 if kind.name == "bf16" else int(n) for n in numbers]
            if width != 16 or kind.name == "bf16"
            else []
        )
        if kind.name == "f16":
            with np.errstate(over="ignore"):
                magnitudes += np.array(_NUMBERS).astype(np.float16).view(np.uint16).tolist()
        patterns = [sign | magnitude for magnitude in magnitudes for sign in (0, top)]
    elif kind.is_integer:
        counts = [width - 1, width, width + 1]
        patterns = [
            0,
            1,
            2,
            3,
            top - 2,
            top - 1,
            top,
            top + 1,
            2 * top - 2,
            2 * top - 1,
            *counts,
            0x55,
            0x80,
            0x7F,
            0xFF,
        ]
    else:
        patterns = list(range(1 << min(width, 8)))
    return np.array([pattern % (1 << width) for pattern in patterns], f"u{kind.bytes}")


def _lanes(kind: Element, rows: int, random: np.random.Generator) -> Array:
    """Rows of lanes: edge values, arbitrary patterns, ordinary numbers, few different values."""
    pool = edges(kind)
    shape = (rows, kind.lanes)
    lanes = random.choice(pool, shape)
    patterns = random.integers(0, 256, (rows, SLOT), np.uint8).view(pool.dtype)
    lanes[1::4] = patterns[1::4]
    if kind.name in _FORMATS:
        ordinary = random.normal(0, 4, shape).astype(np.float32)
        narrow = (
            ordinary.view(np.uint32) >> 16
            if kind.name == "bf16"
            else ordinary.astype(f"f{kind.bytes}").view(pool.dtype)
        )
        lanes[2::4] = narrow.astype(pool.dtype)[2::4]
    elif kind.is_integer:
        lanes[2::4] = random.integers(0, 2 * kind.lanes, shape).astype(pool.dtype)[2::4]
    few = random.choice(pool, (rows, 2))
    lanes[3::4] = few[np.arange(rows)[:, np.newaxis], random.integers(0, 2, shape)][3::4]
    return lanes.view(np.uint8).reshape(rows, SLOT)


def _masks(kind: Element, rows: int, random: np.random.Generator) -> Array:
    """Full, empty, prefix and sparse masks of lanes; arbitrary images, in which bits that decide nothing are set."""
    stride = kind.bytes
    images = np.zeros((rows, SLOT), np.bool_)
    for number, image in enumerate(images):
        match number % 7:
            case 0:
                image[::stride] = True
            case 1:
                image[:: 2 * stride] = random.random(SLOT // (2 * stride)) < 0.9
            case 2:
                image[: stride * random.integers(0, kind.lanes + 1) : stride] = True
            case 3:
                image[stride * random.integers(0, kind.lanes)] = True
            case 4:
                image[:] = random.random(SLOT) < 0.5
            case 5:
                image[:] = random.random(SLOT) < 0.1
            case _:
                image[1::stride] = stride > 1  # no lane is active
    packed = np.packbits(images, axis=1, bitorder="little")
    return np.concatenate([packed, np.zeros((rows, SLOT - 32), np.uint8)], axis=1)


def _scalar_images(slot: Slot, rows: int, random: np.random.Generator) -> Array:
    images = np.zeros((rows, SLOT), np.uint8)
    if slot.type == "index":
        images[:, 0] = random.integers(0, 2, rows)  # which half
    else:
        images[:, : slot.element.bytes] = random.choice(edges(slot.element), (rows, 1)).view(np.uint8)
    return images


def values(program: VectorProgram, rows: int, seed: int) -> dict[str, Array]:
    """Rows of bytes for each operand."""
    random = np.random.default_rng(seed)
    make = {"vector": _lanes, "mask": _masks}
    return {
        slot.name: _scalar_images(slot, rows, random)
        if slot.kind == "scalar"
        else make[slot.kind](slot.element, rows, random)
        for slot in program.operands
    }
