"""The kernels of `ptosim explain`: what is broken is not proven, and what was repaired is."""

from __future__ import annotations

from importlib.resources import files

import pytest

import ptosim

KERNELS = files("ptosim.sanitize.explain")


@pytest.mark.parametrize("kind", ["race", "unmatched-wait", "undrained", "deadlock"])
def test_a_broken_kernel_is_not_proven_and_its_repair_is(kind: str):
    for suffix, expected in (("", False), (".repaired", True)):
        kernel = ptosim.load((KERNELS / f"{kind}{suffix}.pto").read_text()).kernel()
        assert ptosim.prove(kernel).proven is expected, f"{kind}{suffix}\n{ptosim.prove(kernel)}"
