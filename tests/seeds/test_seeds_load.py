"""Every example of the seed pages is a kernel here: it loads, and its canonical text reads back as the same."""

from pathlib import Path

import pytest

from ptosim.diagnostics import Source
from ptosim.language.load import VerifiedModule, load, text

KERNELS = sorted(Path(__file__).parent.glob("*.pto"))

# What the verifier has to remark; every other kernel loads without a word.
REMARKS = {
    "load_store_forms_loads.pto": "pto.vsld is an unspecified operation",
    "load_store_forms_stores.pto": "pto.vsst is an unspecified operation",
    "sync_cluster_a5.pto": "the first operand names no pipe and is ignored",
    "sync_cluster_a2a3.pto": "the first operand names no pipe and is ignored",
}


def read(name: str, source: str) -> VerifiedModule:
    return load(Source(name, source))


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_the_example_loads(path: Path):
    module = read(path.name, path.read_text())
    assert len(module.kernels) == 1
    assert all(warning.message.startswith(REMARKS[path.name]) for warning in module.warnings)
    assert bool(module.warnings) == (path.name in REMARKS)


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_the_canonical_text_is_stable(path: Path):
    once = text(read(path.name, path.read_text()))
    assert text(read(path.name, once)) == once


def test_the_examples_are_there():
    assert len(KERNELS) == 19


def test_the_open_types_of_the_first_kernel():
    (kernel,) = read("kernel", (Path(__file__).parent / "load_store_kernel_2d.pto").read_text()).kernels
    assert kernel.signature == (("arg0", "!pto.ptr<f32, gm>"), ("arg1", "!pto.ptr<f32, gm>"))
