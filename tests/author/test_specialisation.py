"""Nothing stale is launched: whatever a kernel reads while it is traced specialises it anew when it changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import ptosim
from ptosim import pto, scalar

FACTOR = 2
TABLE = [1, 2, 3]
SETTINGS = {"offset": 5}


def helper(x: object) -> object:
    return x * FACTOR


def deeper(x: object) -> object:
    return helper(x) + TABLE[0]


@pto.func(returns=pto.i32)
def in_module(x: pto.i32):
    return x + SETTINGS["offset"]


class Options:
    shift = 1


OPTIONS = SimpleNamespace(extra=0)


@pto.jit(mode="explicit")
def reads_everything(out: pto.ptr(pto.i32, "gm"), n: pto.i32):
    scalar.store(in_module(deeper(n)) + Options.shift + OPTIONS.extra, out, 0)


def launched() -> int:
    out = np.zeros(1, "i4")
    reads_everything[1](out, 10)
    return int(out[0])


def expected() -> int:
    return 10 * FACTOR + TABLE[0] + SETTINGS["offset"] + Options.shift + OPTIONS.extra


def change(name: str, value: object) -> Callable[[], None]:
    return lambda: globals().__setitem__(name, value)


CHANGES: dict[str, Callable[[], object]] = {
    "a global": change("FACTOR", 3),
    "a list in place": lambda: TABLE.__setitem__(0, 7),
    "a dict in place": lambda: SETTINGS.update(offset=9),
    "an attribute of a class": lambda: setattr(Options, "shift", 4),
    "an attribute of an object": lambda: setattr(OPTIONS, "extra", 6),
    "a global again": change("FACTOR", -1),
}


def test_every_value_that_is_read_counts():
    assert launched() == expected()
    for what, edit in CHANGES.items():
        edit()
        assert launched() == expected(), what


def test_a_helper_that_is_replaced_counts():
    before = globals()["helper"]
    globals()["helper"] = lambda x: x + 100
    try:
        assert launched() == 10 + 100 + TABLE[0] + SETTINGS["offset"] + Options.shift + OPTIONS.extra
    finally:
        globals()["helper"] = before
    assert launched() == expected()


def test_captured_values_count():
    values = [1]
    number = 3

    @pto.jit(mode="explicit")
    def captures(out: pto.ptr(pto.i32, "gm"), n: pto.i32):
        scalar.store(n + values[0] + number, out, 0)

    out = np.zeros(1, "i4")
    captures[1](out, 10)
    assert out[0] == 14
    values[0] = 5
    number = 30
    captures[1](out, 10)
    assert out[0] == 45


def test_specialisations_do_not_share_code():
    @pto.jit(mode="explicit")
    def constant(out: pto.ptr(pto.i32, "gm"), *, C: pto.const_expr = 1):
        scalar.store(C, out, 0)

    out = np.zeros(1, "i4")
    for value in (1, 2, 3, 2):
        constant.compile(C=value)[1](out)
        assert out[0] == value
    assert len(constant.cached_specializations()) == 3


def test_a_compiled_kernel_does_not_change_and_is_found_again():
    first = reads_everything.compile()
    assert reads_everything.compile() is first
    text = first.text
    TABLE[0] += 1
    assert first.text == text and reads_everything.compile() is not first


def test_families_of_kernels_keep_their_own_values():
    def family(k: int) -> object:
        def kernel(out: pto.ptr(pto.i32, "gm")):
            scalar.store(k, out, 0)

        kernel.__name__ = f"kernel_{k}"
        return pto.jit(name=f"kernel_{k}", mode="explicit")(kernel)

    out = np.zeros(1, "i4")
    for made, k in [(family(k), k) for k in range(4)]:
        made[1](out)
        assert out[0] == k and f"@kernel_{k}(" in made.text


SCRIPT = """\
from ptosim import pto, scalar
{gap}
@pto.jit(mode="explicit")
def kernel(out: pto.ptr(pto.i32, "gm"), n: pto.i32):
    for i in range({count}):
        scalar.store(n, out, i + {wrong})
"""


def test_equal_text_on_other_lines_shows_the_new_lines(tmp_path: Path):
    from ptosim.ptodsl.script import script_kernel

    out = np.zeros(4, "i4")
    lines = []
    for number, gap in enumerate(("", "\n\n\n")):
        path = tmp_path / f"script_{number}.py"
        path.write_text(SCRIPT.format(gap=gap, count=4, wrong=2))
        report = ptosim.check(script_kernel(str(path), "kernel"), out, 1)
        lines.append((report.findings[0].kind, Path(report.findings[0].location.file).name, report.findings[0].line))
    assert lines == [("out-of-bounds", "script_0.py", 6), ("out-of-bounds", "script_1.py", 9)]


def test_a_file_that_has_changed_since_is_an_error(tmp_path: Path):
    from ptosim.ptodsl.script import load_script

    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(gap="", count=4, wrong=0))
    kernel = load_script(str(path)).kernel
    path.write_text(SCRIPT.format(gap="\n", count=3, wrong=0) + "# longer\n")
    with pytest.raises(ptosim.PTOError, match="has changed since kernel was defined"):
        kernel.compile()
