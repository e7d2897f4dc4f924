"""Communication: copies, signals, collectives, transfers with events; what is rejected and where."""

import pytest

from language.move_kernel import accepts, module, only, rejects, twins
from language.vector_kernel import example, printed, read
from ptosim.diagnostics import PTOError
from ptosim.effects.names import CoreKind, Pipe
from ptosim.language import comm, comm_async
from ptosim.language.catalogue import operations
from ptosim.language.operation import PTOOperation, cores_of

ROOMS = (comm.__name__, comm_async.__name__)
OPERATIONS = [operation for operation in operations() if operation.__module__ in ROOMS]

PUT = "pto.comm.tput(%dst, %src, buf(%ping) : {}, {}, {})"
TWO = "pto.comm.tget(%dst, %src, buf(%ping, %pong) : PV<32x64xf32>, PV<32x64xf32>, {}, {})"
NOTIFY = "pto.comm.tnotify(%signal, %value : {}, {}) {{notifyOp = #pto<notify_op set>}}"
WAIT = "pto.comm.twait(%signal, %value : {}, {}) {{cmp = #pto<wait_cmp ge>}}"
BROADCAST = "pto.comm.tbroadcast(%src, recv(%ping), group({}) : {}, ND<16x64xf32>, {}) {{root = {} : i32}}"
MEMBER = "PV<16x64xf32>"
GATHER = "pto.comm.t{}(%buffer, recv(%ping), group(%g0, %g1) : {}, {}, {}, {}) {{root = 0 : i32}}"
REDUCE = (
    "pto.comm.treduce(%dst, %acc, recv(%ping), group(%g0, %g1) : {}, {}, ND<16x64xf32>, PV<16x64xf32>, PV<16x64xf32>)"
)
SUM = " {reduceOp = #pto<reduce_op sum>, root = 0 : i32}"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_the_example_loads_and_prints_stably(operation: type[PTOOperation]) -> None:
    loaded = read(module(example(operation)), "a5")
    assert loaded.warnings == []
    once = printed(loaded)
    assert (operation.replaced_by or operation.name) in once
    assert printed(read(once, "a5")) == once


def test_the_rooms_are_complete() -> None:
    names = """comm.tput comm.tget comm.tnotify comm.twait comm.ttest comm.tbroadcast comm.tgather comm.tscatter
        comm.treduce comm.build_async_session comm.tput_async comm.tget_async comm.wait_async_event
        comm.test_async_event build_async_session tput_async tget_async wait_async_event test_async_event
        make_prefetch_async_context tprefetch_async get_prefetch_async_session"""
    assert {operation.name for operation in OPERATIONS} == {f"pto.{name}" for name in names.split()}


