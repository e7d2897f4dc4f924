"""Nothing stale is launched: whatever a kernel reads while it is traced specialises it anew when it changes."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

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


READS: dict[str, tuple[str, str, str]] = {
    "what a helper reads of a module": (
        "import settings\ndef helper(): return settings.B",
        "settings.A + helper()",
        "settings.B = 30",
    ),
    "a module in a package": ("import settings", "settings.inner.N", "settings.inner.N = 30"),
    "a partial": ("part = partial(add, 1)", "part(2)", "part = partial(add, 9)"),
    "what the function of a partial reads": ("TERM = [1]\npart = partial(add, 1)", "part(2)", "TERM[0] = 7"),
    "the object of a method": ("thing = Derived()\nmethod = thing.twice", "method()", "thing.number = 7"),
    "a class below": ("thing = Derived()", "thing.number", "Base.number = 7"),
    "what a property reads": ("thing = Derived()", "thing.looked_up", "TERM[0] = 7"),
    "a class of classes": ("", "Counted.count", "TERM[0] = 7"),
    "an attribute of an object with slots": ("thing = Slotted(1)", "thing.held", "thing.held = 7"),
    "an attribute of a function": ("add.extra = 1", "add.extra", "add.extra = 7"),
    "an attribute by its name": ("import settings", "getattr(settings, 'B')", "settings.B = 30"),
    "the dictionary of a method of Python's own": ("look = TABLE.get", "look('a')", "TABLE['a'] = 7"),
    "a view of a dictionary": ("view = MappingProxyType(TABLE)", "view['a']", "TABLE['a'] = 7"),
    "a list deep inside": ("", "TABLE['b'][0][1]", "TABLE['b'][0][1] = 7"),
    "an element of an array": ("ARRAY = np.arange(4)", "int(ARRAY[1])", "ARRAY[1] = 7"),
    "the sign of a zero": ("ZERO = 0.0", "int(math.copysign(1, ZERO))", "ZERO = -0.0"),
    "a truth value in a set": ("ONES = {1}", "int(isinstance([*ONES][0], bool))", "ONES = {True}"),
    "a name that hides one of Python's own": ("", "max(1, 2)", "max = min"),
    "a member of an enum": ("kind = Kind.A", "kind.value", "kind = Kind.B"),
    "a call of an object": ("thing = Derived()", "thing()", "thing.number = 7"),
}
READER = """\
import enum, math
from functools import partial
from types import MappingProxyType
import numpy as np
from ptosim import pto, scalar

TERM = [1]
TABLE = {{"a": 1, "b": [[1, 2]]}}
def add(x, y): return x + y + TERM[0]
class Kind(enum.Enum):
    A = 1
    B = 7
class Base:
    number = 1
    def twice(self): return 2 * self.number
    __call__ = twice
    @property
    def looked_up(self): return TERM[0]
class Derived(Base): pass
class Counting(type):
    @property
    def count(cls): return TERM[0]
class Counted(metaclass=Counting): pass
class Slotted:
    __slots__ = ("held",)
    def __init__(self, held): self.held = held
{setup}

@pto.jit(mode="explicit")
def kernel(out: pto.ptr(pto.i32, "gm")):
    import settings
    scalar.store({read} + settings.A - 1, out, 0)
"""


@pytest.mark.parametrize("name", READS)
def test_whatever_is_read_counts(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from ptosim.ptodsl.script import load_script

    settings, settings.inner = ModuleType("settings"), ModuleType("settings.inner")
    vars(settings).update(A=1, B=2)
    settings.inner.N = 3
    monkeypatch.setitem(sys.modules, "settings", settings)
    setup, read, edit = READS[name]
    path = tmp_path / "reader.py"
    path.write_text(READER.format(setup=setup, read=read))
    space = vars(load_script(str(path)))
    out, results = np.zeros(1, "i4"), []
    for statement in ("", edit, "import settings\nsettings.A = 100"):
        exec(statement, space)
        space["kernel"][1](out)
        assert out[0] == eval(read, space) + settings.A - 1
        results.append(int(out[0]))
    assert len(set(results)) == 3
    made = space["kernel"].compile()
    assert space["kernel"].compile() is made, "nothing has changed, but it is traced anew"


def test_what_moves_on_is_traced_each_time():
    numbers = iter([1, 2, 3])

    @pto.jit(mode="explicit")
    def takes_the_next(out: pto.ptr(pto.i32, "gm")):
        scalar.store(next(numbers), out, 0)

    out = np.zeros(1, "i4")
    for number in (1, 2, 3):
        takes_the_next[1](out)
        assert out[0] == number


def test_the_options_and_annotations_of_helpers_count():
    def made(option: int, kind: object) -> object:
        @pto.simt(max_threads=option)
        def one(x: kind):
            scalar.store(1, x)

        return one

    workitems = made(32, pto.ptr(pto.i32, "gm"))

    @pto.jit(mode="explicit", kernel_kind="vector")
    def launches(out: pto.ptr(pto.i32, "gm")):
        workitems[1, 1, 1](out)

    assert "simt_max_threads = 32" in launches.text
    workitems = made(64, pto.ptr(pto.i32, "gm"))
    assert "simt_max_threads = 64" in launches.text
    workitems = made(64, pto.ptr(pto.f32, "gm"))
    with pytest.raises(ptosim.PTOError):
        launches.compile()


def test_constants_that_are_equal_and_not_the_same_specialise():
    @pto.jit(mode="explicit")
    def of_a_pair(out: pto.ptr(pto.i32, "gm"), *, PAIR: pto.const_expr = (1, 0.0)):
        scalar.store(["bool", "int", "float"].index(type(PAIR[0]).__name__), out, 0)
        scalar.store(int(math.copysign(1, PAIR[1])), out, 1)

    out = np.zeros(2, "i4")
    for number, pair in enumerate([(True, 0.0), (1, 0.0), (1.0, -0.0)]):
        of_a_pair(out, PAIR=pair)
        assert out.tolist() == [number, -1 if number == 2 else 1]


def test_the_text_of_a_body_counts_as_it_is_now(tmp_path: Path):
    from ptosim.ptodsl.script import load_script

    def text(number: int) -> str:
        @pto.jit(name="kernel", mode="explicit")
        def kernel(out: pto.ptr(pto.i32, "gm")):
            scalar.store(number, out, 0)

        return str(kernel)

    script = tmp_path / "script.py"
    script.write_text(
        "from ptosim import pto\n\n@pto.jit(mode='explicit', source='body.pto')\n"
        "def kernel(out: pto.ptr(pto.i32, 'gm')): ...\n"
    )
    out = np.zeros(1, "i4")
    (tmp_path / "body.pto").write_text(text(1))
    kernel = load_script(str(script)).kernel
    for number in (1, 2):
        (tmp_path / "body.pto").write_text(text(number))
        kernel[1](out)
        assert out[0] == number


def test_kernels_of_equal_text_in_two_files_have_their_own_places(tmp_path: Path):
    from ptosim.ptodsl.script import load_script

    for name in ("one", "two"):
        path = tmp_path / f"{name}.py"
        path.write_text(SCRIPT.format(gap="", count=4, wrong="n.wrong"))
        with pytest.raises(ptosim.PTOError) as caught:
            load_script(str(path)).kernel.compile()
        assert caught.value.diagnostics[0].location.file == str(path)


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
