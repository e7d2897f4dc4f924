"""Places that a text gives for its operations: what MLIR's forms mean, and that everything shown stands there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ptosim
from ptosim.diagnostics import PTOError
from ptosim.places import Location

RACE = """module attributes {pto.target_arch = "a5"} {
  func.func @race(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>) attributes {pto.kernel} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %bytes = arith.constant 256 : i64
    %ub = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
    pto.mte_gm_ub %x, %ub, %zero, %bytes nburst(%one, %bytes, %bytes)
      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64 LOAD
    BEFORE
    pto.mte_ub_gm %ub, %y, %bytes nburst(%one, %bytes, %bytes)
      : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64 STORE
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }
}
"""
AUTHOR = "import pto\n\ndef body(x, y):\n    load(x)\n    store(y)\n\nbody(1, 2)\n"


def text(load: str = "", store: str = "", before: str = "", after: str = "") -> str:
    return RACE.replace("LOAD", load).replace("STORE", store).replace("BEFORE", before) + after


def found(kernel_text: str, folder: Path, engine: str = "native") -> ptosim.Finding:
    """The one finding of a kernel beside the file that its author wrote."""
    (folder / "k.py").write_text(AUTHOR)
    (folder / "k.pto").write_text(kernel_text)
    arrays = np.zeros(64, "f4"), np.zeros(64, "f4")
    (finding,) = ptosim.check(ptosim.load(folder / "k.pto").kernel(), *arrays, engine=engine).findings
    return finding


FORMS = {
    'loc("k.py":5:5)': Location("k.py", 5, 5),
    'loc("k.py":5)': Location("k.py", 5, 1),
    'loc("k.py":5:5 to 5:13)': Location("k.py", 5, 5, 8),
    'loc("k.py":5:5 to :13)': Location("k.py", 5, 5, 8),
    'loc("k.py":5:5 to 6:2)': Location("k.py", 5, 5),
    'loc("y"("k.py":5:5))': Location("k.py", 5, 5),
    'loc(fused["k.py":5:5, "k.py":4:5])': Location("k.py", 5, 5),
    'loc(fused[unknown, "k.py":5:5])': Location("k.py", 5, 5),
    'loc(fused<{i = 3, j = 0}>["k.py":5:5])': Location("k.py", 5, 5, turns=(("i", 3), ("j", 0))),
    'loc(callsite("k.py":5:5 at "k.py":7:1))': Location("k.py", 5, 5, calls=(Location("k.py", 7, 1),)),
    'loc(callsite(callsite("k.py":5:5 at "k.py":7:1) at "l.py":2:1))': Location(
        "k.py", 5, 5, calls=(Location("k.py", 7, 1), Location("l.py", 2, 1))
    ),
    'loc(callsite("k.py":5:5 at callsite("k.py":7:1 at "l.py":2:1)))': Location(
        "k.py", 5, 5, calls=(Location("k.py", 7, 1), Location("l.py", 2, 1))
    ),
    'loc(callsite("name" at "k.py":7:1))': Location("k.py", 7, 1),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_finding_stands_where_the_location_says(form: str, tmp_path: Path):
    finding = found(text(store=form), tmp_path)
    assert finding.location == FORMS[form]
    assert finding.line == FORMS[form].line
    assert finding.related[-1].role == "in the text"
    assert finding.related[-1].location == Location(str(tmp_path / "k.pto"), 11, 5, len("pto.mte_ub_gm"))


@pytest.mark.parametrize("form", ["loc(unknown)", 'loc("y")', 'loc("k.py":0:0)', "loc(#self)", "loc(#other)", ""])
def test_without_a_place_a_finding_stands_in_the_text(form: str, tmp_path: Path):
    finding = found(text(store=form, after="#self = loc(callsite(#self at #self))\n"), tmp_path)
    assert finding.location is not None and finding.location.line == 11
    assert [other.role for other in finding.related] == ["MTE2 writes here"]


@pytest.mark.parametrize("place", ["-1:5", "true:5", "5:-5", "5:true"])
def test_lines_and_columns_are_natural_numbers(place: str):
    with pytest.raises(PTOError) as raised:
        ptosim.load(text(store=f'loc("k.py":{place})'))
    assert raised.value.diagnostics[0].kind == "syntax"


@pytest.mark.parametrize("alias", ["before", "after"])
def test_aliases_stand_before_or_after_their_use(alias: str, tmp_path: Path):
    lines = '#loc1 = loc("k.py":5:5)\n#loc = loc(callsite(#loc1 at "k.py":7:1))\n'
    kernel = lines + text(store="loc(#loc)") if alias == "before" else text(store="loc(#loc)", after=lines)
    finding = found(kernel, tmp_path)
    assert finding.location == Location("k.py", 5, 5, calls=(Location("k.py", 7, 1),))


def test_the_generic_form_has_locations_too():
    generic = """"builtin.module"() ({
  "func.func"() <{function_type = (i32) -> (), sym_name = "f"}> ({
  ^bb0(%a: i32 loc("a.py":1:1)):
    "func.return"() : () -> () loc("a.py":2:3)
  }) {pto.entry} : () -> () loc("a.py":1:4)
}) {pto.target_arch = "a5"} : () -> () loc(unknown)
"""
    printed = ptosim.load(generic).text(locations=True).splitlines()
    assert [line.rpartition(" loc")[2] for line in printed[2:4]] == ['("a.py":2:3)', '("a.py":1:4)']


@pytest.mark.parametrize(
    ("comment", "place"),
    [
        ("// k.py:5:5", Location("k.py", 5, 5)),
        ("// k.py:5", Location("k.py", 5, 1)),
        ("//./k.py:5:5", Location("./k.py", 5, 5)),
        ("// k.py:4:1\n    // k.py:5:5", Location("k.py", 5, 5)),
    ],
)
def test_a_comment_gives_the_place_of_the_next_operation(comment: str, place: Location, tmp_path: Path):
    finding = found(text(before=comment), tmp_path)
    assert finding.location == place
    assert finding.related[0].line == 8  # the load is before the comment


@pytest.mark.parametrize(
    "comment", ["// see k.py:5:5", "// k.py:5:5 moves y", "// 41: pto.tload", "// step:5", "// k.py"]
)
def test_other_comments_are_comments(comment: str, tmp_path: Path):
    finding = found(text(before=comment), tmp_path)
    assert finding.location is not None and finding.location.file.endswith("k.pto")


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_the_rendered_finding_quotes_the_author(engine: str, tmp_path: Path):
    load = 'loc(callsite(fused<{i = 3}>["k.py":4:5 to :12] at "k.py":7:1 to :11))'
    finding = found(text(load, 'loc("k.py":5:5 to :13)'), tmp_path, engine)
    assert str(finding).splitlines()[:11] == [
        "k.py:5:5: error: race: MTE3 may read ub[0:256] before MTE2 has written it",
        "    5 |     store(y)",
        "      |     ^^^^^^^^ MTE3 reads here",
        "    4 |     load(x)",
        "      |     ------- MTE2 writes here, with i = 3",
        "    7 | body(1, 2)",
        "      | ---------- called here",
        f"   {tmp_path / 'k.pto'}:11:5:",
        "   11 |     pto.mte_ub_gm %ub, %y, %bytes nburst(%one, %bytes, %bytes)",
        "      |     ------------- in the text",
        "   note: no flag, buffer or barrier orders MTE2 before MTE3 between the two",
    ]
    assert f"hint: in {tmp_path / 'k.pto'}:\n         after line 9 add" in str(finding)


def test_the_fix_changes_the_text_that_was_loaded(tmp_path: Path):
    found(text('loc("k.py":4:5)', 'loc("k.py":5:5)'), tmp_path)
    kernel = ptosim.load(tmp_path / "k.pto").kernel()
    fix = ptosim.check(kernel, np.zeros(64, "f4"), np.zeros(64, "f4")).fix()
    assert fix.verified
    assert fix.name.endswith("k.pto")
    assert fix.text.count("flag") == 2


def test_only_files_beside_or_below_the_kernel_are_quoted(tmp_path: Path):
    (tmp_path / "secret.py").write_text("password\n" * 9)
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "link.py").symlink_to(tmp_path / "secret.py")
    for name in ("../secret.py", str(tmp_path / "secret.py"), "link.py", "missing.py", "", "/dev/zero"):
        finding = found(text(store=f'loc("{name}":5:5)'), folder)
        assert finding.location == Location(name, 5, 5)
        assert finding.location.source is None
        assert "password" not in str(finding)
    assert found(text(store=f'loc("{folder / "k.py"}":5:5)'), folder).location.source is not None  # type: ignore[union-attr]


def test_an_error_of_a_run_and_of_a_load_stands_at_the_author_s_place(tmp_path: Path):
    for engine in ("native", "reference"):
        kernel = ptosim.load(text(load='loc("k.py":4:5)')).kernel()
        with pytest.raises(PTOError) as raised:
            kernel(np.zeros(32, "f4"), np.zeros(64, "f4"), engine=engine)
        (diagnostic,) = raised.value.diagnostics
        assert (diagnostic.kind, diagnostic.location) == ("out-of-bounds", Location("k.py", 4, 5))
    with pytest.raises(PTOError) as raised:
        ptosim.load(text(load='loc("k.py":4:5)').replace("%ub, %zero, %bytes nburst", "%y, %zero, %bytes nburst"))
    assert raised.value.diagnostics[0].location == Location("k.py", 4, 5)


def test_a_kernel_from_the_cache_has_the_same_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PTOSIM_CACHE", str(tmp_path / "cache"))
    kernel = text(load='loc(callsite("k.py":4:5 at "k.py":7:1))')
    for _ in range(2):  # new, and kept
        with pytest.raises(PTOError) as raised:
            ptosim.load(kernel).kernel()(np.zeros(32, "f4"), np.zeros(64, "f4"))
        place = raised.value.diagnostics[0].location
        assert place == Location("k.py", 4, 5, calls=(Location("k.py", 7, 1),))


def test_profile_lines_and_events_are_those_of_the_author(tmp_path: Path):
    found(text('loc("k.py":4:5)', 'loc("k.py":5:5)'), tmp_path)
    profile = ptosim.profile(ptosim.load(tmp_path / "k.pto").kernel(), np.zeros(64, "f4"), np.zeros(64, "f4"))
    assert {event.name: event.location for event in profile.timeline} == {
        "pto.mte_gm_ub": Location("k.py", 4, 5),
        "pto.mte_ub_gm": Location("k.py", 5, 5),
    }
    lines = {(entry.location.file, entry.line) for entry in profile.lines if entry.location is not None}
    assert {("k.py", 4), ("k.py", 5)} <= lines
    assert "load(x)" in str(profile)


def test_names_of_values_come_from_locations():
    kernel = """func.func @f(%0: !pto.ptr<f32, gm> loc("weights")) attributes {pto.entry} {
  %1 = arith.constant 0 : i64 loc("zero"("k.py":1:1))
  %2 = pto.castptr %1 : i64 -> !pto.ptr<f32, ub>
  pto.vecscope {
    %3 = arith.constant 0 : index
    %4 = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
    %5 = pto.vlds %2[%3] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32> loc("row")
    pto.vsts %5, %2[%3], %4 : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
  }
  return
}
"""
    parsed = ptosim.load(kernel).verified.parsed
    named = [parsed.name_of(result) for op in parsed.module.walk() for result in op.results]
    assert named == ["zero", "%2", "%3", "%4", "row"]
    assert '%5 = pto.vlds %2[%3] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32> loc("row"(' in ptosim.load(kernel).text(True)


def test_locations_survive_printing_and_lowering(tmp_path: Path):
    form = 'loc(callsite(fused<{i = 3}>["k.py":5:5 to :13] at "l \\"q\\".py":7:1))'
    module = ptosim.load(text(store=form))
    again = ptosim.load(module.text(locations=True))
    assert again.text(locations=True) == module.text(locations=True)
    assert form in module.text(locations=True)
    assert form in module.lowered(locations=True).source


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("loc(", "expected a location"),
        ("loc(3)", "expected a location"),
        ('loc("k.py":5:5', "Expected ')'"),
        ("loc(fused[)", "expected a location"),
        ('loc(callsite("k.py":1:1))', "Expected 'at'"),
    ],
)
def test_a_location_that_is_none_is_an_error_of_syntax(form: str, message: str):
    with pytest.raises(PTOError) as raised:
        ptosim.load(text(store=form))
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.kind == "syntax"
    assert message.lower() in diagnostic.message.lower()


def test_long_chains_of_calls_keep_the_innermost():
    links = ['#l0 = loc("k.py":1:1)', *(f"#l{n} = loc(callsite(#l{n - 1} at #l{n - 1}))" for n in range(1, 40))]
    module = ptosim.load(text(store="loc(#l39)", after="\n".join(links) + "\n"))
    places = [module.verified.parsed.location(op) for op in module.verified.parsed.module.walk()]
    assert max(len(place.shown.calls) for place in places if place is not None) == 32


def test_a_chain_of_aliases_that_is_too_long_gives_no_place():
    links = ['#l0 = loc("k.py":1:1)', *(f'#l{n} = loc("n"(#l{n - 1}))' for n in range(1, 9000))]
    assert "k.py" not in ptosim.load(text(store="loc(#l8999)", after="\n".join(links) + "\n")).text(locations=True)
