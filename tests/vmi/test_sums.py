"""The order of float sums: by blocks of 32 bytes, whatever layout the vector has and whatever else uses it."""

from functools import reduce
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from logical_kernel import at, image, run_logical

Array = NDArray[Any]


def tree(values: Array) -> np.float32:
    while len(values) > 1:
        values = values[: len(values) // 2] + values[len(values) // 2 :]
    return values[0]


def ordered(group: Array, block: int, known: bool) -> np.float32:
    """The sum of a group of f32 lanes; `known`: the mask is known to be the same for all terms."""
    blocks, rest = divmod(len(group), block)
    if rest or (blocks not in (1, 2, 4) and blocks % 8):
        registers = [group[start : start + 64] for start in range(0, len(group), 64)]
        padded = [np.concatenate([each, np.zeros(64 - len(each), "f4")]) for each in registers]
        return reduce(lambda so_far, each: each + so_far, map(tree, padded))
    if blocks <= 4:
        parts = [group[part::blocks] for part in range(blocks)]
        if known:
            return tree(reduce(np.add, parts))
        sums = [tree(part) for part in parts]
        while len(sums) > 1:
            sums = [sums[index] + sums[index + 1] for index in range(0, len(sums), 2)]
        return sums[0]
    registers = [group[start : start + 64] for start in range(0, len(group), 64)]
    if known:
        return tree(reduce(np.add, registers))
    return reduce(lambda so_far, each: each + so_far, map(tree, registers))


CONTEXTS: dict[str, str] = {
    "loaded": "%v = pto.vmi.vload %ub_f32[%c0] : P<f32> -> L<{lanes}xf32>",
    "widened": """%n = pto.vmi.vload %ub16384_f16[%c0] : P<f16> -> L<{lanes}xf16>
%w = pto.vmi.vcvt %n : L<{lanes}xf16> -> L<{lanes}xf32>
%x = pto.vmi.vload %ub_f32[%c0] : P<f32> -> L<{lanes}xf32>
%v = pto.vmi.vadd %w, %x : L<{lanes}xf32>, L<{lanes}xf32> -> L<{lanes}xf32>""",
}


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("lanes", "groups"), [(64, 8), (64, 4), (128, 4), (64, 1), (128, 1), (256, 2), (512, 2)])
def test_the_order_of_sums(lanes: int, groups: int, known: bool, context: str) -> None:
    values = np.random.default_rng(lanes + groups).normal(size=lanes).astype("f4") * np.float32(1e3)
    mask = '%m = pto.vmi.pset "PAT_ALL"' if known else "%m = pto.vmi.create_mask %n0"
    types = f"Q<{lanes}>" if known else f"index -> Q<{lanes}>"
    body = f"""{mask} : {types}
{CONTEXTS[context].format(lanes=lanes)}
%s = pto.vmi.vcadd %v, %m {{group = {groups}, reassoc}} : L<{lanes}xf32>, Q<{lanes}> -> L<{groups}xf32>
pto.vmi.vstore %s, %ub32768_f32[%c0] : L<{groups}xf32>, P<f32>"""
    memory = run_logical(body, image((0, values)), lanes, arguments=", %n0: index")
    expected = [ordered(row, 8, known) for row in values.reshape(groups, -1)]
    np.testing.assert_array_equal(at(memory, 32768, "f4", groups), np.array(expected, "f4"))