# --- copies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        PUT.format(MEMBER, MEMBER, "ND<16x64xf32>"),
        PUT.format(MEMBER, MEMBER, "ND<16x64xf32>") + " {atomicType = #pto<atomic_type atomic_add>}",
        PUT.format("PV<?x64xf32>", "PV<?x64xf32>", "ND<16x64xf32, valid=?x?>"),
        PUT.format("TV<16x64xf32>", "TV<16x64xf32>", "ND<16x64xf32>"),
        PUT.format("PV<2x2x1x32x32xf32>", "PV<2x2x1x32x32xf32>", "ND<16x32xf32>"),
        PUT.format("PV<256xf32>", "PV<256xf32>", "ND<1x256xf32>"),
        PUT.format("PV<7x10xf32>", "PV<7x10xf32>", "ND<5x8xf32, valid=?x?>"),
        TWO.format("ND<16x64xf32>", "ND<16x64xf32>"),
    ],
)
def test_copies(body: str) -> None:
    accepts(body, "a5")
    accepts(body, "a2a3")
    op = only(body)
    assert op.pipes == (Pipe.MTE2, Pipe.MTE3)
    assert op.pipe("a5") is Pipe.MTE3
    assert cores_of(op) == (CoreKind.AIV,)
    assert (op.reads[0], op.writes, op.scratch) == ("src", ("dst",), ("ping", "pong"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            PUT.format(MEMBER, "~PV<16x64x«i|f»32>", "ND<16x64xf32>"),
            "pto.comm.tput expects src to have elements of f32 like dst, not i32",
        ),
        (
            PUT.format(MEMBER, "~PV<16x«?|64»xf32>", "ND<16x64xf32>"),
            "pto.comm.tput expects src to have the static and dynamic extents of dst, 16x64, not 16x?",
        ),
        (
            PUT.format("PV<?x64xf32>", "~«TV|PV»<?x64xf32>", "ND<16x64xf32, valid=?x?>"),
            "pto.comm.tput expects src with dynamic extents to be a partition view, not !pto.tensor_view<?x64xf32>",
        ),
        (
            PUT.format(MEMBER, MEMBER, "~«MAT|ND»<16x64xf32>"),
            "pto.comm.tput expects ping in vec, not mat",
        ),
        (
            PUT.format(MEMBER, MEMBER, "~ND<16x64x«i|f»32>"),
            "pto.comm.tput expects ping to have elements of f32 like dst, not i32",
        ),
        (
            PUT.format("PV<20x64xf32>", "PV<20x64xf32>", "~ND<«16|10»x64xf32>"),
            "ping passes 16 rows at a time, which does not divide the 20 rows of the view",
        ),
        (
            PUT.format("PV<16x96xf32>", "PV<16x96xf32>", "~ND<16x«64|32»xf32>"),
            "ping passes 64 columns at a time, which does not divide the 96 columns of the view",
        ),
        (
            TWO.format("ND<16x64xf32>", "~ND<«8|16»x64xf32>"),
            "pto.comm.tget expects pong to have the type of ping, !pto.tile_buf<vec, 16x64xf32>, "
            "not !pto.tile_buf<vec, 8x64xf32>",
        ),
        (
            "pto.comm.tput(%dst, %src, buf(%ping) : ~PV<16x64x«ui8|i8»>, PV<16x64x«ui8|i8»>, ND<16x64x«ui8|i8»>) "
            "{atomicType = #pto<atomic_type atomic_add>}",
            "pto.comm.tput expects dst of atomic_add to have elements of f32, f16, bf16, i32, i16, i8, not ui8",
        ),
        (
            "pto.comm.«tget|tput»(%dst, %src, buf(%ping) : PV<16x64xf32>, PV<16x64xf32>, ND<16x64xf32>) "
            "{atomicType = ~#pto<atomic_type atomic_add>}",
            "pto.comm.tget has no atomic form: only pto.comm.tput adds to what is there",
        ),
        (
            PUT.format("~«ND|PV»<16x64xf32>", MEMBER, "ND<16x64xf32>"),
            "dst must be a view, not !pto.tile_buf<vec, 16x64xf32>",
        ),
    ],
)
def test_what_a_copy_may_not_be(text: str, message: str) -> None:
    twins(text, message)


def test_a_static_extent_of_zero_is_refused() -> None:
    with pytest.raises(PTOError) as raised:
        read(module(PUT.format("PV<0x64xf32>", "PV<0x64xf32>", "ND<16x64xf32>")), "a5")
    expected = [f"pto.comm.tput expects {role} to have positive extents, not 0x64" for role in ("dst", "src")]
    assert [found.message for found in raised.value.diagnostics] == expected
    accepts(PUT.format("PV<?x64xf32>", "PV<?x64xf32>", "ND<16x64xf32, valid=?x?>"))


# --- signals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spelling", ["#pto<notify_op atomic_add>", "#pto.notify_op<atomic_add>"])
def test_signals_in_both_spellings(spelling: str) -> None:
    body = f"pto.comm.tnotify(%signal, %value : PV<1xi32>, i32) {{notifyOp = {spelling}}}"
    assert "{notifyOp = #pto<notify_op atomic_add>}" in accepts(body)
    op = only(body)
    assert op.pipe("a5") is Pipe.S
    assert cores_of(op) == (CoreKind.AIC, CoreKind.AIV)


