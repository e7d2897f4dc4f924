"""Calls on every floor: deep and branching chains load in time, and calls are steps that end and can be stopped."""

import signal
import threading
import time

import pytest

import ptosim
from both_engines import fails


def chain(length: int, calls: int = 1, leaf: str = "", inside: str = "{}") -> str:
    """Functions that each call the next so many times; `inside` is what the calls of each stand in."""
    functions: list[str] = []
    for number in range(length):
        made = f"func.call @f{number + 1}() : () -> ()\n" * calls
        body = inside.format(made) if number + 1 < length else leaf
        marks = ("", "attributes {pto.kernel}") if number == 0 else ("private", "")
        functions.append(f"func.func {marks[0]} @f{number}() {marks[1]} {{\n{body}\nreturn\n}}")
    return "module {\n" + "\n".join(functions) + "\n}\n"


GUARDED = """
    %false = arith.constant 0 : i1
    scf.if %false {{
      {}
    }}"""


def seconds(work: object) -> float:
    start = time.process_time()
    assert callable(work)
    work()
    return time.process_time() - start


@pytest.mark.parametrize("leaf", ["", 'pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]'])
def test_functions_that_call_the_next_twice(leaf: str):
    """2^40 paths lead through 40 functions; nothing but a run may follow each of them."""
    kernels: list[ptosim.Kernel] = []
    assert seconds(lambda: kernels.append(ptosim.load(chain(40, 2, leaf, GUARDED)).kernel())) < 5
    (kernel,) = kernels
    kernel()
    kernel(engine="reference")
    assert ptosim.check(kernel).ok
    assert ptosim.profile(kernel).cycles >= 0


def test_a_vector_scope_whose_calls_branch():
    """What a scope executes is told without following each path; profile, which writes calls out, ends with `limit`."""
    text = chain(41, 2, '%all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>', GUARDED)
    text = text.replace("attributes {pto.kernel} {", "attributes {pto.kernel} {\npto.vecscope {", 1)
    text = text.replace("return", "}\nreturn", 1)
    kernel = ptosim.load(text).kernel()
    kernel()
    kernel(engine="reference")
    assert ptosim.check(kernel).ok
    with pytest.raises(ptosim.PTOError) as raised:
        ptosim.profile(kernel)
    (found,) = raised.value.diagnostics
    assert (found.kind, found.line) == ("limit", 3)


def test_a_wait_that_is_lost_before_branching_calls():
    """Whether a set may still follow is told without following each path of the calls that follow."""
    text = chain(40, 2, "", GUARDED).replace(
        "{pto.kernel} {", '{pto.kernel} {\npto.wait_flag["PIPE_V", "PIPE_S", "EVENT_ID0"]', 1
    )
    kernel = ptosim.load(text).kernel()
    assert [found.kind for found in ptosim.check(kernel).findings] == ["unmatched-wait"]
    assert fails(kernel).kind == "unmatched-wait"


def test_a_long_chain_of_calls():
    texts = {length: chain(length) for length in (200, 201, 3000)}
    kernel = ptosim.load(texts[200]).kernel()
    kernel()
    kernel(engine="reference")
    for length in (201, 3000):
        with pytest.raises(ptosim.PTOError) as raised:
            assert seconds(lambda length=length: ptosim.load(texts[length])) < 5
        (found,) = raised.value.diagnostics
        message = "calls, with the regions around them, nest deeper than 200 levels"
        assert (found.kind, found.message) == ("limit", message)
        # the innermost call that 200 functions are below
        assert found.location is not None
        assert texts[length].splitlines()[found.location.line - 1] == f"func.call @f{length - 200}() : () -> ()"


def test_regions_around_calls_count_as_levels():
    """100 functions with a branch each are 199 levels: each but the last has its own and that of its branch."""
    ptosim.load(chain(100, inside=GUARDED)).kernel()(engine="reference")
    with pytest.raises(ptosim.PTOError, match="nest deeper than 200 levels"):
        ptosim.load(chain(101, inside=GUARDED))


def test_a_circle_of_many_functions_is_named_in_short():
    text = chain(3000, leaf="func.call @f0() : () -> ()")
    with pytest.raises(ptosim.PTOError) as raised:
        ptosim.load(text)
    (found,) = raised.value.diagnostics
    assert found.message == "recursion is not supported: @f0 -> @f1 -> @f2 -> ... -> @f2998 -> @f2999 -> @f0"


def test_many_functions_and_calls_load_in_time():
    """Every call finds its function without looking through all of them."""
    calls = "".join(f"func.call @f{number}() : () -> ()\n" for number in range(3000))
    helpers = "".join(f"func.func private @f{number}() {{ return }}\n" for number in range(3000))
    text = f"module {{\n{helpers}func.func @k() attributes {{pto.kernel}} {{\n{calls}return\n}}\n}}\n"
    assert seconds(lambda: ptosim.load(text)) < 5


def test_16_000_constants_are_printed_in_time():
    constants = "".join(f"    %c{number} = arith.constant {number} : i64\n" for number in range(16_000))
    module = ptosim.load(f"module {{\n  func.func @k() {{\n{constants}    return\n  }}\n}}\n")
    printed: list[str] = []
    assert seconds(lambda: printed.append(str(module))) < 2
    assert printed[0].count("arith.constant") == 16_000


# --- steps ------------------------------------------------------------------------------------------------------------


def test_calls_are_steps():
    """15 functions that call the next twice: 2 + 4 + ... + 2^14 calls."""
    kernel = ptosim.load(chain(15, 2)).kernel()
    calls = 2**15 - 2
    for engine in ("native", "reference"):
        kernel(engine=engine, max_steps=calls)
    assert ptosim.check(kernel, max_steps=calls).ok
    ptosim.profile(kernel, max_steps=calls)
    found = fails(kernel, max_steps=calls - 1)
    message = f"more than {calls - 1} loop iterations and calls in one block (max_steps)"
    assert (found.kind, found.message) == ("limit", message)
    # the last of all calls is the second one of the last function but one
    lines = chain(15, 2).splitlines()
    assert found.line == len(lines) - lines[::-1].index("func.call @f14() : () -> ()")
    (reported,) = ptosim.check(kernel, max_steps=calls - 1).findings
    assert (reported.kind, reported.message) == ("limit", message)
    with pytest.raises(ptosim.PTOError, match="loop iterations and calls"):
        ptosim.profile(kernel, max_steps=calls - 1)


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_calls_without_a_loop_can_be_interrupted(engine: str):
    """2^39 calls take hours; Ctrl-C ends them within a second or two."""
    kernel = ptosim.load(chain(40, 2)).kernel()
    with pytest.raises(ptosim.PTOError):
        kernel(engine=engine, max_steps=10)  # compiled and translated
    timer = threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT))
    start = time.monotonic()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            kernel(engine=engine, max_steps=10**15)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < 5
