"""From the text of a vector scope to the tree that is priced: loops, branches, while loops, calls, classes."""

from ptosim.timing.program import ModelBranch, ModelInstruction, ModelLoop, ModelWhile, Node
from ptosim.timing.vector_function import vector_function
from timing.kernels import A5, profile, spans

MASK = '%mask = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>'
LOAD = "%v = pto.vlds %in[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>"
STORE = "pto.vsts %r, %out[%c0], %mask : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>"
REGISTER = "!pto.vreg<64xf32>"


def unary(name: str, operand: str, result: str) -> str:
    return f"{result} = pto.{name} {operand}, %mask : {REGISTER}, !pto.mask<b32> -> {REGISTER}"


def scope_cycles(*lines: str, n: int = 0, before: str = "") -> int:
    body = "\n      ".join(lines)
    ((_, pipe, start, end),) = spans(profile(f"pto.vecscope {{\n      {body}\n    }}", n=n, before=before))
    assert pipe == "V"
    return end - start


def by_hand(*body: Node, path: tuple[int, ...] = ()) -> int:
    return vector_function(body, path, A5).cycles


def op(timing_class: str, *sources: int, to: int | None = None) -> ModelInstruction:
    return ModelInstruction(timing_class, timing_class, 4, sources, () if to is None else (to,))


PSET = ModelInstruction("pset", "mask", 4, masks=(0,))


def scalar(*sources: int, to: int) -> ModelInstruction:
    return ModelInstruction("arith", "scalar", 4, sources, updates=(to,))


def test_a_straight_line():
    cycles = scope_cycles(MASK, LOAD, unary("vexp", "%v", "%e"), unary("vabs", "%e", "%r"), STORE)
    # load to vexp 6, vexp to vabs 13, vabs to the store 3, the store 9
    assert cycles == 23 + 6 + 13 + 3 + 9 + 12


def test_a_call_is_written_out():
    helper = f"""func.func private @twice(%a: {REGISTER}, %mask: !pto.mask<b32>) -> {REGISTER} {{
    %b = pto.vexp %a, %mask : {REGISTER}, !pto.mask<b32> -> {REGISTER}
    return %b : {REGISTER}
  }}"""
    call = f"({REGISTER}, !pto.mask<b32>) -> {REGISTER}"
    lines = [f"%e = func.call @twice(%v, %mask) : {call}", f"%r = func.call @twice(%e, %mask) : {call}"]
    # Two exponentials in a row: each feeds the next after 13 cycles, the second the store after 14.
    assert scope_cycles(MASK, LOAD, *lines, STORE, before=helper) == 23 + 6 + 13 + 14 + 9 + 12


def test_a_loop_that_carries_a_register():
    loop = f"""%r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %v) -> ({REGISTER}) {{
        {unary("vexp", "%a", "%b")}
        scf.yield %b : {REGISTER}
      }}"""
    body = (op("exp", 2, 0, to=3),)
    tree = (PSET, op("load", to=1), ModelLoop(body, (1,), (2,), (3,), (4,)), op("store", 4, 0))
    assert scope_cycles(MASK, LOAD, loop, STORE) == by_hand(*tree, path=(3,))


def test_a_branch_by_a_scalar():
    branch = f"""%zero = arith.constant 0 : i32
      %c = arith.cmpi eq, %n, %zero : i32
      %r = scf.if %c -> ({REGISTER}) {{
        {unary("vexp", "%v", "%b")}
        scf.yield %b : {REGISTER}
      }} else {{
        scf.yield %v : {REGISTER}
      }}"""

    def tree(taken: int) -> int:
        then = (op("exp", 1, 0, to=6),)
        branch = ModelBranch((5,), then, (), (6,), (1,), (7,))
        return by_hand(PSET, op("load", to=1), scalar(to=5), branch, op("store", 7, 0), path=(taken,))

    assert scope_cycles(MASK, LOAD, branch, STORE, n=0) == tree(1)
    assert scope_cycles(MASK, LOAD, branch, STORE, n=1) == tree(0)
    assert tree(0) < tree(1)


def test_a_while_counts_its_turns():
    loop = f"""%one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %left, %r = scf.while (%a = %n, %w = %v) : (i32, {REGISTER}) -> (i32, {REGISTER}) {{
        %go = arith.cmpi sgt, %a, %zero : i32
        scf.condition(%go) %a, %w : i32, {REGISTER}
      }} do {{
      ^bb0(%x0: i32, %x1: {REGISTER}):
        %less = arith.subi %x0, %one : i32
        {unary("vabs", "%x1", "%next")}
        scf.yield %less, %next : i32, {REGISTER}
      }}"""
    before, after = (scalar(10, to=12),), (scalar(13, to=15), op("abs", 14, 0, to=16))
    turning = ModelWhile(before, (12,), after, (9, 1), (10, 11), (10, 11), (13, 14), (15, 16), (17, 18))
    tree = (PSET, op("load", to=1), turning, op("store", 18, 0))
    for turns in (0, 2, 5):
        assert scope_cycles(MASK, LOAD, loop, STORE, n=turns) == by_hand(*tree, path=(turns,))


def test_a_loop_that_is_a_scope():
    loop = """scf.for %i = %c0 to %c3 step %c1 {
      %mask = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %v = pto.vlds %in[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
      pto.vsts %v, %out[%c0], %mask : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
    } {llvm.loop.aivector_scope}"""
    ((name, _, start, end),) = spans(profile(loop))
    assert name == "scf.for"
    # Three iterations begin in three cycles; a load feeds a store after 7, which takes 9.
    assert end - start == 23 + 2 + 7 + 9 + 12


def test_conversions_between_floats_and_integers_are_a_class_of_their_own():
    convert = (
        '%i = pto.vcvt %v, %mask {rnd = "R", sat = "SAT"} : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xsi32>'
    )
    store = "pto.vsts %i, %o[%c0], %mask : !pto.vreg<64xsi32>, !pto.ptr<si32, ub>, !pto.mask<b32>"
    pointer = "%o = pto.castptr %c4096_i64 : i64 -> !pto.ptr<si32, ub>"
    # A store of a converted integer waits 6 cycles, of a converted float 5.
    ((_, _, start, end),) = spans(profile(pointer, f"pto.vecscope {{\n{MASK}\n{LOAD}\n{convert}\n{store}\n}}"))
    assert end - start == 23 + 6 + 6 + 9 + 12


def test_which_lanes_of_a_load_count_costs_nothing():
    """The mask comes late here; the load does not wait for it."""
    late = f'%late = pto.vcmp %v, %v, %mask, "eq" : {REGISTER}, {REGISTER}, !pto.mask<b32> -> !pto.mask<b32>'
    first = LOAD.replace("%v", "%v")
    plain = LOAD.replace("%v =", "%w =")
    logical = plain.replace("[%c0] :", "[%c0] for %late :")
    rest = (unary("vabs", "%w", "%r"), STORE)
    assert scope_cycles(MASK, first, late, logical, *rest) == scope_cycles(MASK, first, late, plain, *rest)
