"""Element-wise operations against NumPy."""

import numpy as np

from tile_programs import Given, run


def test_sum():
    a = np.random.default_rng(1).random((16, 64), "f4")
    b = np.random.default_rng(2).random((16, 64), "f4")
    got = run(
        "pto.tadd ins(%a, %b : A, B) outs(%d : D)",
        a=Given("16x64xf32", a),
        b=Given("16x64xf32", b),
        d=Given("16x64xf32"),
    )
    assert np.array_equal(got["d"].valid, a + b)
