"""Random functions with loops, branches and carried values: the traced kernel gives what Python gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from author.random_programs import ProgramWriter, in_python
from example_scripts import script

KERNEL = """
from ptosim import pto, scalar

{program}

@pto.jit(mode="explicit")
def kernel(out: pto.ptr(pto.i32, "gm"), a: pto.i32, b: pto.i32, c: pto.i32):
{body}
    scalar.store(a, out, 0)
    scalar.store(b, out, 1)
    scalar.store(c, out, 2)
"""
VALUES = [(0, 1, 2), (7, -3, 11), (100, 50, -25)]


def written(seed: int, path: Path) -> Any:
    program = ProgramWriter(seed).text()
    body = "\n".join(program.splitlines()[1:-1]).replace("I(", "scalar.index_cast(pto.i32, ")
    path.write_text(KERNEL.format(program=program, body=body.replace("unrolled(", "pto.static_range(")))
    return script(str(path.with_suffix("")))


@pytest.mark.parametrize("seed", range(40))
def test_the_kernel_gives_what_python_gives(seed: int, tmp_path: Path):
    module = written(seed, tmp_path / f"random_{seed}.py")
    for values in VALUES:
        out = np.zeros(4, "i4")
        module.kernel[1](out, *values, engine="reference")
        assert out[:3].tolist() == in_python(module.program, values), values
