"""What a check remarks on in vector instructions: legal, and probably not meant."""

import numpy as np
import pytest

import ptosim
from sort_programs import IMAGE, counts, merge_kernel, records, sort_kernel
from tables import table
from vector_programs import binary, program


def _findings(kernel, *arguments) -> list[ptosim.Finding]:
    report = ptosim.check(kernel, *arguments)
    assert report.ok, report
    return list(report.findings)


def _remarks(kernel, *arguments) -> list[str]:
    return [finding.message for finding in _findings(kernel, *arguments)]


def _found(instruction: str, **given) -> list[ptosim.Finding]:
    made = program(instruction)
    slots = np.stack([operand.image(given.get(operand.name)) for operand in made.operands])
    return _findings(made.kernel, slots[np.newaxis], np.zeros((1, len(made.results), 256), np.uint8), 1)


def _of(instruction: str, **given) -> list[str]:
    return [finding.message for finding in _found(instruction, **given)]


def test_a_kernel_around_an_instruction_is_clean():
    assert _of(binary("vadd", "i32"), a=[1], b=[1]) == []


@pytest.mark.parametrize(("active", "count"), [(None, 1), ([1], 1), ([0], 0)])
def test_integer_division_by_zero(active, count):
    found = _of(binary("vdiv", "i32"), a=[1] * 64, b=[1, 0, *[1] * 62], m=active)
    assert found == ["active lanes divide by zero, which is not defined; they become 0"] * count


def test_float_division_by_zero_is_defined():
    assert _of(binary("vdiv", "f32"), a=[1] * 64, b=[0] * 64) == []


@table("part, active, count", ("EVEN", None, 0), ("ODD", None, 0), ("EVEN", range(7), 0), ("ODD", range(7), 1))
def test_the_mask_of_a_widening_conversion_can_be_read_in_two_ways(part, active, count):
    text = f'%d = pto.vcvt %a, %m {{part = "{part}"}} : V<f16>, M<b16> -> V<f32>'
    message = "the mask is read as selecting lanes of the source; as lanes of the result it would select others"
    assert _of(text, a=[1] * 128, m=active) == [message] * count


def test_the_doubt_says_what_to_write_instead():
    text = '%d = pto.vcvt %a, %m {part = "ODD"} : V<f16>, M<b16> -> V<f32>'
    (found,) = _found(text, a=[1] * 128, m=range(7))
    advice = "convert under a mask of all lanes and cut the tail where the result is used"
    assert found.hint == f"{advice}: pto.plt_b32 for the mask of its store"


def _image(*pieces: np.ndarray) -> np.ndarray:
    image = np.zeros(IMAGE, np.uint8)
    for number, piece in enumerate(pieces):
        image[1024 * number :][: len(piece)] = piece
    return image


@pytest.mark.parametrize(("source", "count"), [(0, 0), (16, 1)])
def test_sorting_wants_aligned_addresses(source, count):
    found = _remarks(
        sort_kernel("f32"), _image(), np.zeros(IMAGE, np.uint8), np.zeros(4, np.int16), 2048, source, 1024, 1
    )
    assert found == ["hardware sorts between addresses that are multiples of 32"] * count


@pytest.mark.parametrize(("scores", "count"), [((3, 2, 2), 0), ((2, 3, 1), 1)])
def test_merging_wants_sorted_lists(scores, count):
    image = _image(records("f32", [(5, 0)]), records("f32", [(score, 0) for score in scores]))
    arguments = (image, np.zeros(IMAGE, np.uint8), np.zeros(4, np.int16), 4096, 0, 1024, 0, 0, counts(1, 3), 0x0301)
    found = _remarks(merge_kernel("f32"), *arguments)
    assert found == ["list 1 is not sorted, largest score first; the result will not be, either"] * count
