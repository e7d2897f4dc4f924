"""Arrays and structs of the scalar unit do not leave the function that declares them, and fit its stack."""

import pytest

from language.vector_kernel import accepts, kernel, read
from ptosim.diagnostics import PTOError

A = "!pto.local_array<2x3xi32>"
STAYS = "an array stays in the function that declares it, and in those that are called with it"


def test_a_function_may_take_one() -> None:
    read(f"""module {{
  func.func private @f(%a: {A}) {{
    return
  }}
  func.func @kernel() {{
    %a = pto.declare_local_array -> {A}
    func.call @f(%a) : ({A}) -> ()
    return
  }}
}}
""")


def test_an_array_is_not_yielded() -> None:
    text = f"""module {{
  func.func @kernel(%c: i1) {{
    %a = pto.declare_local_array -> {A}
    %b = scf.if %c -> ({A}) {{
      scf.yield %a : {A}
    }} else {{
      scf.yield %a : {A}
    }}
    return
  }}
}}
"""
    with pytest.raises(PTOError) as raised:
        read(text)
    messages = [found.message for found in raised.value.diagnostics]
    assert messages == [f"scf.if cannot give {A}: {STAYS}", *[f"scf.yield cannot take {A}: {STAYS}"] * 2]


def test_a_choice_gives_none() -> None:
    body = f"%a = pto.declare_local_array -> {A}\n%b = arith.select %s_i1, %a, %a : {A}"
    with pytest.raises(PTOError):
        read(kernel(body, scope=False))


def test_all_of_the_stack_may_be_used() -> None:
    accepts("%a = pto.declare_local_array -> !pto.local_array<8192xi32>", scope=False)
