"""Spellings of the instruction pages: read where they can be, else an error that says what to write."""

import pytest
from click.testing import CliRunner

import ptosim
from ptosim.cli.commands import main
from ptosim.target import load_target
from tables import table

MODULE = """module attributes {{pto.target_arch = "{target}"}} {{
  func.func @k(%p: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %pp = arith.constant 1 : index
    %id = arith.constant 1 : i64
    %a = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
    {body}
    return
  }}
}}
"""


@table(
    "body, message",
    ('pto.set_flag["PIPE_V", "PIPE_MTE2", "EVT_IN_REV_{pp}"]', 'pto.wait_flag_dyn["PIPE_V", "PIPE_MTE2", %pp]'),
    ("TPUT(%a, %a)", "TPUT is written pto.comm.tput"),
    ("pto.TADD ins(%a, %a) outs(%a)", "TADD is written pto.tadd"),
    ("%e = RecordEvent %a", "pto.record_event and pto.wait_event"),
    ("pto.sync.set <PIPE_MTE3>, %id + 15", "%sum = arith.addi %id, %c15 : i64"),
    ("pto.set_intra_block <PIPE_MTE3>, id + 15", "%sum = arith.addi %id, %c15 : i64"),
    (
        "pto.tabs ins(%a[%pp] : !pto.tile_buf<vec, 16x16xf32>) outs(%a : !pto.tile_buf<vec, 16x16xf32>)",
        "pto.addptr",
    ),
    ("pto.tsync<TPUT>", "unknown op_class 'TPUT'"),
)
def test_an_error_says_what_to_write(body: str, message: str) -> None:
    with pytest.raises(ptosim.PTOError) as raised:
        ptosim.load(MODULE.format(target="a5", body=body))
    (found, *_) = raised.value.diagnostics
    assert message in f"{found.message} {found.hint}"


@table("word, pipe", ("TADD", "V"), ("TROWSUM", "V"), ("TLOAD", "MTE2"), ("TSTORE", "MTE3"), ("TMATMUL", "M"))
def test_a_tsync_takes_names_of_operations(word: str, pipe: str) -> None:
    text = MODULE.format(target="a3", body=f"pto.tsync<{word}>").replace(
        "<vector>", "<cube>" if pipe == "M" else "<vector>"
    )
    module = ptosim.load(text if pipe != "M" else text.replace("%a = pto.alloc_tile", "// %a"))
    assert f"pto.tsync<PIPE_{pipe}>" in module.text()


def test_words_that_are_none_get_a_suggestion() -> None:
    assert "did you mean race?" in CliRunner().invoke(main, ["explain", "rase"]).stderr
    assert "near: vabs" in CliRunner().invoke(main, ["isa", "vabz"]).stderr


def test_isa_says_what_verify_warns_of() -> None:
    assert "a2a3 (with a warning)" in CliRunner().invoke(main, ["isa", "get_buf"]).stdout
    module = ptosim.load(MODULE.format(target="a3", body='pto.get_buf "PIPE_V", 0, 0\n    pto.rls_buf "PIPE_V", 0, 0'))
    assert {found.kind for found in module.warnings} == {"wrong-target"}


def test_verify_says_where_scopes_are_inferred(tmp_path) -> None:
    bare = """%q = pto.castptr %id : i64 -> !pto.ptr<f32, ub>
    %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
    %v = pto.vdup %f, %all : f32, !pto.mask<b32> -> !pto.vreg<64xf32>
    pto.vsts %v, %q[%pp], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>"""
    text = MODULE.format(target="a5", body=f"%f = arith.constant 1.0 : f32\n    {bare}")
    text = text.replace("    %a = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>\n", "")
    path = tmp_path / "k.pto"
    path.write_text(text)
    assert "vector scopes are inferred around line 7" in CliRunner().invoke(main, ["verify", str(path)]).stdout
    scope = f"pto.vecscope {{\n{bare.partition(chr(10))[2]}\n    }}"
    path.write_text(text.replace(bare.partition("\n")[2], scope))
    assert "inferred" not in CliRunner().invoke(main, ["verify", str(path)]).stdout


def test_the_target_file_says_how_many_events_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """A public tracker has kernels that use id 8."""
    body = 'pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID8"]\n    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID8"]'
    with pytest.raises(ptosim.PTOError, match=r"EVENT_ID8 does not exist; known: EVENT_ID0, .*EVENT_ID7\n"):
        ptosim.load(MODULE.format(target="a5", body=body))
    more = load_target("a5").with_overrides({"sync.event_ids": 16}, {})
    monkeypatch.setattr("ptosim.language.micro.sync.load_target", lambda name: more)
    assert ptosim.load(MODULE.format(target="a5", body=f"{body}  // 16 of them")).warnings == ()
    with pytest.raises(ptosim.PTOError, match=r"EVENT_ID16 does not exist; known: .*EVENT_ID15\n"):
        ptosim.load(MODULE.format(target="a5", body=body.replace("ID8", "ID16")))
