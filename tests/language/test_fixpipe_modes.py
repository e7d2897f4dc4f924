"""What fixpipe stores compute: quantisation modes, payloads, relu, clipping; rejections 5 to 10 of the rules."""

import pytest

from language.scalar_kernel import accepts, rejects, warns
from language.store_kernel import STORES, store
from ptosim.language.micro.fixpipe_modes import QUANT_MODES
from tables import table

# --- 5 to 8: quantisation ---------------------------------------------------------------------------------------------


# Codes, accumulators and destinations of the modes that exist as _vec and _scalar, from the table of modes.
PAIRED = {
    "qf322hif8_pre": (2, "f32", ("hif8", "hif8x2", "f8E4M3FN")),
    "qf322hif8_pre_hybrid": (4, "f32", ("hif8",)),
    "deqs32_int": (6, "i32", ("i32", "si32", "ui32")),
    "req8": (8, "i32", ("i8", "si8", "ui8")),
    "deqf16": (10, "i32", ("f16",)),
    "qf322fp8_pre": (12, "f32", ("f8E4M3FN", "f8E5M2", "hif8")),
    "qf322f32_pre": (14, "f32", ("f32",)),
    "qf162b8_pre": (17, "f32", ("i8", "ui8")),
    "qf162s4_pre": (19, "f32", ("i4", "si4")),
    "req4": (21, "i32", ("i4", "si4")),
    "qf322b8_pre": (23, "f32", ("i8", "si8", "ui8")),
    "qf322s4_pre": (25, "f32", ("i4", "si4")),
    "deqs16": (27, "i32", ("i16", "si16")),
    "qf162s16_pre": (29, "i32", ("i16", "si16")),
    "qf322f16_pre": (31, "f32", ("f16",)),
    "qf322bf16_pre": (33, "f32", ("bf16",)),
    "qs322bf16_pre": (35, "i32", ("bf16",)),
}
MODES = {
    "f32_f16": (1, "f32", ("f16",)),
    "f32_bf16": (16, "f32", ("bf16",)),
    **{f"{name}_vec": row for name, row in PAIRED.items()},
    **{f"{name}_scalar": (code + 1, source, dests) for name, (code, source, dests) in PAIRED.items()},
}


def test_every_mode_has_its_code() -> None:
    codes = {"no_convert": 0} | {name: code for name, (code, _, _) in MODES.items()}
    assert {name: mode.code for name, mode in QUANT_MODES.items()} == codes
    assert len(set(codes.values())) == 37


@pytest.mark.parametrize("mode", MODES)
def test_modes(mode: str) -> None:
    _, source, destinations = MODES[mode]
    for payload in ("f16", "bf16", "f32"):
        operand = f"%p_{payload}_fb" if mode.endswith("_vec") else f"%s_{payload}"
        for dest in destinations:
            accepts(store("gm", f"pre_quant({operand}, mode = {mode})", source, dest))


@pytest.mark.parametrize("mode", MODES)
def test_payloads(mode: str) -> None:
    _, source, (dest, *_) = MODES[mode]
    if mode.endswith("_vec"):
        message = f"{mode} needs a pointer into fb, not f32"
        rejects(store("l1", f"pre_quant(^%s_f32, mode = {mode})", source, dest), message)
        message = f"{mode} needs a pointer into fb, not !pto.ptr<f32, l1>"
        rejects(store("gm", f"pre_quant(^%p_f32_l1, mode = {mode})", source, dest), message)
        message = f"{mode} needs an fb pointer to f16, bf16 or f32, not to ui64"
        rejects(store("gm", f"pre_quant(^%p_ui64_fb, mode = {mode})", source, dest), message)
    else:
        message = f"{mode} needs an f16, bf16 or f32 scalar, not !pto.ptr<f32, fb>"
        rejects(store("gm", f"pre_quant(^%p_f32_fb, mode = {mode})", source, dest), message)
        message = f"{mode} needs an f16, bf16 or f32 scalar, not i32"
        rejects(store("gm", f"pre_quant(^%s_i32, mode = {mode})", source, dest), message)


@pytest.mark.parametrize("mode", MODES)
def test_accumulators(mode: str) -> None:
    _, source, (dest, *_) = MODES[mode]
    payload = "%p_f32_fb" if mode.endswith("_vec") else "%s_f32"
    for wrong in {"f32", "i32", "si32", "f16"} - {source}:
        message = f"{mode} converts {source}, but the accumulator is {wrong}"
        rejects(store("gm", f"pre_quant({payload}, mode = ^{mode})", wrong, dest), message)


def gives(dest: str) -> str:
    """What a message calls the destinations of a mode, by one of them."""
    if dest in ("f16", "bf16", "f32"):
        return dest
    kind = "float" if dest in ("hif8", "f8E4M3FN") else "integer"
    return {"8": f"an 8-bit {kind}", "4": "a 4-bit integer", "16": "a 16-bit integer", "32": "a 32-bit integer"}[
        "8" if kind == "float" else dest.lstrip("siu")
    ]