@pytest.mark.parametrize("comparison", ["eq", "ne", "gt", "ge", "lt", "le"])
def test_waits(comparison: str) -> None:
    accepts(WAIT.format("PV<4x8xi32>", "i32").replace("ge", comparison))
    accepts(f"%ok = pto.comm.ttest(%signal, %value : PV<2x1xi32>, i32) {{cmp = #pto<wait_cmp {comparison}>}} -> i1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (NOTIFY.format("~PV<1xi«64|32»>", "i32"), "pto.comm.tnotify expects signal to hold i32, not i64"),
        (NOTIFY.format("~PV<«2|1»xi32>", "i32"), "pto.comm.tnotify expects signal to be one word, not 2 words"),
        (WAIT.format("~PV<«?|1»xi32>", "i32"), "pto.comm.twait expects signal to have static positive extents, not ?"),
        (WAIT.format("PV<1xi32>", "i«64|32»").replace("%value", "~%value"), "value must be i32, not i64"),
        (
            "%ok = pto.comm.ttest(%signal, %value : PV<1xi32>, i32) {cmp = #pto<wait_cmp ge>} -> ~i«32|1»",
            "pto.comm.ttest gives i1, not i32",
        ),
        (WAIT.format("~«ND<1x8xi32>|PV<1xi32>»", "i32"), "signal must be a view, not !pto.tile_buf<vec, 1x8xi32>"),
    ],
)
def test_what_a_signal_may_not_be(text: str, message: str) -> None:
    twins(text, message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("~pto.comm.tnotify(%s, %v : PV<1xi32>, i32)", "pto.comm.tnotify needs the attribute 'notifyOp'"),
        ("~pto.comm.twait(%s, %v : PV<1xi32>, i32)", "pto.comm.twait needs the attribute 'cmp'"),
        (
            "pto.comm.twait(%s, %v : PV<1xi32>, i32) {cmp = ~#pto<wait_cmp above>}",
            "unknown cmp 'above'; known: eq, ne, lt, le, gt, ge",
        ),
        (
            "pto.comm.twait(%s, %v : PV<1xi32>, i32) {cmp = ~#pto<cmp eq>}",
            "cmp must be #pto<wait_cmp ...>, not of kind cmp",
        ),
        ("pto.comm.twait(%s, %v~) {cmp = #pto<wait_cmp eq>}", "expected ':' and the types of the operands"),
        ("pto.comm.twait(~%s : PV<1xi32>) {cmp = #pto<wait_cmp eq>}", "pto.comm.twait has signal, value here; 1 given"),
        (
            "pto.comm.twait(%s, %v : ~PV<1xi32>) {cmp = #pto<wait_cmp eq>}",
            "pto.comm.twait has 2 operands here, but 1 types",
        ),
    ],
)
def test_how_a_signal_is_written(text: str, message: str) -> None:
    rejects(text, message, sort="syntax")


def test_an_operand_has_the_type_that_is_written() -> None:
    text = "module {\nfunc.func @kernel(%s: PV<1xi32>, %v: i32) {\npto.comm.twait(%s, %v : PV<1xi32>, ~«i64|i32»)"
    text += " {cmp = #pto<wait_cmp eq>}\nreturn\n}\n}\n"
    twins(text, "value has type i32, but the type list says i64")


# --- collectives ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            BROADCAST.format("%g0, %g1", MEMBER, f"{MEMBER}, {MEMBER}", "~«2|1»"),
            "root is 2; the group has members 0..1",
        ),
        (
            BROADCAST.format("%g0, %g1", MEMBER, f"{MEMBER}, ~PV<16x«32|64»xf32>", 0),
            "pto.comm.tbroadcast expects group[1] to have the type of the other members, "
            "!pto.partition_tensor_view<16x64xf32>, not !pto.partition_tensor_view<16x32xf32>",
        ),
        (
            BROADCAST.format("%g0", "~PV<«32|16»x64xf32>", MEMBER, 0),
            "pto.comm.tbroadcast expects src to have the type of the members, "
            "!pto.partition_tensor_view<16x64xf32>, not !pto.partition_tensor_view<32x64xf32>",
        ),
        (
            GATHER.format("gather", "~PV<«16|32»x64xf32>", "ND<16x64xf32>", MEMBER, MEMBER),
            "dst has 1024 elements, but 2 members of 1024 need 2048",
        ),
        (
            GATHER.format("scatter", "~PV<«16|40»x64xf32>", "ND<16x64xf32>", MEMBER, MEMBER),
            "src has 1024 elements, but 2 members of 1024 need 2048",
        ),
        (
            GATHER.format("gather", "PV<32x64xf32>", "ND<16x64xf32>", "~PV<16x64x«i|f»32>", "PV<16x64x«i|f»32>"),
            "pto.comm.tgather expects group[0] to have elements of f32 like dst, not i32",
        ),
        (
            REDUCE.format(MEMBER, "~ND<«8|16»x64xf32>") + SUM,
            "pto.comm.treduce expects acc to have the type of ping, !pto.tile_buf<vec, 16x64xf32>, "
            "not !pto.tile_buf<vec, 8x64xf32>",
        ),
        (
            REDUCE.format("~PV<«?|16»x64xf32>", "ND<16x64xf32>") + SUM,
            "pto.comm.treduce expects dst to have static positive extents, not ?x64",
        ),
    ],
)
def test_what_a_collective_may_not_be(text: str, message: str) -> None:
    twins(text, message, sort="out-of-bounds" if "elements, but" in message else "invalid")


def test_the_phases_of_a_collective() -> None:
    op = only(REDUCE.format(MEMBER, "ND<16x64xf32>") + SUM)
    assert op.pipes == (Pipe.MTE2, Pipe.V, Pipe.MTE3)
    assert op.pipe("a5") is Pipe.MTE3
    assert (op.reads, op.writes, op.scratch) == (("group",), ("dst",), ("acc", "ping", "pong"))
    op = only(BROADCAST.format("%g0, %g1", MEMBER, f"{MEMBER}, {MEMBER}", 1))
    assert (op.reads[0], op.writes) == ("src", ("group",))
    op = only(GATHER.format("gather", "PV<40x64xf32>", "ND<16x64xf32>", MEMBER, MEMBER))
    assert op.overwrites == ()  # further rows keep their contents


