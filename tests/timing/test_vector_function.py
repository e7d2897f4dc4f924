"""The rules of the A5 vector-function model, each by an example small enough to schedule by hand."""

import pytest

from ptosim.target import load_target
from ptosim.timing.function_time import VectorFunctionTiming
from ptosim.timing.program import ModelBranch, ModelInstruction, ModelLoop, ModelWhile, Node, Path
from ptosim.timing.vector_function import vector_function
from tables import table

A5 = load_target("a5")
STARTUP, DRAIN = 23, 12


def op(timing_class: str, *sources: int, to: int | None = None, width: int = 4, line: int = 1) -> ModelInstruction:
    results = () if to is None else (to,)
    return ModelInstruction(timing_class, timing_class, width, sources, results, line=line)


def mask(timing_class: str, *sources: int, to: int) -> ModelInstruction:
    return ModelInstruction(timing_class, timing_class, 4, sources, masks=(to,))


def scalar(*sources: int, to: int) -> ModelInstruction:
    return ModelInstruction("arith.addi", "scalar", 8, sources, updates=(to,))


def timing(*body: Node, path: Path = (), **figures: object) -> VectorFunctionTiming:
    target = A5.with_overrides({name.replace("__", "."): value for name, value in figures.items()})
    return vector_function(body, path, target)


def body_cycles(*body: Node, path: Path = (), **figures: object) -> int:
    """The cycles between start-up and drain."""
    return timing(*body, path=path, **figures).cycles - STARTUP - DRAIN


def copies(count: int, timing_class: str, width: int = 4) -> list[ModelInstruction]:
    """Independent instructions on values from outside the vector function."""
    return [op(timing_class, -1, to=i, width=width) for i in range(count)]


def test_an_empty_vector_function():
    assert timing().cycles == STARTUP + DRAIN
    assert timing().limit == "launch"


def test_a_chain_of_forwarding_distances():
    chain = (op("load", to=1), op("add", 1, to=2), op("multiply", 2, to=3), op("exp", 3, to=4), op("store", 4))
    assert body_cycles(*chain) == 6 + 3 + 5 + 14 + 9


def test_narrow_elements_take_the_other_column():
    chain = (op("load", to=1, width=2), op("exp", 1, to=2, width=2), op("store", 2, width=2))
    assert body_cycles(*chain) == 6 + 19 + 9


@table(
    "body, cycles",
    ((op("load", to=1), op("broadcast_lane", 1, to=2), op("add", 2, to=3)), 2 + 8 + 7),
    ((mask("compare", -1, to=1), op("select", -1, 1, to=2)), 2 + 6),
    ((mask("compare", -1, to=1), op("add", -1, 1, to=2)), 4 + 7),
    ((op("logic", -1, to=1), op("select", 1, to=2)), 4 + 6),
    ((op("add", -1, to=1), op("abs", 1, to=2)), 4 + 5),
    ((mask("mask", to=1), op("add", -1, 1, to=2)), 2 + 7),
)
def test_forwarding_by_consumer(body: tuple[ModelInstruction, ...], cycles: int):
    assert body_cycles(*body) == cycles


def test_the_later_operand_counts():
    assert body_cycles(op("exp", -1, to=1), op("add", -1, to=2), op("add", 1, 2, to=3)) == 13 + 7


def test_two_execute_ports_and_five_issues():
    # 5 issued in cycle 0 and 3 in cycle 1, started two at a time: the last in cycle 3
    assert body_cycles(*copies(8, "add")) == 3 + 7
    # 20 are issued in 4 cycles; ports would need 10
    assert body_cycles(*copies(20, "add")) == 9 + 7


def test_reductions_share_one_port():
    assert body_cycles(*copies(8, "reduce_add")) == 7 + 22
    assert timing(*copies(40, "reduce_add")).limit == "reduction port"


@pytest.mark.parametrize("width, last, latency", [(4, 8, 16), (2, 16, 21)])
def test_the_special_function_interval(width: int, last: int, latency: int):
    # two ports, six instructions: the third on each port starts after two intervals
    assert body_cycles(*copies(6, "exp", width)) == last + latency


def test_results_of_alu_instructions_leave_a_port_in_order():
    pairs = [op("multiply", -1, to=1), op("multiply", -1, to=2), op("add", -1, to=3), op("add", -1, to=4)]
    assert body_cycles(*pairs) == 2 + 7  # a cycle later than the ports alone would allow: 8 - 7 + 1
    assert body_cycles(*pairs, vector__retire_in_order=False) == max(8, 1 + 7)


def test_load_and_store_slots():
    assert body_cycles(*copies(5, "load")) == 2 + 9  # two a cycle
    assert body_cycles(*(op("store", -1) for _ in range(5))) == 4 + 9  # one a cycle
    assert body_cycles(op("load", to=1), op("store", -1)) == 0 + 9  # side by side
    assert body_cycles(op("load", to=1), op("load", to=2), op("store", -1)) == 1 + 9  # not with two loads
    assert body_cycles(*copies(4, "load_pair")) == 3 + 9


