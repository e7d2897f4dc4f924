"""The rules that the instruction set gives for groups of vector tile operations, tried on every one of the group.

A letter is a rule: E one element type, V tiles in vec, R row-major, C as many valid columns, S one valid shape. A rule
of the group turns down a kernel that breaks nothing else; a rule that is not of the group does not.
"""

import pytest

from language.vector_tile_kernel import accepts, diagnostics, kernel

RULES = {
    "tadd tmin tsub tmax tmul tfmod tdiv tprelu trem tpow": ("binary", "f32", "EVRS"),
    "tand tor txor tshl tshr": ("binary", "i16", "EVRS"),
    "tabs texp tlog tsqrt trecip trsqrt trelu": ("unary", "f32", "EVRS"),
    "tnot": ("unary", "i16", "EVRS"),
    "tneg": ("unary", "f32", "EVRC"),
    "tadds tsubs tmuls tmaxs tmins tdivs tfmods trems tpows": ("scalar", "f32", "EVS"),
    "tands tors txors tshls tshrs": ("scalar", "i16", "EVRS"),
    "tlrelu": ("scalar", "f32", "EVS"),
    "taddc tsubc": ("ternary", "f32", "EVS"),
    "tcolexpandadd tcolexpandsub tcolexpandmul tcolexpanddiv tcolexpandmax tcolexpandmin tcolexpandexpdif": (
        "row",
        "f32",
        "EVRS",
    ),
    "tsel": ("select", "f32", "EVRS"),
    "tsels": ("select scalar", "f32", "EVRS"),
}
INPUTS = {
    "unary": "%a : {src}",
    "binary": "%a, %b : {src}, {tile}",
    "ternary": "%a, %b, %c : {src}, {tile}, {tile}",
    "scalar": "%a, %x : {src}, {element}",
    "row": "%a, %b : {src}, {row}",
    "select": "%m, %a, %b : {mask}, {src}, {tile}",
    "select scalar": "%m, %a, %x : {mask}, {src}, {element}",
}
BROKEN = {
    "E": ("vec", "{other}", ""),
    "V": ("mat", "{element}", ""),
    "R": ("vec", "{element}", ", blayout=col_major"),
    "C": ("vec", "{element}", ", valid=32x48"),
    "S": ("vec", "{element}", ", valid=16x64"),
}
"""Of the first source: where it lies, its elements, and what else its type says."""
LINE = 3
"""Where the operation stands."""
ROWS = [(name, *rest) for names, rest in RULES.items() for name in names.split()]


def text(name: str, form: str, element: str, broken: str | None, everywhere: bool = False) -> str:
    """The operation with a first source, or with all tiles, as the rule does not want them."""
    loc, kind, more = BROKEN[broken] if broken else ("vec", "{element}", "")
    source = f"<{loc}, 32x64x{kind.format(element=element, other='f16' if element == 'f32' else 'i32')}{more}>"
    tile = source if everywhere else f"<32x64x{element}>"
    mask, row = "<32x64xui8>", f"<1x64x{element}>"
    inputs = INPUTS[form].format(src=source, tile=tile, element=element, mask=mask, row=row)
    return kernel(f"pto.{name} ins({inputs}) outs(%d : {tile})")


@pytest.mark.parametrize(("name", "form", "element", "rules"), ROWS, ids=[name for name, *_ in ROWS])
def test_rules_of_a_group(name: str, form: str, element: str, rules: str) -> None:
    accepts(text(name, form, element, None))
    for rule in rules:
        said = diagnostics(text(name, form, element, rule), "a5")
        assert said and {(kind, severity) for kind, severity, *_ in said} == {("invalid", "error")}, (rule, said)
        assert all(place is not None and place[0] == LINE for *_, place in said), (rule, said)


@pytest.mark.parametrize(("name", "form", "element", "rules"), ROWS, ids=[name for name, *_ in ROWS])
def test_what_is_no_rule_of_a_group(name: str, form: str, element: str, rules: str) -> None:
    if "R" not in rules:
        accepts(text(name, form, element, "R", everywhere=True))
    if "S" not in rules:
        accepts(text(name, form, element, "S"))
