"""What checks clean gives the same bytes under every schedule.

Random kernels; the race-free ones among them run under random schedules and with each pipe delayed. That racy ones do
show differences is counted as well: a check that called everything clean, or schedules that never differ, would not
pass.
"""

import pytest

import ptosim
from sanitize.random_kernels import arguments, program

PIPES = ("S", "V", "MTE2", "MTE3")
FORBIDDEN = {"race", "deadlock", "unmatched-wait"}


def outcome(kernel: ptosim.Kernel, schedule: str) -> list[bytes]:
    given = arguments()
    kernel(*given, engine="reference", schedule=schedule)
    return [array.tobytes() for array in given]


def is_clean(findings: tuple[ptosim.Finding, ...]) -> bool:
    return not any(
        finding.kind in FORBIDDEN or (finding.kind == "scope-alias" and finding.severity == "error")
        for finding in findings
    )


@pytest.mark.parametrize("length", [4, 9])
def test_clean_programs_do_not_depend_on_the_schedule(length: int, full: bool) -> None:
    schedules = [f"delay:{pipe}" for pipe in PIPES] + [f"random:{seed}" for seed in range(20 if full else 8)]
    clean = racy = shown = 0
    for seed in range(400 if full else 40):
        kernel = ptosim.load(program(seed, length)).kernel()
        report = ptosim.check(kernel, *arguments())
        expected = outcome(kernel, "program")
        same = all(outcome(kernel, schedule) == expected for schedule in schedules)
        if is_clean(report.findings):
            clean += 1
            assert same, f"seed {seed}: clean, but it depends on the schedule\n{program(seed, length)}"
        else:
            racy += 1
            shown += not same
    assert clean >= (clean + racy) / 5
    assert racy >= (clean + racy) / 10
    assert shown >= racy / 5