def test_loads_overtake_stores_but_keep_their_own_order():
    # The store waits for the exponential; the load behind it does not. The second load waits for its address.
    assert body_cycles(op("exp", -1, to=1), op("store", 1), op("load", to=2), op("add", 2, to=3)) == 14 + 9
    late = scalar(-1, to=5), op("load", 5, to=6), op("load", to=7), op("add", 7, to=8)
    assert body_cycles(*late) == 1 + 6 + 7


def test_gathers_sustain_a_tenth_per_cycle():
    assert body_cycles(*copies(3, "gather")) == 20 + 28


def test_scalars_take_a_cycle_but_no_slot():
    chain = [scalar(i, to=i + 1) for i in range(10, 14)]
    assert body_cycles(*chain, op("load", 14, to=1)) == 4 + 9
    assert body_cycles(*[scalar(to=i) for i in range(100, 200)], *copies(5, "load")) == body_cycles(*copies(5, "load"))


def test_a_renamed_register_is_the_same_register():
    assert body_cycles(op("add", -1, to=1), op("rename", 1, to=2), op("add", 2, to=3)) == 3 + 7


def test_a_fence_waits_for_earlier_accesses():
    assert body_cycles(op("store", -1), op("fence"), op("load", to=1)) == 9 + 9
    result = timing(op("store", -1, line=3), op("fence", line=4), op("load", to=1, line=5))
    assert result.causes["fence"] == 9


def test_the_shared_queue_holds_issue_back():
    # A store keeps its place until the exponential is there, in cycle 14, and with few places the load comes later.
    body = op("exp", -1, to=1), op("store", 1), op("store", 1), op("load", to=2), op("add", 2, to=3)
    assert body_cycles(*body) == 15 + 9
    assert body_cycles(*body, vector__shared_queue=2) == 15 + 6 + 7
    assert body_cycles(*body, vector__shared_queue=1) == 16 + 6 + 7


def test_the_execute_queue_holds_issue_back():
    # Both adds wait for the exponential. With room for one, the second is issued after the first has started, at 14.
    body = op("exp", -1, to=1), op("add", 1, to=2), op("add", 1, to=3), op("load", to=4), op("add", 4, to=5)
    assert body_cycles(*body) == 13 + 7
    assert body_cycles(*body, vector__execute_queue=1) == 14 + 6 + 7


def test_registers_hold_issue_back():
    # Four loads, each read by a store. Loads start at 0, 0, 1, 1 and stores, one a cycle, at 7, 8, 9, 10.
    body = [node for i in range(4) for node in (op("load", to=i), op("store", i))]
    assert body_cycles(*body) == 10 + 9
    # With two registers they are free four cycles after the stores at 7 and 8: loads at 11, 12, stores at 18, 19.
    few = timing(*body, vector__registers=2)
    assert few.cycles == STARTUP + 19 + 9 + DRAIN
    assert few.causes["registers"] == 4


def test_more_live_values_than_registers_still_end():
    body = [*copies(10, "load"), *(op("store", i) for i in range(10))]
    assert body_cycles(*body, vector__registers=4) > 0


@pytest.mark.parametrize("trips", [1, 10, 1000, 10**6, 10**9])
def test_an_accumulator_goes_round_once_in_three_cycles(trips: int):
    add = op("add", 1, 2, to=3)
    loop = ModelLoop((op("load", to=2), add), initial=(-1,), arguments=(1,), yielded=(3,), results=(4,))
    assert body_cycles(loop, op("store", 4), path=(trips,)) == 6 + 3 * (trips - 1) + 5 + 9


def test_values_that_change_places_each_time_round():
    body = (op("add", 1, to=3), op("multiply", 2, to=4))
    loop = ModelLoop(body, initial=(-1, -2), arguments=(1, 2), yielded=(4, 3), results=(5, 6))
    # add, multiply, add ... in turn: 3 + 4 cycles for two iterations, in two independent chains
    assert body_cycles(loop, path=(21,)) == 10 * 7 + 8


def test_a_value_that_a_loop_hands_on_unchanged():
    loop = ModelLoop((op("add", -1, to=3),), initial=(1,), arguments=(2,), yielded=(2,), results=(4,))
    assert body_cycles(op("exp", -1, to=1), loop, op("store", 4), path=(3,)) == 14 + 9


def test_entering_a_loop_costs_five_cycles_unless_start_up_hides_it():
    loop = ModelLoop((op("load", to=1),))
    assert body_cycles(loop, path=(3,)) == 2 + 9
    assert body_cycles(op("load", to=2), loop, path=(3,)) == 1 + 5 + 2 + 9
    assert body_cycles(loop, loop, path=(3, 3)) == 2 + 1 + 5 + 2 + 9
    assert body_cycles(ModelLoop((loop,)), path=(2, 3, 3)) == 2 + 1 + 5 + 2 + 9


