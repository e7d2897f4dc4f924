"""Logical vectors through loops, branches, calls and scopes; the older reductions."""

import numpy as np
import pytest

import ptosim
from logical_kernel import at, image, logical_text, run_logical

N = 100
X = (np.arange(N) % 23 - 7).astype("f4")
V, Q = f"L<{N}xf32>", f"Q<{N}>"
LOADED = f"%a = pto.vmi.vload %ub_f32[%c0] : P<f32> -> {V}\n"
STORED = f"pto.vmi.vstore %r, %ub32768_f32[%c0] : {V}, P<f32>"

BODIES = {
    f"""%s = pto.vmi.vbrc %c1.0_f32 : f32 -> {V}
%k = pto.vmi.create_mask %c90 : index -> {Q}
%r, %keep = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %s, %m = %k) -> ({V}, {Q}) {{
  %y = pto.vmi.vadd %x, %a, %m : {V}, {V}, {Q} -> {V}
  %p = pto.vmi.create_mask %c50 : index -> {Q}
  %o = pto.vmi.vand %m, %p : {Q}, {Q} -> {Q}
  scf.yield %y, %o : {V}, {Q}
}}
""": np.where(np.arange(N) < 50, 1 + 4 * X, 0),
    f"""%less = arith.cmpi slt, %n, %c5 : index
%r = scf.if %less -> ({V}) {{
  %y = pto.vmi.vneg %a : {V} -> {V}
  scf.yield %y : {V}
}} else {{
  scf.yield %a : {V}
}}
""": -X,
    f"""%less = arith.cmpi slt, %n, %c5 : index
%y = pto.vmi.vneg %a : {V} -> {V}
%r = arith.select %less, %a, %y : {V}
""": X,
    f"""%r, %last = scf.while (%x = %a, %i = %c0) : ({V}, index) -> ({V}, index) {{
  %more = arith.cmpi slt, %i, %c3 : index
  scf.condition(%more) %x, %i : {V}, index
}} do {{
^bb0(%x: {V}, %i: index):
  %y = pto.vmi.vadd %x, %x : {V}, {V} -> {V}
  %next = arith.addi %i, %c1 : index
  scf.yield %y, %next : {V}, index
}}
""": 8 * X,
    f"""%r = scf.execute_region -> {V} {{
  %y = pto.vmi.vneg %a : {V} -> {V}
  scf.yield %y : {V}
}}
""": -X,
    f"""%r = scf.index_switch %n -> {V}
case 3 {{
  scf.yield %a : {V}
}}
case 0 {{
  %y = pto.vmi.vneg %a : {V} -> {V}
  scf.yield %y : {V}
}}
default {{
  scf.yield %a : {V}
}}
""": -X,
    f"""%r = scf.execute_region -> {V} {{
  %flag = arith.index_cast %n : index to i32
  %y = pto.vmi.vneg %a : {V} -> {V}
  cf.switch %flag : i32, [
    default: ^bb1(%a : {V}),
    7: ^bb1(%a : {V}),
    0: ^bb1(%y : {V})
  ]
^bb1(%z: {V}):
  scf.yield %z : {V}
}}
""": -X,
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("scoped", [True, False])
def test_control_flow_hands_vectors_on(body: str, scoped: bool) -> None:
    memory = run_logical(LOADED + body + STORED, image((0, X)), 0, arguments=", %n: index", scoped=scoped)
    np.testing.assert_array_equal(at(memory, 32768, "f4", N), BODIES[body])


def test_functions_are_taken_in() -> None:
    helper = f"""func.func public @twice(%x: {V}, %m: {Q}) -> ({V}, {Q}) {{
%y = pto.vmi.vadd %x, %x, %m : {V}, {V}, {Q} -> {V}
%o = pto.vmi.vnot %m : {Q} -> {Q}
return %y, %o : {V}, {Q}
}}"""
    body = (
        LOADED
        + f"""%k = pto.vmi.create_mask %c30 : index -> {Q}
%y, %m = func.call @twice(%a, %k) : ({V}, {Q}) -> ({V}, {Q})
%r, %o = func.call @twice(%a, %m) : ({V}, {Q}) -> ({V}, {Q})
"""
        + STORED
    )
    memory = run_logical(body, image((0, X)), rest=helper)
    np.testing.assert_array_equal(at(memory, 32768, "f4", N), np.where(np.arange(N) < 30, 0, 2 * X))


def test_masks_and_constants_are_made_again_in_every_scope() -> None:
    body = f"""%k = pto.vmi.create_mask %c30 : index -> {Q}
%one = pto.vmi.vbrc %c1.0_f32 : f32 -> {V}
pto.vecscope {{
{LOADED}
%r = pto.vmi.vadd %a, %one, %k : {V}, {V}, {Q} -> {V}
{STORED}
}}
pto.vecscope {{
{LOADED.replace("%ub_f32", "%ub32768_f32")}
%r = pto.vmi.vadd %a, %one, %k : {V}, {V}, {Q} -> {V}
{STORED}
}}"""
    memory = run_logical(body, image((0, X)), scoped=False)
    np.testing.assert_array_equal(at(memory, 32768, "f4", N), np.where(np.arange(N) < 30, X + 2, 0))


def test_registers_of_constants_are_made_in_the_scope_that_is_inferred() -> None:
    whole = "L<256xf32>"
    body = f"""%a = pto.vmi.vload %ub_f32[%c0] : P<f32> -> {whole}
%k = pto.vmi.create_mask %c256 : index -> Q<256>
%m = pto.vmi.vcmax %a, %k {{group = 4}} : {whole}, Q<256> -> L<4xf32>
%r = pto.vmi.vbrc %m {{group = 4}} : L<4xf32> -> {whole}
pto.vmi.vstore %r, %ub32768_f32[%c0] : {whole}, P<f32>"""
    values = (np.arange(256) * 37 % 101).astype("f4")
    memory = run_logical(body, image((0, values)), scoped=False)
    np.testing.assert_array_equal(at(memory, 32768, "f4", 256), np.repeat(values.reshape(4, 64).max(axis=1), 64))


def test_a_value_does_not_outlive_its_scope() -> None:
    body = f"{LOADED}pto.vecscope {{\n%r = pto.vmi.vneg %a : {V} -> {V}\n{STORED}\n}}"
    with pytest.raises(ptosim.PTOError) as caught:
        ptosim.load(logical_text(body, scoped=False))
    (found,) = caught.value.diagnostics
    assert "%a is made outside of this vector scope" in found.message


OLDER = {
    "f": "reduce_addf reduce_maxf reduce_minf group_reduce_addf group_reduce_maxf group_reduce_minf",
    "i": "reduce_addi reduce_maxi reduce_mini group_reduce_addi group_reduce_maxi group_reduce_mini",
}


@pytest.mark.parametrize("seen", ["f32", "i32"])
def test_older_reductions(seen: str) -> None:
    letter = "f" if seen == "f32" else "i"
    source = np.arange(64).astype("f4" if letter == "f" else "u4") * 3
    v, mask = f"L<64x{seen}>", "Q<64>"
    lines = [f"%a = pto.vmi.vload %ub_{seen}[%c0] : P<{seen}> -> {v}", "%m = pto.vmi.create_mask %c60 : index -> Q<64>"]
    expected: list[np.ndarray] = []
    for name in OLDER[letter].split():
        grouped = name.startswith("group_")
        words = ["num_groups = 8"] * bool(grouped) + ["reassoc"] * name.endswith("addf")
        attributes = f" {{{', '.join(words)}}}" if words else ""
        lanes, number = 8 if grouped else 1, len(expected)
        lines.append(f"%r{number} = pto.vmi.{name} %a, %m{attributes} : {v}, {mask} -> L<{lanes}x{seen}>")
        lines.append(f"pto.vmi.vstore %r{number}, %ub{32768 + 64 * number}_{seen}[%c0] : L<{lanes}x{seen}>, P<{seen}>")
        rows = np.where(np.arange(64) < 60, source, source[0] if "min" not in name else source[-1] * 2)
        rows = np.where(np.arange(64) < 60, source, 0) if "add" in name else rows
        formula = {"add": np.sum, "max": np.max, "min": np.min}[name[-4:-1]]
        expected.append(formula(rows.reshape(lanes, -1), 1))
    memory = run_logical("\n".join(lines), image((0, source)))
    for number, values in enumerate(expected):
        np.testing.assert_array_equal(at(memory, 32768 + 64 * number, source.dtype, len(values)), values)


def test_findings_name_the_logical_operation() -> None:
    """A load beyond UB is found at its line, by its name."""
    text = logical_text(f"%a = pto.vmi.vload %ub261888_f32[%c0] : P<f32> -> {V}\n{STORED.replace('%r', '%a')}")
    report = ptosim.check(ptosim.load(text).kernel("k"), np.zeros(65536, "u1"), np.zeros(65536, "u1"))
    (found,) = [each for each in report.findings if each.kind == "out-of-bounds"]
    assert found.line == next(number for number, line in enumerate(text.splitlines(), 1) if "vmi.vload" in line)


def test_findings_name_lanes() -> None:
    """A register holds some lanes of a vector: those of the access."""
    text = logical_text(f"%a = pto.vmi.vload %ub65536_f32[%c0] : P<f32> -> {V}\n{STORED.replace('%r', '%a')}")
    report = ptosim.check(ptosim.load(text).kernel("k"), np.zeros(65536, "u1"), np.zeros(65536, "u1"))
    found = [each for each in report.findings if each.kind == "uninitialized"]
    said = {(each.lanes[0], each.lanes[-1] + 1) for each in found}
    assert said <= {(0, 64), (64, 100)} and said
    assert all("of %a" in each.message for each in found)
