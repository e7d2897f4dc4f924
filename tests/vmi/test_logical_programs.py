"""Random programs on logical vectors: both engines, and the text that they are lowered to, compute what they say."""

import numpy as np
import pytest

from logical_kernel import at, image, run_logical
from logical_programs import agrees, logical_program


@pytest.mark.parametrize("seed", range(300))
def test_random_programs(seed: int) -> None:
    program = logical_program(seed)
    memory = run_logical(program.body, image(*program.before), 0, arguments=", %n: index")
    for address, expected in program.expected:
        found = at(memory, address, np.uint8, expected.nbytes)
        assert agrees(found, expected), f"seed {seed}: ub{address}\n{program.body}"