def test_a_group_has_members() -> None:
    text = "~pto.comm.tbroadcast(%src, recv(%ping), group() : PV<16x64xf32>, ND<16x64xf32>) {root = 0 : i32}"
    rejects(text, "the group of pto.comm.tbroadcast has no members")


# --- transfers with events --------------------------------------------------------------------------------------------

SESSION = "%s = pto.comm.build_async_session(%t, %w : {}, {}) {{{}}} -> !pto.async_session"
ASYNC = "%e = pto.comm.tput_async(%dst, %src, %s : {}, {}, {}) -> !pto.async_event"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            SESSION.format("~«MAT|ND»<1x32xi8>", "!pto.ptr<i8, gm>", ""),
            "pto.comm.build_async_session expects control in vec, not mat",
        ),
        (
            SESSION.format("ND<1x32xi8>", "~!pto.ptr<«f32|ui8», gm>", ""),
            "pto.comm.build_async_session expects workspace to be a pointer to 8-bit integers in gm, "
            "not !pto.ptr<f32, gm>",
        ),
        (SESSION.format("ND<1x32xi8>", "!pto.ptr<i8, gm>", "sync_id = ~«8|7» : i32"), "sync_id is 8; it must be 0..7"),
        (
            SESSION.format("ND<1x32xi8>", "!pto.ptr<i8, gm>", "block_bytes = ~«0|1» : i64"),
            "block_bytes is 0; it must be at least 1",
        ),
        (
            SESSION.format("ND<1x32xi8>", "!pto.ptr<i8, gm>", "queue_num = ~«0|1» : i32"),
            "queue_num is 0; it must be at least 1",
        ),
        (
            SESSION.format("ND<1x32xi8>", "!pto.ptr<i8, gm>", "comm_block_offset = ~«-1|0» : i64"),
            "comm_block_offset is -1; it must be at least 0",
        ),
        (
            SESSION.format("ND<1x32xi8>", "!pto.ptr<i8, gm>", "channel_group_idx = ~«4294967296|4294967295» : i64"),
            "channel_group_idx is 4294967296; it must be 0..4294967295",
        ),
        (
            SESSION.format("~!pto.tile_buf<vec, 1x«4|8»xi8>", "!pto.ptr<i8, gm>", ""),
            "pto.comm.build_async_session expects control to have at least 8 bytes, not 4",
        ),
        (
            ASYNC.format("PV<1x256xf32>", "~PV<«2x128|1x256»xf32>", "!pto.async_session"),
            "pto.comm.tput_async expects src to be one line, all extents but the last 1, not 2x128",
        ),
        (
            ASYNC.format("PV<1x256xf32>", "~PV<1x256x«i|f»32>", "!pto.async_session"),
            "pto.comm.tput_async expects src to have elements of f32 like dst, not i32",
        ),
        (
            ASYNC.format("PV<1x256xf32>", "~PV<1x«?|256»xf32>", "!pto.async_session"),
            "pto.comm.tput_async expects src to have static positive extents, not 1x?",
        ),
        (
            ASYNC.format("PV<1x256xf32>", "PV<1x256xf32>", "~«!pto.async_event|!pto.async_session»"),
            "pto.comm.tput_async expects session to be !pto.async_session, not !pto.async_event",
        ),
        (
            "%b = pto.comm.wait_async_event(%e, %s : !pto.async_event, !pto.async_session) -> ~i«32|1»",
            "pto.comm.wait_async_event gives i1, not i32",
        ),
        (
            "%c = pto.make_prefetch_async_context(%p : ~!pto.ptr<i8, «ub|gm»>) -> !pto.prefetch_async_context",
            "pto.make_prefetch_async_context expects workspace to be a pointer to gm, not !pto.ptr<i8, ub>",
        ),
        (
            "%s = pto.get_prefetch_async_session ~%c : !pto.«async_session|prefetch_async_context»"
            " -> !pto.async_session",
            "context must be !pto.prefetch_async_context, not !pto.async_session",
        ),
        (
            "%s = pto.get_prefetch_async_session %c : !pto.prefetch_async_context -> ~!pto.async_«event|session»",
            "pto.get_prefetch_async_session gives !pto.async_session, not !pto.async_event",
        ),
    ],
)
def test_what_a_transfer_may_not_be(text: str, message: str) -> None:
    twins(text, message)
