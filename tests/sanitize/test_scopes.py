"""Accesses of one vector scope that alias: which fences order them, which registers do, and how severe the rest is."""

import pytest

from sanitize.kernels import ALL, MASK, check, kinds, load, order, scope, store, unary, vlds, vsts

READY = load() + order("MTE2", "V")
FINISH = order("V", "MTE3") + store("%in") + ALL

FENCE = "      // here a fence may stand\n"
STORE_LOAD = vlds() + vsts() + FENCE + vlds("%w", "%out") + vsts("%w", "%in")


def fenced(body: str, *kinds_of_fence: str) -> str:
    return READY + scope(MASK + body.replace(FENCE, "".join(map(mem_bar, kinds_of_fence)))) + FINISH


def mem_bar(kind: str) -> str:
    return f'      pto.mem_bar "{kind}"\n'


def test_a_load_behind_a_store_of_the_same_bytes_needs_a_fence() -> None:
    report = check(fenced(STORE_LOAD))
    # The second store cannot overtake the first load only if the load of %w cannot overtake the first store.
    assert kinds(report) == ["scope-alias!", "scope-alias"]
    alias = report.findings[0]
    assert alias.message.startswith("loads ub[256:512], which the same vector scope stores to before")
    assert alias.hint == 'before line 20 add pto.mem_bar "VST_VLD"'


@pytest.mark.parametrize("kind", ["VST_VLD", "VV_ALL"])
def test_a_fence_that_covers_both_classes_orders_them(kind: str) -> None:
    assert kinds(check(fenced(STORE_LOAD, kind))) == []


@pytest.mark.parametrize("kind", ["VLD_VST", "VST_VST", "VS_ALL", "VST_LD", "SV_ALL", "ST_VLD", "SS_ALL"])
def test_a_fence_of_other_classes_does_not(kind: str) -> None:
    assert "scope-alias!" in kinds(check(fenced(STORE_LOAD, kind)))


def test_the_end_of_a_scope_is_a_fence() -> None:
    assert (
        kinds(
            check(READY + scope(MASK + vlds() + vsts()) + scope(MASK + vlds("%w", "%out") + vsts("%w", "%in")) + FINISH)
        )
        == []
    )


def test_stores_behind_stores_are_warnings() -> None:
    twice = vlds() + vsts() + FENCE + unary("vabs", "%a", "%v") + vsts("%a")
    assert kinds(check(fenced(twice) + ALL)) == ["scope-alias"]
    assert kinds(check(fenced(twice, "VST_VST") + ALL)) == []


def test_a_store_waits_for_the_load_that_it_depends_on() -> None:
    in_place = vlds() + unary("vabs", "%a", "%v") + vsts("%a", "%in")
    assert kinds(check(fenced(in_place))) == []


def test_a_store_does_not_wait_for_another_load() -> None:
    other = vlds() + vlds("%w") + unary("vabs", "%a", "%w") + vsts("%a", "%in") + vsts("%v", "%out")
    report = check(fenced(other))
    assert kinds(report) == ["scope-alias"]
    assert [place.location.line for place in report.findings[0].related] == [18]
    assert kinds(check(fenced(other.replace("      %a =", FENCE + "      %a ="), "VLD_VST"))) == []


def test_dependence_through_loop_carried_values() -> None:
    # The value stored in a round was loaded in the round before.
    body = (
        vlds("%first")
        + "      %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%held = %first) -> (!pto.vreg<64xf32>) {\n"
        + vsts("%held", "%in")
        + mem_bar("VST_VLD")
        + vlds("%next")
        + "      scf.yield %next : !pto.vreg<64xf32>\n      }\n"
    )
    assert kinds(check(fenced(body))) == ["scope-alias"]  # the stores alias each other, and nothing else
    assert kinds(check(fenced(body.replace("VST_VLD", "VV_ALL")))) == []


def test_dependence_through_a_fenced_store_and_load() -> None:
    # The store to %in waits for the load of %out, that for the store to %out, and that for the load of %in.
    assert kinds(check(fenced(STORE_LOAD, "VST_VLD"))) == []
    # Without a dependence the two meet as before.
    free = vlds() + vsts() + FENCE + vlds("%w", "%out") + unary("vabs", "%a", "%w") + vsts("%w", "%out")
    assert kinds(check(fenced(free, "VST_VLD"))) == ["scope-alias"]


def test_severities_by_option() -> None:
    body = fenced(STORE_LOAD)
    assert kinds(check(body, mem_bar="strict")) == ["scope-alias!", "scope-alias!"]
    assert kinds(check(body, mem_bar="off")) == []


PUT = "      %f = arith.constant 1.0 : f32\n      pto.store_scalar %f, %in[%c0] : !pto.ptr<f32, ub>, f32\n"
GET = "      %s = pto.load_scalar %in[%c0] : !pto.ptr<f32, ub> -> f32\n"


def test_scalar_accesses_inside_a_scope_are_in_order_among_themselves() -> None:
    assert kinds(check(READY + scope(MASK + GET + PUT + GET.replace("%s", "%t")) + FINISH)) == []


def test_scalar_and_vector_accesses_are_not() -> None:
    assert kinds(check(READY + scope(MASK + PUT + vlds() + vsts()) + FINISH)) == ["scope-alias!"]
    assert kinds(check(READY + scope(MASK + PUT + mem_bar("ST_VLD") + vlds() + vsts()) + FINISH)) == []
    stored = scope(MASK + vlds() + vsts("%v", "%in") + FENCE + GET)
    assert kinds(check(READY + stored.replace(FENCE, "") + FINISH)) == ["scope-alias!"]
    assert kinds(check(READY + stored.replace(FENCE, mem_bar("VST_LD")) + FINISH)) == []