def test_an_iteration_takes_a_cycle_and_its_instructions_their_slots():
    assert body_cycles(ModelLoop(tuple(copies(1, "add"))), path=(10,)) == 9 + 7
    assert body_cycles(ModelLoop(tuple(copies(4, "add"))), path=(10,)) == 19 + 7  # ports: two cycles each
    assert body_cycles(ModelLoop(tuple(copies(6, "rename"))), path=(10,)) == 0


def test_a_loop_that_does_not_run():
    assert body_cycles(ModelLoop((op("exp", -1, to=1),)), op("add", -1, to=2), path=(0,)) == 7


def test_a_branch_waits_for_its_condition():
    branch = ModelBranch((1,), (op("exp", -1, to=2),), (op("add", -1, to=3),), (2,), (3,), (4,))
    condition = scalar(to=1)
    assert body_cycles(op("load", to=9), condition, branch, op("store", 4), path=(1,)) == 1 + 1 + 14 + 9
    assert body_cycles(op("load", to=9), condition, branch, op("store", 4), path=(0,)) == 1 + 1 + 5 + 9


def test_a_while_decides_before_each_turn():
    loop = ModelWhile((scalar(1, to=2),), (2,), (op("add", -1, to=3),), (-1,), (1,), (1,), (4,), (4,), (5,))
    one, three = (body_cycles(loop, path=(turns,)) for turns in (1, 3))
    assert three > one
    many, more = (body_cycles(loop, path=(turns,)) for turns in (10**5, 10**5 + 7))
    assert (more - many) * 2 == 7 * (three - one)


def test_the_worked_example_of_the_documentation():
    """Four registers through vlds, vexp, vsts, pointers post-updated: docs/explanation/timing.md has the schedule."""
    load = ModelInstruction("vlds", "load", 4, (10,), (1,), updates=(11,), line=2)
    exp = ModelInstruction("vexp", "exp", 4, (1,), (2,), line=3)
    store = ModelInstruction("vsts", "store", 4, (2, 20), updates=(21,), line=4)
    loop = ModelLoop((load, exp, store), (-1, -2), (10, 20), (11, 21), (30, 40), line=1)
    result = timing(loop, path=(4,))
    # loads 0 2 3 4, exponentials 6 8 10 12, stores 20 22 24 26
    assert result.cycles == 23 + (26 + 9) + 12
    assert result.busy == {"issue": 4, "EXU0": 8, "EXU1": 8, "SFU": 8, "load": 4, "store": 4}
    # back from the end: store 9, exponential 14, its port since cycle 8: 4, load 6, and issue in cycle 2
    assert result.causes == {"launch": 35, "dependency": 9 + 14 + 6, "SFU": 4, "loop": 2}
    assert result.lines == {1: 2, 2: 6, 3: 4 + 14, 4: 9}
    named = {figure for figure in result.figures if not figure.startswith("vector.")}
    classes = {f"class.{n}.{f}" for n in ("load", "exp", "store") for f in ("latency", "interval", "port", "consumer")}
    assert named == classes | {"forward.load.special", "forward.exp.store", "forward.scalar.alu"}
    assert {"vector.startup", "vector.iteration", "vector.post_update"} <= result.figures
    # start-up hides the only loop entry, and there is no branch
    assert result.figures.isdisjoint({"vector.loop_entry", "vector.branch"})


def test_a_result_rests_on_the_figures_that_were_looked_up():
    first = timing(op("load", to=1), op("select", 1, to=2), op("store", 2)).figures
    assert {"forward.load.alu", "forward.select.store"} <= first and "forward.select.select" not in first
    chained = timing(op("select", -1, to=1), op("select", 1, to=2)).figures
    assert "forward.select.select" in chained and "forward.select.alu" not in chained
    assert "vector.loop_entry" in timing(op("load", to=1), ModelLoop((op("load", to=2),)), path=(1,)).figures
    assert "vector.branch" in timing(op("load", to=1), ModelBranch((), (op("load", to=2),)), path=(1,)).figures


def test_a_faster_exponential():
    loop = ModelLoop((op("load", to=1), op("exp", 1, to=2), op("store", 2)))
    assert timing(loop, path=(1,), exp__latency=8).cycles == timing(loop, path=(1,)).cycles - 8
    assert timing(loop, path=(1000,)).limit == "SFU"
    assert timing(loop, path=(1000,), exp__interval=1).limit != "SFU"


@pytest.mark.parametrize("path", [(), (2, 1), (2, 1, 1, 1)])
def test_a_path_that_does_not_fit(path: Path):
    with pytest.raises(ValueError, match="the path"):
        vector_function((ModelLoop((ModelLoop(()),)),), path, A5)


def test_deep_nesting():
    node: Node = op("add", -1, to=1)
    for _ in range(190):
        node = ModelLoop((node,))
    assert body_cycles(node, path=(1,) * 190) == 7