@pytest.mark.parametrize("mode", MODES)
def test_destinations(mode: str) -> None:
    _, source, destinations = MODES[mode]
    payload = "%p_f32_fb" if mode.endswith("_vec") else "%s_f32"
    for wrong in {"f16", "bf16", "f32", "hif8", "i4", "i8", "i16", "ui16", "i32"}:
        eight_bit_float = wrong == "hif8" and ("fp8" in mode or "hif8" in mode)
        if wrong in destinations or eight_bit_float:
            continue
        body = store("gm", f"pre_quant({payload}, mode = ^{mode})", source, wrong)
        rejects(body, f"{mode} gives {gives(destinations[0])}, but the destination is {wrong}")


def test_no_convert_checks_nothing() -> None:
    for payload in ("%s_f32", "%p_ui64_fb", "%s_i32"):
        accepts(store("gm", f"pre_quant({payload}, mode = no_convert)", "f32", "i8"))


@pytest.mark.parametrize("name", STORES)
def test_without_pre_quant_the_type_stays(name: str) -> None:
    accepts(store(name, source="i32", dest="i32"))
    body = store(name, dest="f16").replace("%p_f16", "^%p_f16")
    message = "without pre_quant the destination has the type of the accumulator, f32, not f16"
    warns(body, message)


@pytest.mark.parametrize("name", STORES)
def test_accumulators_have_32_bits(name: str) -> None:
    accepts(store(name, source="si32", dest="si32"))
    for wrong in ("f16", "i8", "ui32"):
        body = store(name, source=wrong, dest=wrong).replace(f"%p_{wrong}_l0c", f"^%p_{wrong}_l0c")
        rejects(body, f"an accumulator is f32 or i32, not {wrong}")


# --- 9: relu ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["no_relu", "normal_relu"])
def test_relu_without_payload(mode: str) -> None:
    accepts(store("gm", f"pre_relu(mode = {mode})"))
    rejects(store("gm", f"pre_relu(^%s_f32, mode = {mode})"), f"{mode} takes no payload")


@pytest.mark.parametrize("mode", ["scalar_relu", "vector_relu"])
def test_relu_needs_its_payload(mode: str) -> None:
    message = f"{mode} needs a payload: pre_relu(%payload, mode = {mode})"
    rejects(store("gm", f"pre_relu(mode = ^{mode})"), message)


def test_relu_payloads() -> None:
    message = "scalar_relu needs an f16, bf16 or f32 scalar, not i32"
    rejects(store("gm", "pre_relu(^%s_i32, mode = scalar_relu)"), message)
    message = "scalar_relu needs an f16, bf16 or f32 scalar, not !pto.ptr<f32, fb>"
    rejects(store("gm", "pre_relu(^%p_f32_fb, mode = scalar_relu)"), message)
    for payload in ("f16", "bf16", "f32"):
        accepts(store("gm", f"pre_relu(%s_{payload}, mode = scalar_relu)"))
        accepts(store("gm", f"pre_relu(%p_{payload}_fb, mode = vector_relu)"))
    message = "vector_relu needs a pointer into fb, not !pto.ptr<f32, l1>"
    rejects(store("gm", "pre_relu(^%p_f32_l1, mode = vector_relu)"), message)
    message = "vector_relu needs a pointer into fb, not f32"
    rejects(store("gm", "pre_relu(^%s_f32, mode = vector_relu)"), message)
    message = "vector_relu needs an fb pointer to f16, bf16 or f32, not to ui32"
    rejects(store("gm", "pre_relu(^%p_ui32_fb, mode = vector_relu)"), message)
    message = "unknown relu_mode 'pwl'; known: no_relu, normal_relu, scalar_relu, vector_relu"
    rejects(store("gm", "pre_relu(mode = ^pwl)"), message, kind="syntax")


# --- 10: clip ---------------------------------------------------------------------------------------------------------

TO = {"f16": "f32_f16", "ui8": "qf322b8_pre_scalar", "i8": "qf322b8_pre_scalar", "si8": "qf322b8_pre_scalar"}


def clipped(dest: str, clip: str) -> str:
    source = "i32" if dest.endswith("16") and dest != "f16" else "f32"
    mode = TO.get(dest, "deqs16_scalar" if source == "i32" else "qf322s4_pre_scalar")
    return store("gm", f"pre_quant(%s_f32, mode = {mode}), pre_relu(mode = no_relu, clip = {clip})", source, dest)


SMALL = ("i4", "si4", "i8", "si8", "i16", "si16")


@table("dest, clips", ("f16", ("f16",)), ("ui8", ("ui16", "i16")), *((dest, SMALL) for dest in SMALL))
def test_clip_values(dest: str, clips: tuple[str, ...]) -> None:
    for clip in clips:
        accepts(clipped(dest, f"%s_{clip}"))
    for wrong in {"f32", "i32", "f16", "i8"} - set(clips):
        message = f"the clip value for a destination of {dest} must be {' or '.join(clips)}, not {wrong}"
        rejects(clipped(dest, f"^%s_{wrong}"), message)


def test_clip_needs_a_narrow_destination() -> None:
    message = "clip does not apply to a destination of {}; known: f16, ui8, i4, si4, i8, si8, i16, si16"
    for source, dest, quant in (
        ("f32", "f32", ""),
        ("i32", "i32", ""),
        ("f32", "bf16", "pre_quant(%s_f32, mode = f32_bf16), "),
        ("f32", "f8E4M3FN", "pre_quant(%s_f32, mode = qf322fp8_pre_scalar), "),
    ):
        body = store("gm", f"{quant}pre_relu(mode = normal_relu, clip = ^%s_f16)", source, dest)
        rejects(body, message.format(dest))
