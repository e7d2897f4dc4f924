"""FIFOs that are used wrongly: a push, a pop or a free too few, too few slots, two ends that disagree."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ptosim
from fifo_programs import ACC, COLS, NZ, ROWS, inputs, kinds, mat, vec
from ptosim.diagnostics import PTOError
from tables import table
from tiles.test_fifo import Fifo, there_and_back, to_vector
from tiles.test_fifo_kernels import compiled

COUNT = 3
ENTRIES = r"^.*pto\.(?:tpush_to|tpop_from|tfree_from)_a.*$"


def arguments() -> list[object]:
    a, b, product = inputs(COUNT)
    return [a, b, np.zeros_like(product), COUNT]


STRAIGHT = to_vector(Fifo(2, unrolled=True), COUNT)


def test_the_kernel_itself_is_right() -> None:
    assert _is_accepted(STRAIGHT)


@pytest.mark.parametrize("number", range(len(re.findall(ENTRIES, STRAIGHT, re.MULTILINE))))
def test_every_entry_operation_is_missed(number: int) -> None:
    """Of three pushes, pops and frees; a pop goes with what uses its tile."""
    line = re.findall(ENTRIES, STRAIGHT, re.MULTILINE)[number]
    lines = STRAIGHT.splitlines()
    lines.remove(line) if "tfree" not in line else lines.pop(_nth(lines, "tfree", number))
    if (popped := re.match(r"(%t_\d)", line)) is not None:
        lines = [each for each in lines if popped[1] not in each]
    assert not _is_accepted("\n".join(lines))


def _is_accepted(text: str) -> bool:
    """Without a word: an entry that nobody waits for, or that is not freed, is a warning."""
    try:
        kernel = ptosim.load(text).kernel()
    except PTOError:
        return False
    return not ptosim.check(kernel, *arguments()).findings


def _nth(lines: list[str], word: str, number: int) -> int:
    """The line of the entry operation of that number, which is one with the word."""
    entries = [index for index, line in enumerate(lines) if re.match(ENTRIES, line)]
    assert word in lines[entries[number]]
    return entries[number]


def test_a_push_without_a_pop_is_left_over() -> None:
    text = STRAIGHT.replace("%t_2 = pto.tpop_from_aic", "%gone = pto.tpop_from_aic")
    cut = re.sub(r"%gone.*?pto\.tfree_from_aic \{split = 0\}", "", text, flags=re.DOTALL)
    assert "undrained" in kinds(cut, *arguments())


def test_a_pop_without_a_push_waits_for_ever() -> None:
    last = STRAIGHT.rindex("pto.tpush_to_aiv")
    text = STRAIGHT[:last] + STRAIGHT[STRAIGHT.index("\n", last) :]
    assert kinds(text, *arguments()) & {"unmatched-wait", "deadlock"}


def test_a_slot_that_is_read_after_it_was_given_back() -> None:
    """By another tile at its address, which no rule sees."""
    text = compiled(0).replace("slot_num = 4", "slot_num = 1")
    a, b, product = inputs(3)
    assert not kinds(text, a, b, np.zeros_like(product)) - {"lint"}
    tile = re.search(r"%d = pto.alloc_tile .* : (.*)", text)
    assert tile is not None
    adds, free = f"pto.tadd ins(%t, %t : {tile[1]}, {tile[1]}) outs(%d : {tile[1]})", "pto.tfree_from_aic {split = 0}"
    alias = f"%u = pto.alloc_tile addr = %a0 valid_row = %c32 valid_col = %c64 : {tile[1]}"
    late = text.replace(f"{adds}\n  {free}", f"{free}\n  {alias}\n  {adds.replace('%t', '%u')}")
    assert late != text
    assert "race" in kinds(late, a, b, np.zeros_like(product))


@table(
    "target, slots, expected",
    ("a2a3", 1, {"deadlock"}),
    ("a2a3", 2, set[str]()),
    ("a5", 1, set[str]()),
    ("a5", 2, set[str]()),
)
def test_too_few_slots_for_what_is_pushed_before_the_first_pop(target: str, slots: int, expected: set[str]) -> None:
    """One slot each way holds three entries: one in each FIFO, and one that the vector core has taken. On a5 a push
    holds only its own pipe, and the pops behind it make room."""
    fifo = Fifo(slots, 1, target, through_gm=True, mask=3)
    a, b, product = inputs(4)
    c = np.zeros((64, 64), np.float16)
    text = there_and_back(fifo, 4, at_once=True)
    assert kinds(text, a, b, np.zeros_like(product), 4, c, *fifo.arguments()) == expected


@pytest.mark.parametrize(("split", "rows", "cols"), [(1, 31, 64), (2, 32, 48)])
def test_halves_that_only_the_run_knows(split: int, rows: int, cols: int) -> None:
    """The fixpipe shares an even number of rows, or a multiple of 32 columns."""
    left, right = mat(32, 16, loc="left"), mat(16, 64, loc="right")
    opened = {type_: type_.replace(", blayout", ", valid=?x?, blayout", 1) for type_ in (ACC, left, right)}
    text = to_vector(Fifo(2, split), COUNT)
    for type_, valid in ((ACC, "%rows, %cols"), (left, "%rows, %c16"), (right, "%c16, %cols")):
        row, col = valid.split(", ")
        made = f"= pto.alloc_tile valid_row = {row} valid_col = {col} : {opened[type_]}"
        text = text.replace(f"= pto.alloc_tile : {type_}", made).replace(type_, opened[type_])
    text = text.replace("%n: index)", "%n: index, %rows: index, %cols: index)")
    kernel = ptosim.load(text).kernel()
    assert not ptosim.check(kernel, *arguments(), 32, 64).findings
    assert "invalid" in {finding.kind for finding in ptosim.check(kernel, *arguments(), rows, cols).findings}
    with pytest.raises(PTOError, match="an entry that is shared"):
        kernel(*arguments(), rows, cols)


def test_two_fifos_with_one_semaphore() -> None:
    text = to_vector(Fifo(2), COUNT)
    words = "{{dir_mask = 1, slot_size = 8192, slot_num = 2, flag_base = {}}} (%c2v : i32) -> !pto.pipe"
    for number, flag in enumerate((4, 5)):
        line = f"%p{number} = pto.initialize_l2l_pipe {words.format(flag)}\n"
        text = text.replace("pto.aic_initialize_pipe", f"{line}pto.aic_initialize_pipe")
    with pytest.raises(PTOError) as raised:
        ptosim.load(text).kernel()(*arguments())
    assert "another FIFO of this kernel has some of these semaphores" in raised.value.diagnostics[0].message


def test_more_fifos_than_semaphores() -> None:
    """Each end has eight at most, but two functions of the cube have nine together."""
    extra = "pto.aic_initialize_pipe {{id = {}, dir_mask = 1, slot_size = 8192}} (c2v_consumer_buf = %c2v : i32)\n"
    text = to_vector(Fifo(2), COUNT)
    for number in range(1, 8):
        text = text.replace(
            "pto.aic_initialize_pipe {dir_mask", extra.format(number) + "pto.aic_initialize_pipe {dir_mask"
        )
    ninth = extra.format(8).replace("aic_", "aiv_")
    text = text.replace("pto.aiv_initialize_pipe {dir_mask", ninth + "pto.aiv_initialize_pipe {dir_mask")
    with pytest.raises(PTOError, match="more than the 16 semaphores"):
        ptosim.load(text).kernel()(*arguments())


# --- ends that are named by handles -----------------------------------------------------------------------------------


def handled(initialize: str, split: int = 0, before: str = "") -> str:
    """The form with handles, on both sides the same initialisation; `before` stands before the push."""
    tile = vec(ROWS, COLS)
    text = to_vector(Fifo(2), COUNT).replace("%n: index", "%n: index, %slots_gm: !pto.ptr<f32>")
    text = re.sub(r"pto\.a.._initialize_pipe.*", f"%p = {initialize} -> !pto.pipe", text)
    push = f"{before}pto.tpush(%acc, %p : {ACC}, !pto.pipe) {{split = {split}}}"
    text = text.replace(f"pto.tpush_to_aiv(%acc : {ACC}) {{split = 0}}", push)
    popped = f"%t = pto.declare_tile -> {tile}\npto.tpop(%t, %p : {tile}, !pto.pipe) {{split = 0}}"
    text = text.replace(f"%t = pto.tpop_from_aic {{split = 0}} -> {tile}", popped)
    return text.replace("pto.tfree_from_aic", "pto.tfree(%p : !pto.pipe)")


WORDS = "dir_mask = 1, slot_size = 8192, slot_num = 2"
LOCAL = f"pto.initialize_l2l_pipe {{{WORDS}}} (%c2v : i32)"
ENTRY = f"!pto.tensor_view<{ROWS}x{COLS}xf32>"
ALLOC = f"%v = pto.declare_global -> {ENTRY}\npto.talloc(%v, %p : {ENTRY}, !pto.pipe) {{split = 0}}\n"

WRONG = {
    "slots in GM, and no buffer": (
        handled(f"pto.initialize_l2g2l_pipe {{{WORDS}}} (%slots_gm : !pto.ptr<f32>)"),
        "this FIFO is initialised without a buffer where tiles arrive",
    ),
    "a view of a slot in UB": (
        handled(LOCAL, before=ALLOC),
        "this FIFO is initialised without slots in GM, of which a view could be",
    ),
    "odd halves in UB": (
        handled(LOCAL).replace("{split = 0}", "{split = 3}"),
        "split 3 is for entries that pass through GM to the vector cores",
    ),
    "shared by one end": (
        handled(LOCAL, split=1),
        "entries of this FIFO are shared by the vector cores, and others are not",
    ),
    "slots that are too small": (
        handled(LOCAL.replace("8192", "4096")),
        "an entry of 8192 bytes does not fit in slots of slot_size 4096",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_an_end_of_a_handle_cannot_do_is_refused(name: str) -> None:
    text, message = WRONG[name]
    with pytest.raises(PTOError) as raised:
        ptosim.load(text).kernel()(*arguments(), np.zeros(4096, np.float32))
    assert (raised.value.diagnostics[0].kind, raised.value.diagnostics[0].message) == ("invalid", message)


def test_blocks_of_an_epilogue_do_not_pass_through_gm() -> None:
    epilogue = ", acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nz, quant = no_convert, relu = normal_relu>"
    text = to_vector(Fifo(2, through_gm=True), COUNT).replace("slot_num = 2", f"slot_num = 2{epilogue}")
    tile, blocks = vec(ROWS, COLS), vec(ROWS, COLS, rest=f", {NZ}")
    text = text.replace(f"split = 0}} -> {tile}", f"split = 0}} -> {blocks}")
    text = text.replace(f"pto.tadds ins(%t, %one : {tile}, f32)", f"pto.tmov ins(%t : {blocks})")
    with pytest.raises(PTOError, match="entries of blocks do not pass through GM"):
        ptosim.load(text).kernel()(*arguments(), np.zeros(8192, np.float32))
