"""Conversions: the whole matrix of pairs, the attribute contract, rounding, ramps and retyping."""

import pytest

from language.vector_kernel import accepts, kernel, mask_of, printed, read, rejects

# --- vcvt -------------------------------------------------------------------------------------------------------------

# What each pair must be told: attribute names, and in the last word the family of its parts.
MATRIX = {
    "rnd sat EVEN": "f32>f16 f32>bf16 f32>si16 f32>si64 f16>si8 f16>ui8 bf16>si32",
    "rnd sat": "f32>si32 f16>si16 bf16>f16",
    "rnd EVEN": "f16>si32 si64>f32",
    "rnd": "si16>f16 si32>f32",
    "sat EVEN": "ui32>ui16 ui32>si16 si64>si32 ui16>ui8 si16>ui8 si32>ui16 si32>si16",
    "sat P0": "ui32>ui8 si32>ui8",
    "EVEN": "f16>f32 bf16>f32 ui8>f16 ui8>ui16 si8>f16 si8>si16 ui16>ui32 si16>f32 si16>ui32 si16>si32 si32>si64",
    "P0": "ui8>ui32 si8>si32 f8E4M3FN>f32 f8E5M2>f32 hif8>f32 f4E1M2x2>bf16 f4E2M1x2>bf16",
    "rnd sat P0": "f32>f8E4M3FN f32>f8E5M2 f32>hif8",
    "rnd sat EVEN ": "f16>f8E4M3FN f16>f8E5M2 f16>hif8 bf16>f8E4M3FN bf16>f8E5M2",
    "rnd P0": "bf16>f4E1M2x2 bf16>f4E2M1x2",
}
PAIRS = {tuple(pair.split(">")): told.split() for told, pairs in MATRIX.items() for pair in pairs.split()}
BITS = {
    **{f"{sign}i{width}": width for sign in ("", "s", "u") for width in (8, 16, 32, 64)},
    **dict.fromkeys(("f8E4M3FN", "f8E5M2", "hif8", "f8E8M0", "f4E1M2x2", "f4E2M1x2"), 8),
    "f16": 16,
    "bf16": 16,
    "f32": 32,
}


def words_of(told: list[str], rnd: str = "A") -> dict[str, str]:
    """The attributes of a pair; A is a rounding that every pair knows."""
    values = {"rnd": ("rnd", rnd), "sat": ("sat", "SAT"), "EVEN": ("part", "EVEN"), "P0": ("part", "P0")}
    return dict(values[word] for word in told)


def vcvt(source: str, dest: str, words: dict[str, str], mask: str | None = None) -> str:
    mask = mask or mask_of(source)
    attributes = ", ".join(f'{name} = "{word}"' for name, word in words.items())
    return f"%d = pto.vcvt %v_{source}, %{mask} {{{attributes}}} : V<{source}>, M<{mask}> -> V<{dest}>"


def test_the_matrix_is_transcribed_in_full():
    assert len(PAIRS) == 51


@pytest.mark.parametrize("source, dest", PAIRS)
def test_a_pair_takes_exactly_its_attributes(source: str, dest: str):
    words = words_of(PAIRS[source, dest])
    accepts(vcvt(source, dest, words))
    for name in words:
        fewer = {other: word for other, word in words.items() if other != name}
        body = vcvt(source, dest, fewer).replace("pto.vcvt", "^pto.vcvt")
        rejects(body, f"pto.vcvt from {source} to {dest} needs {name}: one of ...")
    for name, word in {"rnd": "R", "sat": "SAT", "part": "EVEN"}.items():
        if name not in words:
            body = vcvt(source, dest, {**words, name: word}).replace(f"{name} = ", f"{name} = ^")
            rejects(body, f"pto.vcvt from {source} to {dest} takes {' and '.join(words)}, but no {name}")


@pytest.mark.parametrize("source, dest", [pair for pair, told in PAIRS.items() if {"EVEN", "P0"} & set(told)])
def test_the_family_of_parts(source: str, dest: str):
    words = words_of(PAIRS[source, dest])
    family, other = (["EVEN", "ODD"], "P1") if words["part"] == "EVEN" else (["P0", "P1", "P2", "P3"], "ODD")
    for part in family:
        accepts(vcvt(source, dest, words | {"part": part}))
    body = vcvt(source, dest, words | {"part": other}).replace("part = ", "part = ^")
    rejects(body, f"pto.vcvt from {source} to {dest} has no part '{other}'; known: {', '.join(family)}")


@pytest.mark.parametrize("source", BITS)
def test_other_pairs_do_not_convert(source: str):
    signed = f"s{source}" if source.startswith("i") else source
    for dest in BITS:
        if (signed, f"s{dest}" if dest.startswith("i") else dest) not in PAIRS:
            body = vcvt(source, dest, {}).replace("%v_", "^%v_", 1).replace(" {}", "")
            rejects(body, f"pto.vcvt does not convert {source} to {dest}; ...")


