"""Arguments made up: what every example is launched with, the words that say it, and what is said where nothing can."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ptosim
from ptosim.argument_trials import KernelParameters
from ptosim.argument_words import value_of
from ptosim.cli.commands import main
from ptosim.example_arguments import example_words

EXAMPLES = Path(__file__).parents[1] / "examples"
SOFTMAX = str(EXAMPLES / "tiles" / "softmax.pto")
UNUSUAL = Path(__file__).with_name("made_up")
KERNELS = sorted(path for path in EXAMPLES.rglob("*.pto") if path.parent.name not in ("ranks", "cpp"))
"""Those that check clean on one rank; the texts beside kernels in C++ end while a copy is under way, as these do."""
RANKED = [path for path in sorted((EXAMPLES / "ranks").glob("*.pto")) if ".broken" not in path.name]

TABLE = """module attributes {pto.target_arch = "a5"} {
  func.func @rows(%x: !pto.ptr<f32>, %table: !pto.ptr<i32>, %y: !pto.ptr<f32>, %n: i32)
      attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %rows = arith.index_cast %n : i32 to index
    %all = arith.constant 100 : index
    %xv = pto.make_tensor_view %x, shape = [%all, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %yv = pto.make_tensor_view %y, shape = [%rows, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %a = pto.alloc_tile : !pto.tile_buf<vec, 1x64xf32>
    scf.for %i = %c0 to %rows step %c1 {
      %place = pto.load_scalar %table[%i] : !pto.ptr<i32> -> i32
      %row = arith.index_cast %place : i32 to index
      %xp = pto.partition_view %xv, offsets = [%row, %c0], sizes = [%c1, %c64]
        : !pto.tensor_view<?x64xf32> -> !pto.partition_tensor_view<1x64xf32>
      %yp = pto.partition_view %yv, offsets = [%i, %c0], sizes = [%c1, %c64]
        : !pto.tensor_view<?x64xf32> -> !pto.partition_tensor_view<1x64xf32>
      pto.tload ins(%xp : !pto.partition_tensor_view<1x64xf32>) outs(%a : !pto.tile_buf<vec, 1x64xf32>)
      pto.tstore ins(%a : !pto.tile_buf<vec, 1x64xf32>) outs(%yp : !pto.partition_tensor_view<1x64xf32>)
    }
    return
  }
}
"""

FAR = """module attributes {pto.target_arch = "a5"} {
  func.func @far(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>) attributes {pto.kernel} {
    %far = arith.constant 100000000 : index
    %zero = arith.constant 0.0 : f32
    pto.store_scalar %zero, %x[%far] : !pto.ptr<f32, gm>, f32
    return
  }
}
"""


def words_of(kernel: ptosim.Kernel, **options: object) -> list[str]:
    return example_words(kernel, ["auto"] * len(kernel.signature), **options)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("path", [*KERNELS, *RANKED], ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_example_is_launched_without_arguments_and_is_clean(path: Path) -> None:
    if path.stem == "gemm_all_reduce":
        pytest.skip("two kernels that run side by side")
    said = CliRunner().invoke(main, ["check", str(path)])
    assert said.exit_code == 0, said.output
    first, last = said.output.strip().split("\n")[0], said.output.strip().split("\n")[-1]
    assert first.endswith("no findings") and last.startswith(f"repeat: ptosim check {path} ")
    again = CliRunner().invoke(main, shlex.split(last.removeprefix("repeat: ptosim ")))
    assert again.output.strip() == "\n".join(said.output.strip().split("\n")[:-1])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        # a count is read from one table, and only then is it known how far another one is
        ("paged_products", "rand:16x128 rand:64x1792 index:2:8 rand:1:1..262 zeros:32x128 0 64"),
        # two rows of one number would go to one place
        ("scattered_rows", "rand:8x64 arange:8 zeros:8x64"),
        # which row is loaded follows from numbers of another array
        ("row_of_the_largest", "rand:128 rand:27x64 zeros:1 zeros:64"),
        # rows, planes and boxes lie one behind the other
        ("strides", "rand:432x32 zeros:432x32 3 3 3 4608 1536 512"),
        ("counts_and_offsets", "rand:215x256 rand:215 rand:1:1..256 arange:1 zeros:215x256 0"),
    ],
)
def test_arguments_follow_from_how_they_are_used(name: str, words: str) -> None:
    said = CliRunner().invoke(main, ["check", str(UNUSUAL / f"{name}.pto")])
    first, *_, last = said.output.strip().split("\n")
    assert first.endswith("no findings") and last.partition(".pto ")[2] == words


def test_words_that_are_waited_for_hold_what_ends_the_wait() -> None:
    """Nothing in the launch sets them, as in a kernel that stands behind that of another stream."""
    said = CliRunner().invoke(main, ["check", str(UNUSUAL / "arrivals.pto")])
    assert not said.exit_code and "stale-signal" in said.output and "full:1:1" in said.output.split("repeat: ")[-1]


def test_a_kernel_with_a_context_runs_on_as_many_ranks_as_it_needs() -> None:
    words = {path.stem: CliRunner().invoke(main, ["check", str(path)]).output.split("repeat: ")[-1] for path in RANKED}
    assert " sym:zeros:17 each:zeros:2x4096 ctx:0 rank ranks 1 --ranks 2\n" in words["all_reduce"]
    assert " ctx:0 rank ranks 1 --ranks 4\n" in words["root_collectives"]
    three = CliRunner().invoke(main, ["check", str(EXAMPLES / "ranks" / "all_reduce.pto"), "--ranks", "3"])
    assert "each:zeros:3x4096" in three.output and three.output.endswith(" --ranks 3\n") and not three.exit_code


def test_from_python_a_context_is_no_array() -> None:
    kernel = ptosim.load(EXAMPLES / "ranks" / "ring_put.pto").kernel()
    with pytest.raises(ptosim.PTOError, match="is the context of a window, for several ranks"):
        kernel.example_arguments()


def test_words_of_ranks_stand_beside_made_up_ones() -> None:
    """The window is given, its context is made up, and a scalar is said to be the rank."""
    path = str(EXAMPLES / "ranks" / "ring_put.pto")
    words = ["auto", "sym:zeros:256", "auto", "auto", "ctx:1", "auto", "auto", "auto", "--set", "rank=rank"]
    said = CliRunner().invoke(main, ["check", path, *words])
    assert not said.exit_code and " sym:zeros:256 sym:zeros:1 each:zeros:256 ctx:1 rank ranks 1 " in said.output


def test_sizes_are_those_that_the_kernel_reaches() -> None:
    kernel = ptosim.load(SOFTMAX).kernel()
    assert words_of(kernel) == ["rand:70x128", "zeros:70x128", "70"]  # two turns of 32 rows, and six
    assert words_of(kernel, scalars={"rows": 5}) == ["rand:5x128", "zeros:5x128", "5"]
    x, y, rows = kernel.example_arguments(scalars={"rows": 40})
    assert x.shape == y.shape == (40, 128) and rows == 40 and not y.any()


def test_seeds_give_other_numbers_which_words_repeat() -> None:
    kernel = ptosim.load(SOFTMAX).kernel()
    first, second = kernel.example_arguments()[0], kernel.example_arguments(seed=3)[0]
    assert (first != second).any()
    words = words_of(kernel, seed=3)
    given = enumerate(zip(words, kernel.signature, strict=True))
    np.testing.assert_array_equal(second, next(value_of(word, each, index) for index, (word, each) in given))


def test_some_arguments_may_be_given() -> None:
    kernel = ptosim.load(SOFTMAX).kernel()
    assert example_words(kernel, ["ones:24x128", "auto", "24"]) == ["ones:24x128", "zeros:24x128", "24"]


def test_tables_hold_numbers_of_rows() -> None:
    kernel = ptosim.load(TABLE).kernel()
    x, table, y, rows = kernel.example_arguments()
    assert rows >= 2 and len(table) == rows and y.size == rows * 64
    assert table.min() >= 0 and x.size == (table.max() + 1) * 64 and table.max() > 0
    assert ptosim.check(kernel, x, table, y, rows).findings == ()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "columns=3"], "there is no scalar 'columns'; those of this kernel are: rows"),
        (["--set", "x=3"], "x: !pto.ptr<f32, gm> is an array, not a scalar: give its word"),
        (["--set", "rows=many"], "'many' for rows: i32: expected a whole number"),
        (["--set", "rows=3", "--set", "rows=4"], "--set says rows twice: 3 and 4"),
        (["auto", "auto", "24", "--set", "rows=3"], "--set rows beside the word '24' for rows: say one of them"),
        (["rand:4:3..1", "auto", "24"], "the range 3..1 is empty: 3 is above 1"),
        (["rand:4:nan..1", "auto", "24"], "the range nan..1 has no length: numbers lie between two that are finite"),
        (["rand:4:-1e308..1e308", "auto", "24"], "the range -1e308..1e308 has no length"),
        (["index:4", "auto", "24"], "index needs a limit: index:4:LIMIT"),
        (["full:4:x", "auto", "24"], "'x' is not a number"),
        (["rand:4:many", "auto", "24"], "a seed is a whole number"),
        (["zeros:4:1..2", "auto", "24"], "'1..2' is not part of zeros:SHAPE[:TYPE]"),
        (["auto", "auto"], "softmax takes 3 arguments"),
        (["ctx:0", "auto", "auto"], "argument 0, whose context is asked for, is no window"),
    ],
)
def test_one_message_for_words_that_do_not_fit(words: list[str], message: str) -> None:
    said = CliRunner().invoke(main, ["check", SOFTMAX, *words])
    assert said.exit_code == 2 and "repeat:" not in said.output
    assert said.stderr.count("error:") == 1 and message in said.stderr


def test_arrays_that_would_be_too_large_ask_for_a_size(tmp_path: Path) -> None:
    path = tmp_path / "far.pto"
    path.write_text(FAR)
    said = CliRunner().invoke(main, ["check", str(path)])
    assert said.exit_code == 2 and "no arguments can be made up" in said.stderr


def test_prove_makes_nothing_up_and_sync_without_words_holds_for_all_launches(tmp_path: Path) -> None:
    assert "repeat:" not in CliRunner().invoke(main, ["prove", SOFTMAX]).output
    out = tmp_path / "ordered.pto"
    said = CliRunner().invoke(main, ["sync", SOFTMAX, "-o", str(out)])
    assert said.output == "softmax: 4 pairs and 1 barriers inserted, for all launches\n"
    assert ptosim.prove(ptosim.load(out, sync="written").kernel()).proven
    searched = CliRunner().invoke(main, ["sync", SOFTMAX, "auto", "auto", "auto", "--report"])
    assert "cycles" in searched.output
    assert "repeat: ptosim sync" in searched.output and "rand:70x128 zeros:70x128 70 --report" in searched.output
    assert CliRunner().invoke(main, ["sync", SOFTMAX, "--report"]).exit_code == 2


@pytest.mark.parametrize("path", sorted((EXAMPLES / "simt").glob("*.pto")), ids=lambda path: path.stem)
def test_workitems_reach_what_is_made_up_for_them(path: Path) -> None:
    kernel = ptosim.load(path).kernel()
    found = ptosim.check(kernel, *kernel.example_arguments()).findings
    assert not any(each.kind == "out-of-bounds" for each in found)
    if ".broken" not in path.name:
        assert not found


def test_a_kernel_that_leaves_an_argument_is_told_so_by_the_check(tmp_path: Path) -> None:
    """Before its beginning no array is long enough: nothing is refused."""
    path = tmp_path / "before.pto"
    path.write_text(FAR.replace("100000000", "-4"))
    said = CliRunner().invoke(main, ["check", str(path)])
    assert said.exit_code == 1 and "out-of-bounds" in said.output and "repeat: ptosim check" in said.output


def test_sizes_that_a_kernel_cannot_take_are_not_made_up() -> None:
    """A row of any multiple of 256: with another length a check finds bytes that nothing has written."""
    words = words_of(ptosim.load(next(EXAMPLES.rglob("*dequantise.pto"))).kernel())
    assert int(words[-1]) % 256 == 0


# --- pointers to peers ------------------------------------------------------------------------------------------------

EXPLAINED = Path(ptosim.__file__).parent / "sanitize" / "explain"


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("race", {"race"}),
        ("deadlock", {"deadlock"}),
        *((f"{each}.repaired", set[str]()) for each in ("race", "deadlock")),
    ],
)
def test_pointers_to_peers_are_launched_on_ranks(name: str, kinds: set[str]) -> None:
    """They are told by their names; words that peers notify are zeros, so that a wait for them is one."""
    kind, _, repaired = name.partition(".")
    path = EXPLAINED / f"{kind}.ranks{'.repaired' * bool(repaired)}.pto"
    said = CliRunner().invoke(main, ["check", str(path), "--json"])
    assert {each["kind"] for each in json.loads(said.stdout)["findings"]} == kinds
    last = CliRunner().invoke(main, ["check", str(path)]).output.strip().split("\n")[-1]
    again = CliRunner().invoke(main, shlex.split(last.removeprefix("repeat: ptosim ")))
    assert last.endswith("--ranks 2") and "peer:" in last and again.exit_code == said.exit_code


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("x", "peer_x"), {1: "peer:0:+1"}),
        (("x", "y", "prev_y", "next_y"), {2: "peer:1:-1", 3: "peer:1:+1"}),
        (("remoteFlag", "flag"), {0: "peer:1:+1"}),
        (("mine", "theirs", "out"), {1: "peer:0:+1"}),
        (("x", "x0", "x1", "x2", "y"), {1: "peer:0:0", 2: "peer:0:1", 3: "peer:0:2"}),
        (("in0", "in1", "out"), {}),
    ],
)
def test_peers_by_the_names_of_pointers(names: tuple[str, ...], words: dict[int, str]) -> None:
    parameters = ", ".join(f"%{name}: !pto.ptr<f32>" for name in names)
    view, part = "!pto.tensor_view<1x64xf32>", "!pto.partition_tensor_view<1x64xf32>"
    text = f"""func.func @k({parameters}) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %line = pto.alloc_tile : !pto.tile_buf<vec, 1x64xf32>
  %v = pto.make_tensor_view %{names[0]}, shape = [%c1, %c64], strides = [%c64, %c1] : {view}
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c1, %c64] : {view}
  pto.comm.tget(%p, %p, buf(%line) : {part}, {part}, !pto.tile_buf<vec, 1x64xf32>)
  return
}}
"""
    assert dict(KernelParameters(ptosim.load(text).kernel()).peers) == words
