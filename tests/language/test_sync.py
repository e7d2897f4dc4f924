"""Synchronisation: every spelling, what is rejected and where the diagnostic points."""

import pytest

from language.scalar_kernel import accepts, example_module, rejects, same, text_of, warns
from language.vector_kernel import printed, read
from ptosim.diagnostics import PTOError
from ptosim.language.catalogue import operations
from ptosim.language.micro import sync, sync_fence, sync_semaphore
from ptosim.language.operation import PTOOperation
from tables import table

ROOM = (sync.__name__, sync_semaphore.__name__, sync_fence.__name__)
OPERATIONS = [operation for operation in operations() if operation.__module__ in ROOM]
PIPES = "PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX"


def module(kind: str, body: str) -> str:
    attribute = f" attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}}"
    return f"module{attribute} {{\n  func.func @kernel() {{\n    {body}\n    return\n  }}\n}}\n"


def only_error(text: str, target: str | None = None) -> tuple[str, str, int, int]:
    with pytest.raises(PTOError) as raised:
        read(text, target)
    (found,) = raised.value.diagnostics
    assert found.location is not None
    return found.kind, found.message, found.location.line, found.location.column


def test_older_names_have_the_roles_of_the_current_ones() -> None:
    by_name = {operation.name: operation for operation in OPERATIONS}
    older = [operation for operation in OPERATIONS if operation.replaced_by is not None]
    assert len(older) == 9
    for operation in older:
        current = by_name[operation.replaced_by or ""]
        assert current.operand_roles == operation.operand_roles
        assert current.property_roles == operation.property_roles


# --- flags ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["set_flag", "wait_flag"])
@table(
    "spelling",
    '["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]',
    "[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]",
    "[#pto.pipe<PIPE_MTE2>, #pto.pipe<PIPE_V>, #pto.event<EVENT_ID0>]",
)
def test_flags_in_every_spelling(name: str, spelling: str) -> None:
    same(f"pto.{name}{spelling}", f'pto.{name}["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]')


@table(
    "event, pipe",
    ("TLOAD", "PIPE_MTE2"),
    ("TSTORE_VEC", "PIPE_MTE3"),
    ("TSTORE_ACC", "PIPE_FIX"),
    ("TMOV_M2L", "PIPE_MTE1"),
    ("TMOV_M2B", "PIPE_MTE1"),
    ("TMOV_M2S", "PIPE_FIX"),
    ("TMOV_M2V", "PIPE_V"),
    ("TMOV_V2M", "PIPE_FIX"),
    ("TMATMUL", "PIPE_M"),
    ("TVEC", "PIPE_V"),
    ("TVECWAIT_EVENT", "PIPE_V"),
)
def test_event_types_stand_for_pipes(event: str, pipe: str) -> None:
    written = f"pto.record_event[#pto.pipe_event_type<{event}>, <PIPE_S>, <EVENT_ID3>]"
    assert f'pto.set_flag["{pipe}", "PIPE_S", "EVENT_ID3"]' in text_of(written)
    assert f"pto.barrier #pto.pipe<{pipe}>" in text_of(f"pto.barrier_sync [<{event}>]")
    assert f'pto.get_buf "{pipe}", 0, 0' in text_of(f"pto.get_buf [<{event}>, 0, 0]")


def test_a_flag_needs_pipes_of_its_core() -> None:
    flag = 'pto.set_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID0"]'
    assert read(module("cube", flag)).warnings == []
    with pytest.raises(PTOError) as raised:
        read(module("vector", flag))
    found = [(diagnostic.kind, diagnostic.message, diagnostic.location) for diagnostic in raised.value.diagnostics]
    assert [(kind, message) for kind, message, _ in found] == [
        ("wrong-pipe", "the aiv core has no pipe MTE1; it has S, MTE2, V, MTE3"),
        ("wrong-pipe", "the aiv core has no pipe M; it has S, MTE2, V, MTE3"),
    ]
    assert [(place.line, place.column) for _, _, place in found if place] == [(3, 18), (3, 31)]


def test_a_flag_between_kinds_of_core_loads() -> None:
    flag = 'pto.set_flag["PIPE_FIX", "PIPE_V", "EVENT_ID0"]'
    assert read(module("vector", flag)).warnings == []
    accepts(flag)


# --- barriers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spelling", ['"PIPE_ALL"', "<PIPE_ALL>", "#pto.pipe<PIPE_ALL>", "#pto.pipe"])
@pytest.mark.parametrize("name", ["barrier", "pipe_barrier"])
def test_barriers_in_every_spelling(name: str, spelling: str) -> None:
    assert "pto.barrier #pto.pipe<PIPE_ALL>" in text_of(f"pto.{name} {spelling}")


def test_a_barrier_needs_a_pipe_of_the_machine_and_of_the_core() -> None:
    message = f"pto.barrier cannot drain PIPE_MTE4; known: {PIPES}, PIPE_ALL"
    rejects("pto.barrier ^<PIPE_MTE4>", message, kind="wrong-pipe")
    found = only_error(module("vector", "pto.barrier <PIPE_FIX>"))
    assert found == ("wrong-pipe", "the aiv core has no pipe FIX; it has S, MTE2, V, MTE3", 3, 17)
    assert read(module("cube", "pto.barrier <PIPE_FIX>")).warnings == []
    assert read(module("vector", "pto.barrier <PIPE_ALL>")).warnings == []