@pytest.mark.parametrize("source, dest", [pair for pair in PAIRS if any(name.startswith("si") for name in pair)])
def test_signless_integers_convert_as_signed_ones(source: str, dest: str):
    words = words_of(PAIRS[source, dest])
    for one in {source, source.removeprefix("s")}:
        for other in {dest, dest.removeprefix("s")}:
            accepts(vcvt(one, other, words))


@pytest.mark.parametrize("source, dest", [pair for pair, told in PAIRS.items() if "sat" in told])
def test_what_may_not_fit_saturates_or_not(source: str, dest: str):
    for word in ("SAT", "NOSAT", "RS_ENABLE", "RS_DISABLE"):
        accepts(vcvt(source, dest, words_of(PAIRS[source, dest]) | {"sat": word}))


ROUNDINGS = {
    **{pair: "RAFCZO" for pair, told in PAIRS.items() if "rnd" in told},
    **dict.fromkeys((("f32", "f8E4M3FN"), ("f32", "f8E5M2")), "RAHZ"),
    **dict.fromkeys((("f32", "hif8"), ("f16", "hif8")), "AH"),
    **{(source, dest): "RAFZC" for source in ("f16", "bf16") for dest in ("f8E4M3FN", "f8E5M2")},
    **{("bf16", dest): "RAFZC" for dest in ("f4E1M2x2", "f4E2M1x2")},
}


@pytest.mark.parametrize("source, dest", ROUNDINGS)
def test_the_roundings_of_a_pair(source: str, dest: str):
    known = ROUNDINGS[source, dest]
    for rounding in "RAFCZOH":
        body = vcvt(source, dest, words_of(PAIRS[source, dest], rounding))
        if rounding in known:
            accepts(body)
        else:
            message = f"pto.vcvt from {source} to {dest} has no rnd '{rounding}'; known: {', '.join(known)}"
            rejects(body.replace("rnd = ", "rnd = ^"), message)


@pytest.mark.parametrize("word", ["ROUND_R", "ROUND_A", "ROUND_F", "ROUND_C", "ROUND_Z", "ROUND_O"])
def test_every_older_word_of_a_rounding(word: str):
    text = printed(read(kernel(vcvt("si32", "f32", {"rnd": word}))))
    assert f'{{rnd = "{word[-1]}"}}' in text


@pytest.mark.parametrize("word", ["PART_EVEN", "PART_ODD", "PART_P0", "PART_P1", "PART_P2", "PART_P3"])
def test_every_older_word_of_a_part(word: str):
    text = printed(read(kernel(vcvt("ui8", "ui32" if "_P" in word else "ui16", {"part": word}))))
    assert f'{{part = "{word[5:]}"}}' in text


def test_older_words_and_names_are_printed_as_the_current_ones():
    body = vcvt("f32", "f16", {"round_mode": "ROUND_R", "sat": "RS_DISABLE", "part": "PART_ODD"})
    accepts(body)
    text = printed(read(kernel(body)))
    assert '{rnd = "R", sat = "NOSAT", part = "ODD"}' in text
    assert "round_mode" not in text


def test_the_generic_form_knows_the_older_name_too():
    body = '%d = "pto.vcvt"(%v_f32, %b32) {{{}, sat = "SAT", part = "EVEN"}} : (V<f32>, M<b32>) -> V<f16>'
    accepts(body.format('round_mode = "ROUND_Z"'))
    text = printed(read(kernel(body.format('round_mode = "ROUND_Z"'))))
    assert '{rnd = "Z", sat = "SAT", part = "EVEN"}' in text


# --- vtrc -------------------------------------------------------------------------------------------------------------


def vtrc(element: str, mask: str, word: str) -> str:
    return f"%d = pto.vtrc %v_{element}, %{mask}, {word} : V<{element}>, M<{mask}> -> V<{element}>"


# --- vci, vbitcast, vmulscvt ------------------------------------------------------------------------------------------


RAMPS = [(f"{sign}i{bits}", f"i{bits}") for bits in (8, 16, 32) for sign in ("", "s", "u")]
RAMPS += [(f"{sign}i{bits}", f"{sign}i{bits}") for bits in (8, 16, 32) for sign in ("s", "u")]
RAMPS += [("f16", "f16"), ("f32", "f32")]


@pytest.mark.parametrize("element", ["i4", "i1", "f64", "index"])
def test_a_register_holds_elements_of_8_to_64_bits(element: str):
    rejects(
        f"%d = pto.vbitcast %v_f32 : V<f32> -> !pto.vreg<^256x{element}>",
        f"a vector register cannot hold {element}",
        kind="syntax",
    )


def vmulscvt(words: str = '"A", "EVEN"') -> str:
    return f"%d = pto.vmulscvt %v_f32, %s_f32, %b32, {words} : V<f32>, f32, M<b32> -> V<f16>"
