"""Waits for tiles, arrays of event ids, elements of tiles as scalars, and the views that older operations now take."""

import pytest

from language.move_kernel import accepts, module, only
from language.vector_kernel import read
from ptosim.effects.names import Pipe
from ptosim.language.load import text as text_of
from refusals.tile_sync import IDS, SYNCALL
from tables import table

SERIAL = "entries of {} end in order on a5: pto.tsync has no effect"


# --- tsync ------------------------------------------------------------------------------------------------------------


@table(
    "body", "pto.tsync ins(%a, %b : ND<16x64xf32>, PV<16x64xf32>)", "pto.tsync %a, %b : ND<16x64xf32>, PV<16x64xf32>"
)
def test_waits_for_tiles_in_every_spelling(body: str) -> None:
    line = "pto.tsync ins(%a, %b : !pto.tile_buf<vec, 16x64xf32>, !pto.partition_tensor_view<16x64xf32>)"
    assert line in accepts(body)
    op = only(body)
    assert op.pipe("a5") is Pipe.S
    assert (op.reads, op.writes) == (("tiles",), ())


@pytest.mark.parametrize(("word", "pipe"), [("TLOAD", "PIPE_MTE2"), ("EVENT_STORE_FROM_VEC", "PIPE_MTE3")])
def test_the_class_of_an_operation_stands_for_its_pipe(word: str, pipe: str) -> None:
    assert f"pto.tsync<{pipe}>" in accepts(f"pto.tsync<{word}>")


def test_a_barrier_of_a_serial_pipe_has_no_effect() -> None:
    accepts("pto.tsync<TVEC>", warned=(SERIAL.format("PIPE_V"),))
    accepts("pto.tsync<TVEC>", "a2a3")


@table(
    "name, pipe",
    ("EVENT_LOAD_FROM_GM", "PIPE_MTE2"),
    ("EVENT_STORE_FROM_ACC", "PIPE_FIX"),
    ("EVENT_STORE_FROM_VEC", "PIPE_MTE3"),
    ("EVENT_MOVE_MAT_TO_LEFT", "PIPE_MTE1"),
    ("EVENT_MOVE_MAT_TO_BIAS", "PIPE_MTE1"),
    ("EVENT_MOVE_VEC_TO_MAT", "PIPE_FIX"),
    ("EVENT_COMPUTE_MATMUL", "PIPE_M"),
)
def test_event_classes_in_the_words_of_the_manual(name: str, pipe: str) -> None:
    body = f"pto.record_event[#pto.sync_op_type<{name}>, #pto.pipe_event_type<TVEC>, <EVENT_ID0>]"
    assert f'pto.set_flag["{pipe}", "PIPE_V", "EVENT_ID0"]' in text_of(read(module(body), "a5"))


# --- event ids --------------------------------------------------------------------------------------------------------


def test_event_ids_are_kept_in_arrays() -> None:
    body = (
        IDS.format(1)
        + """pto.eventid_array_set %ids[%k], %k : !pto.eventid_array<2>, index
%id = pto.eventid_array_get %ids[%k] : !pto.eventid_array<2>
pto.set_flag_dyn["PIPE_V", "PIPE_MTE3", %id]"""
    )
    accepts(body)


# --- elements as scalars ----------------------------------------------------------------------------------------------

SET = "pto.tsetval ins(%i, %x : {}, {}) outs(%t : {})"


def test_words_of_the_scalar_unit_go_to_tiles_of_words() -> None:
    accepts(SET.format("index", "i32", "ND<16x64xui32>"))


def test_a_scalar_of_another_type_is_only_warned_of() -> None:
    warning = "scalar is i32, but an element of dst is f32"
    accepts(SET.format("index", "i32", "ND<16x64xf32>"), warned=(warning,))


def test_elements_belong_to_the_scalar_unit() -> None:
    op = only(SET.format("index", "f32", "ND<16x64xf32>"))
    assert op.pipe("a5") is Pipe.S
    assert (op.reads, op.writes, op.overwrites) == ((), ("dst",), ())


# --- views where pointers were ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("core_type", ["aiv_only", "aic_only", "mix"])
def test_syncall_in_every_form(core_type: str) -> None:
    assert SYNCALL.format("", "hard", core_type) in accepts(SYNCALL.format("", "hard", core_type))
    soft = SYNCALL.format("%ws, %n : !pto.ptr<i32, gm>, i32", "soft", core_type)
    assert soft in accepts(soft)
    accepts(SYNCALL.format("%ws : PV<1x16xi32>", "soft", core_type))


def test_signals_have_a_base_address() -> None:
    accepts("pto.set_ffts %p : !pto.ptr<i64, gm>")