# --- buffer ids -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["get_buf", "rls_buf"])
@table(
    "spelling, canonical",
    ('"PIPE_V", 0, 0', '"PIPE_V", 0, 0'),
    ('"PIPE_V", 3', '"PIPE_V", 3'),
    ('"PIPE_V", %s_i64, %s_i64 : i64, i64', '"PIPE_V", %0, %0 : i64, i64'),
    ('%s_i64, "PIPE_V"', '"PIPE_V", %0 : i64'),
    ('%s_i64, "PIPE_V", %s_i64 : i64, i64', '"PIPE_V", %0, %0 : i64, i64'),
    ('%s_i64, "PIPE_V", 1', '"PIPE_V", %0, 1 : i64'),
    ("[#pto.pipe<PIPE_MTE2>, 4]", '"PIPE_MTE2", 4'),
    ("[<TLOAD>, 4, 1]", '"PIPE_MTE2", 4, 1'),
)
def test_buffer_ids_in_every_spelling(name: str, spelling: str, canonical: str) -> None:
    assert f"pto.{name} {canonical}\n" in text_of(f"pto.{name} {spelling}")


@pytest.mark.parametrize("name", ["get_buf_dyn", "rls_buf_dyn"])
@table(
    "spelling", '"PIPE_MTE2", %s_index, 0', "[TLOAD], %s_index, 0", "[<TLOAD>, %s_index, 0]", "<PIPE_MTE2>, %s_index, 0"
)
def test_computed_buffer_ids(name: str, spelling: str) -> None:
    current = name.removesuffix("_dyn")
    assert f'pto.{current} "PIPE_MTE2", %0, 0 : index\n' in text_of(f"pto.{name} {spelling}")


def test_a_buffer_needs_a_pipe_of_its_core() -> None:
    found = only_error(module("cube", 'pto.rls_buf "PIPE_V", 0'))
    assert found == ("wrong-pipe", "the aic core has no pipe V; it has S, MTE2, MTE1, M, FIX", 3, 17)


# --- fences -----------------------------------------------------------------------------------------------------------

ORDERS = """VV_ALL VST_VLD VLD_VST VST_VST VS_ALL VST_LD VLD_ST VST_ST SV_ALL ST_VLD LD_VST ST_VST SS_ALL ST_LD LD_ST
    ST_ST""".split()


@pytest.mark.parametrize("order", ORDERS)
def test_memory_barriers(order: str) -> None:
    for spelling in (f'"{order}"', f"#pto.membar<{order}>", f"<{order}>"):
        text = f"module {{\nfunc.func @kernel() {{\npto.vecscope {{\npto.mem_bar {spelling}\n}}\nreturn\n}}\n}}"
        loaded = read(text)
        assert loaded.warnings == []
        assert f'pto.mem_bar "{order}"' in printed(loaded)


@pytest.mark.parametrize(
    "operation", [operation for operation in OPERATIONS if operation.name != "pto.mem_bar"], ids=lambda op: op.name
)
def test_nothing_else_belongs_in_a_scope(operation: type[PTOOperation]) -> None:
    text = example_module(operation)
    head, brace, body = text.partition("@kernel")
    signature, _, rest = body.partition("{\n")
    inside = rest.replace("return", "}\nreturn")
    scoped = f"{head}{brace}{signature}{{\npto.vecscope {{\n{inside}"
    with pytest.raises(PTOError) as raised:
        read(scoped, operation.targets[0])
    assert f"{operation.name} must be outside 'pto.vecscope'" in [item.message for item in raised.value.diagnostics]


def test_data_cache_maintenance() -> None:
    same(
        'pto.dcci %p_f32_gm "SINGLE_CACHE_LINE", "CACHELINE_OUT" : !pto.ptr<f32, gm>',
        'pto.dcci %p_f32_gm, "SINGLE_CACHE_LINE", "CACHELINE_OUT" : !pto.ptr<f32, gm>',
    )
    accepts('pto.dcci %p_f32_ub "ENTIRE_DATA_CACHE" : !pto.ptr<f32, ub>')
    accepts("pto.cmo.cacheinvalid all #pto.address_space<gm>")
    accepts("pto.cmo.cacheinvalid %p_f32_gm single_cache_line : !pto.ptr<f32, gm>")


# --- semaphores -------------------------------------------------------------------------------------------------------

INTRA = ("set_intra_block", "wait_intra_block", "set_intra_core", "wait_intra_core")
CROSS_CORE = ("set_cross_core", "wait_flag_dev", "wait_cross_core")
ANYWHERE = ("sync.set", "sync.wait", "set_cross_block", "wait_cross_block")
SEMAPHORES = [*((name, "a5") for name in INTRA), *((name, "a2a3") for name in CROSS_CORE)]
SEMAPHORES += [(name, target) for name in ANYWHERE for target in ("a5", "a2a3")]