def test_neighbours_inside_one_granule_are_told_apart() -> None:
    # A 4-byte store, and a broadcast load of the word behind it.
    first = vsts().replace("%mask :", '%mask {dist = "1PT_B32"} :')
    next_ = vlds("%w", "%out", "%c1").replace("%c1]", '%c1] {dist = "BRC_B32"}')
    far = "    %c1024 = arith.constant 1024 : i64\n    %far = pto.castptr %c1024 : i64 -> !pto.ptr<f32, ub>\n"
    clear = far + scope(MASK + vlds("%z") + vsts("%z"))
    assert kinds(check(READY + clear + scope(MASK + vlds() + first + next_ + vsts("%w", "%far")) + FINISH)) == []
    same = next_.replace("%c1", "%c0")
    assert "scope-alias!" in kinds(
        check(READY + clear + scope(MASK + vlds() + first + same + vsts("%w", "%far")) + FINISH)
    )


def test_what_follows_a_full_fence_is_told_apart_from_what_was_before() -> None:
    behind = vlds() + vsts() + mem_bar("VV_ALL") + vlds("%w", "%out") + vsts("%v", "%out") + vsts("%w", "%in")
    assert kinds(check(fenced(behind))) == ["scope-alias"]  # the second store to %out may overtake the load


def test_a_full_fence_of_vector_accesses_does_not_order_scalar_ones() -> None:
    stored = MASK + vlds() + vsts("%v", "%in") + mem_bar("VV_ALL") + GET
    assert kinds(check(READY + scope(stored) + FINISH)) == ["scope-alias!"]


FAR = "    %c1024 = arith.constant 1024 : i64\n    %far = pto.castptr %c1024 : i64 -> !pto.ptr<f32, ub>\n"


def words(between: str = "") -> str:
    """One instruction stores eight words one after the other, a granule; after the second of them something happens."""
    word = vsts("%v", "%far", "%i").replace("%mask :", '%mask {dist = "1PT_B32"} :')
    second = "      %now = arith.cmpi eq, %i, %c1 : index\n      scf.if %now {\n" + between + "      }\n"
    return vlds() + "      scf.for %i = %c0 to %c8 step %c1 {\n" + word + (second if between else "") + "      }\n"


def in_scope(body: str) -> list[str]:
    return kinds(check(READY + FAR + "    %c5 = arith.constant 5 : index\n" + scope(MASK + body) + FINISH))


def test_words_that_one_instruction_stores_do_not_meet() -> None:
    assert in_scope(words()) == []


def test_a_word_that_another_instruction_stores_on_the_way_does() -> None:
    other = vsts("%v", "%far", "%c5").replace("%mask :", '%mask {dist = "1PT_B32"} :')
    assert in_scope(words(other)) == ["scope-alias"]


def test_a_word_that_another_instruction_loads_on_the_way_does() -> None:
    other = vlds("%w", "%far", "%c5").replace("%c5]", '%c5] {dist = "BRC_B32"}') + vsts("%w")
    defined = vlds("%z") + vsts("%z", "%far") + mem_bar("VV_ALL")
    assert in_scope(defined + words(other)) == ["scope-alias"]


def test_words_leave_the_rest_of_their_granules_undefined() -> None:
    eight = '      %eight = pto.pset_b32 "PAT_VL8" : !pto.mask<b32>\n'
    after = words() + mem_bar("VV_ALL") + vlds("%w", "%far") + eight
    assert in_scope(after + vsts("%w", "%in", mask="%eight")) == []
    assert in_scope(after + vsts("%w", "%in")) == ["uninitialized"]
    five = words().replace("to %c8 step", "to %c5 step") + mem_bar("VV_ALL")
    sixth = vlds("%w", "%far", "%c5").replace("%c5]", '%c5] {dist = "BRC_B32"}') + vsts("%w", "%in")
    assert in_scope(five + sixth) == ["uninitialized!"]
    assert in_scope(five + sixth.replace("%c5]", "%c4]")) == []


HIDDEN = {
    "a scalar store": (vsts("%v", "%in") + PUT + mem_bar("ST_VLD") + vlds("%w"), "VV_ALL"),
    "a vector store": (PUT + vsts("%v", "%in") + mem_bar("VST_VLD") + vlds("%w"), "SV_ALL"),
    "two stores": (
        PUT + vsts("%v", "%in") + mem_bar("VST_VST") + vsts("%v", "%in") + mem_bar("VST_VLD") + vlds("%w"),
        "SV_ALL",
    ),
}


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize(("body", "fence"), HIDDEN.values(), ids=HIDDEN.keys())
def test_a_later_store_does_not_hide_an_earlier_one(body: str, fence: str, engine: str) -> None:
    """A store of one kind and the load need a fence of their own, whatever has been stored there since."""
    scopes = MASK + vlds("%v", "%out") + body + vsts("%w", "%out")
    ready = READY + load(dest="%out") + order("MTE2", "V", 1)
    assert "scope-alias!" in kinds(check(ready + scope(scopes) + FINISH, engine=engine))
    fenced_ = scopes.replace(vlds("%w"), mem_bar(fence) + vlds("%w"))
    assert "scope-alias!" not in kinds(check(ready + scope(fenced_) + FINISH, engine=engine))
