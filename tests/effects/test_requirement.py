"""Preconditions: what a requirement judges, and that the same ones are judged by both engines."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from ptosim.effects.catalogue import effects
from ptosim.effects.record import Static
from ptosim.effects.requirement import Requirement, fits, multiple
from ptosim.language.catalogue import operations
from ptosim.native.build.catalogue import lowering_of
from ptosim.reference.catalogue import semantics_of
from ptosim.target.profile import load_target

TARGETS = ("a5", "a2a3")


def broken(requirement: Requirement, **operands: object) -> list[str]:
    return [place for place, _, wrong in requirement.judged(operands) if wrong]


def test_a_value_fits_its_field_or_is_named():
    (field,) = fits("length", 15)
    assert [value for value in range(-2, 18) if broken(field, length=value)] == [-2, -1, 16, 17]
    assert field.message("length").format(16) == "length is 16; it must be 0..15"


def test_each_value_of_a_role_with_several_is_judged():
    (field,) = fits("counts", 7, low=1)
    assert broken(field, counts=(0, 1, 7, 8)) == ["counts[0]", "counts[3]"]


def test_what_is_absent_or_not_known_is_not_judged():
    (field,) = fits("length", 15)
    together = Requirement("stride", "", lambda stride, count: (count > 1) & (stride > 4), ("count",))
    assert broken(field, length=None) == []
    assert broken(field) == []
    assert broken(together, stride=5, count=None) == []
    assert broken(together, stride=5, count=2) == ["stride"]
    assert broken(together, stride=(5, 5), count=(2, 1)) == ["stride[0]"]


def test_a_multiple_of_a_power_of_two():
    whole = multiple("n", 32, "it must be a multiple of 32")
    assert [value for value in (0, 1, 31, 32, 33, 64, -32) if broken(whole, n=value)] == [1, 31, 33]


@pytest.mark.parametrize("target", TARGETS)
def test_conditions_are_the_same_on_ints_and_arrays(target: str):
    values = np.array([-(1 << 33), -1, 0, 1, 2, 31, 32, 33, 255, 256, 4095, 4096, 65535, 65536, 1 << 21, 1 << 41])
    for name, record in effects().items():
        for need in record.requires(Static(target=target)):
            others = [1] * len(need.beside)
            one_by_one = [bool(need.broken(int(value), *others)) for value in values]
            assert one_by_one == np.asarray(need.broken(values, *others), bool).tolist(), f"{name}: {need.role}"


def judged(name: str, parameters: tuple[str, ...], target: str) -> set[str]:
    needs = effects()[name].requires(Static(target=target))
    return {need.role for need in needs if {need.role, *need.beside} <= set(parameters)}


@pytest.mark.parametrize("target", TARGETS)
def test_both_engines_judge_the_same_operands(target: str):
    """An engine judges what its function takes."""
    differing = [
        name
        for name in effects()
        if (meaning := semantics_of(name)) is not None and (lowering := lowering_of(name)) is not None
        if judged(name, meaning.parameters, target) != judged(name, lowering.parameters, target)
    ]
    assert differing == []


def test_requirements_speak_of_operands():
    known = {operation.name: operation for operation in operations()}
    loops = {"loop_counts", "loop_source_strides", "loop_dest_strides"}
    unknown = [
        f"{name}: {need.role}"
        for name, record in effects().items()
        for need in record.requires(Static())
        if name in known and need.role not in {*known[name].operand_roles, *loops}
    ]
    shared = SimpleNamespace(products=("m", "n", "k"), stores=("loop0_stride", "sid", "l2_cache_ctl", "sub_block"))
    # One table serves several spellings: the words of raw products hold m, n and k, stores have clauses of their own.
    assert [each for each in unknown if each.split()[1] not in (*shared.products, *shared.stores, *_FRACTION)] == []


_FRACTION = ("groups", "loop2_stride", "loop3_stride", "loop4_stride")
"""Those of the older layout-converting copies are in a register."""


def test_the_unit_of_older_copies_is_a_figure_of_the_target():
    for target in TARGETS:
        unit = load_target(target).rules.dma_length_multiple
        needs = [
            need
            for need in effects()["pto.copy_ubuf_to_gm"].requires(Static(target=target))
            if need.kind == "misaligned"
        ]
        assert bool(needs) == (unit > 1)
        for need in needs:
            assert broken(need, **{need.role: unit + 1, "n_burst": 2}) == [need.role]
            assert broken(need, **{need.role: 2 * unit, "n_burst": 2}) == []