@pytest.mark.parametrize(("name", "target"), SEMAPHORES)
def test_semaphores_in_every_spelling(name: str, target: str) -> None:
    older = {"set_intra_core": "set_intra_block", "wait_intra_core": "wait_intra_block"}
    current = {**older, "wait_cross_core": "wait_flag_dev"}.get(name, name)
    for pipe in ("<PIPE_MTE3>", "#pto.pipe<PIPE_MTE3>", '"PIPE_MTE3"'):
        assert f"pto.{current} <PIPE_MTE3>, 3\n" in text_of(f"pto.{name} {pipe}, 3", target)
        assert f"pto.{current} <PIPE_MTE3>, %0\n" in text_of(f"pto.{name} {pipe}, %s_index", target)
        if name not in ANYWHERE:
            assert f"pto.{current} <PIPE_MTE3>, %0\n" in text_of(f"pto.{name} {pipe}, %s_i64 : i64", target)


@pytest.mark.parametrize(("name", "target"), SEMAPHORES)
def test_a_core_number_instead_of_a_pipe_is_noted_where_older_kernels_have_one(name: str, target: str) -> None:
    body = f"pto.{name} ^%s_i64, %s_i64 : i64, i64"
    if name in ANYWHERE:
        rejects(body, f"expected pipe: one of {PIPES}", kind="syntax", target=target)
        return
    message = "the first operand names no pipe and is ignored: the signal concerns all pipes of this core"
    warns(body, message, target=target)
    rejects(f"pto.{name} ^%s_index, 3 : index", "core_id must be i64, not index", target=target)


@pytest.mark.parametrize("name", ["wait_flag_dev", "wait_cross_core"])
def test_a_wait_of_a2a3_may_name_the_id_alone(name: str) -> None:
    accepts(f"pto.{name} %s_i64 : i64", target="a2a3")


@pytest.mark.parametrize(("name", "target"), SEMAPHORES)
def test_semaphore_pipes(name: str, target: str) -> None:
    allowed = ["PIPE_FIX", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_V"]
    allowed += ["PIPE_M"] if name in CROSS_CORE else []
    allowed += ["PIPE_S"] if name in ("sync.wait", "wait_cross_block") else []
    for pipe in allowed:
        accepts(f"pto.{name} <{pipe}>, 0", target=target)
    for pipe in {"PIPE_M", "PIPE_S", "PIPE_ALL", "PIPE_V2"} - set(allowed):
        message = f"pto.{name} takes {', '.join(allowed)}, not {pipe}"
        rejects(f"pto.{name} ^<{pipe}>, 0", message, kind="wrong-pipe", target=target)


@pytest.mark.parametrize("half", ["set", "wait"])
def test_semaphores_of_a_block_are_those_of_the_cluster_on_a2a3(half: str) -> None:
    assert f"pto.sync.{half} <PIPE_MTE3>, 3\n" in text_of(f"pto.{half}_intra_block <PIPE_MTE3>, 3", "a2a3")
    message = "semaphore 16 does not exist: ids are 0 to 15"
    rejects(f"pto.{half}_intra_block <PIPE_V>, ^16", message, kind="id-range", target="a2a3")


def test_a_semaphore_pipe_may_be_absent_on_the_core() -> None:
    assert read(module("vector", "pto.sync.set <PIPE_FIX>, 1")).warnings == []


def test_ffts_modes() -> None:
    for mode in (0, 1, 2):
        accepts(f"pto.sync.set <PIPE_V>, 1 {{ffts_mode = {mode} : i32}}")
    accepts("pto.set_cross_block <PIPE_V>, 1 {ffts_mode = 0 : i32}")
    message = "ffts_mode of pto.sync.wait must be 0, 1, 2, not 3 : i32"
    rejects("pto.sync.wait <PIPE_V>, 1 {ffts_mode = ^3 : i32}", message)


def test_syncall() -> None:
    kind = "core_type = #pto.sync_core_type<mix>"
    accepts(f"pto.syncall() mode = #pto.sync_all_mode<hard>, {kind}")
    accepts(f"pto.syncall(%p_i32_gm) mode = #pto.sync_all_mode<soft>, {kind} : !pto.ptr<i32, gm>")
    accepts(f"pto.syncall(%p_i32_gm : !pto.ptr<i32, gm>) mode = #pto.sync_all_mode<soft>, {kind}")


# --- the generic form -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("event", "pipe"), [("TVEC", "V"), ("TLOAD", None), ("TSTORE_VEC", None)])
def test_a_barrier_of_a_class_whose_pipe_is_serial_is_remarked(event: str, pipe: str | None) -> None:
    """isa/16 section 1.1. On a2a3 operations of V overlap."""
    for target, expected in (("a5", pipe), ("a2a3", None)):
        found = [each.message for each in read(module("vector", f"pto.barrier_sync[<{event}>]"), target).warnings]
        assert found == ([f"{expected} is serial on a5: a barrier of it has no effect"] if expected else [])
