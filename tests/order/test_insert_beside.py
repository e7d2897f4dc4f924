"""Insertion beside flags that do not balance: which token a wait takes cannot be told, so they are not built upon."""

import pytest

import ptosim
from order.micro_machine import outcome
from order.test_micro_programs import ALL, BACK, END, KERNEL, LOAD, LOOP, PAIR, STORE, TO, flag

CONDITION = "%more = arith.cmpi sgt, %n, %c2 : index"
IF = "scf.if %more {"


@pytest.mark.parametrize(
    "body",
    [
        [flag("set", BACK), LOOP, flag("wait", BACK), LOAD, flag("set", TO), *PAIR, STORE, flag("set", BACK), END,
         flag("wait", BACK)],
        [LOOP, flag("set", TO), LOAD, *PAIR, STORE, flag("set", BACK), flag("wait", BACK), END],
        [flag("set", TO), flag("set", TO), LOOP, LOAD, *PAIR, STORE, flag("set", BACK), flag("wait", BACK), END],
        [CONDITION, IF, flag("set", TO), END, LOAD, *PAIR, STORE, IF, flag("wait", TO), END],
    ],
    ids=["doubled set", "set too many", "two tokens ahead", "by a condition"],
)  # fmt: skip
def test_no_race_is_left(body: list[str]):
    """The wait takes an older token than the one of its pair."""
    text = KERNEL.format(body="\n".join([*body, ALL]))
    assert any(outcome(text, (n,)).races for n in range(6))
    ordered = ptosim.load(text, sync="insert").lowered().outline.source.text
    assert not any(outcome(ordered, (n,)).races or outcome(ordered, (n,)).stuck for n in range(6))


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ([LOAD, flag("wait", TO), STORE], "unmatched-wait"),
        ([CONDITION, IF, flag("set", TO), END, LOAD, flag("wait", TO), STORE], "unmatched-wait"),
        (['pto.get_buf "PIPE_MTE2", %l1, %l0 : i64, i64', LOAD], "buffer-misuse"),
    ],
)
def test_what_insertion_cannot_mend_is_refused(body: list[str], kind: str):
    with pytest.raises(ptosim.PTOError) as refused:
        ptosim.load(KERNEL.format(body="\n".join(body)), sync="insert")
    assert [found.kind for found in refused.value.diagnostics] == [kind]


def test_flags_of_one_condition_are_not_refused():
    body = [CONDITION, IF, LOAD, flag("set", TO), END, IF, flag("wait", TO), STORE, END]
    ordered = ptosim.load(KERNEL.format(body="\n".join(body)), sync="insert").lowered().outline.source.text
    assert not any(outcome(ordered, (n,)).kinds for n in range(6))
