"""Comments that `print` keeps: each beside its operation, none lost, the same when it is printed again."""

import re
from pathlib import Path

import pytest

import ptosim

TEXT = """// first
module attributes {pto.target_arch = "a5"} { // the machine
  // of the function
  func.func @k(%x: !pto.ptr<f32, gm>, // behind an argument
               %n: index) attributes {pto.kernel} {

    // zero
    %c0 = arith.constant 0 : index // nothing
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 { // rows
      // only this
    } // of the loop
    %is = arith.cmpi eq, %n, %c1 : index
    scf.if %is {
      pto.barrier #pto.pipe<PIPE_V> // then
      // behind it
    } else { // otherwise
      pto.barrier #pto.pipe<PIPE_ALL>  pto.barrier #pto.pipe<PIPE_V>  // of two
    }
    return
    // the end
  }
}
// last
"""
PRINTED = """// first
module attributes {pto.target_arch = "a5"} {  // the machine
  // of the function
  // behind an argument
  func.func @k(%x: !pto.ptr<f32, gm>, %n: index) attributes {pto.kernel} {
    // zero
    %c0 = arith.constant 0 : index  // nothing
    %c1 = arith.constant 1 : index
    // rows
    // only this
    scf.for %i = %c0 to %n step %c1 {
    }  // of the loop
    %is = arith.cmpi eq, %n, %c1 : index
    scf.if %is {
      pto.barrier #pto.pipe<PIPE_V>  // then
      // behind it
    } else {  // otherwise
      pto.barrier #pto.pipe<PIPE_ALL>
      pto.barrier #pto.pipe<PIPE_V>  // of two
    }
    func.return
    // the end
  }
}
// last
"""


def test_each_stays_beside_its_operation() -> None:
    module = ptosim.load(TEXT)
    assert module.text(comments=True) == PRINTED
    assert ptosim.load(PRINTED).text(comments=True) == PRINTED
    assert str(module) == str(ptosim.load(PRINTED)) and "//" not in str(module)


EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("**/*.pto"))[::6]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_none_of_an_example_is_lost(path: Path) -> None:
    module = ptosim.load(path)
    text = module.text(comments=True)
    words = [sorted(re.findall(r"//.*?(?=\s*//|\s*$)", each, re.M)) for each in (module.source, text)]
    assert words[0] == words[1]
    assert ptosim.load(text, target=module.target).text(comments=True) == text
