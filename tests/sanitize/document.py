"""The page about the sanitizer. Run this file to write docs/sanitizer.md anew; a test sees that it is up to date."""

from pathlib import Path

import ptosim
from ptosim.cli.argument_words import value_of
from ptosim.cli.rank_words import values_of
from ptosim.diagnostics import Source
from ptosim.ranks.world import world_of
from ptosim.report.explanation import section
from ptosim.sanitize.explain import Explanation, explanation, kinds

PAGE = Path(__file__).parents[2] / "docs" / "sanitizer.md"

INTRODUCTION = """# The sanitizer

`ptosim check` runs a kernel on copies of its arguments and says what is wrong with it: races between pipes, cores and
blocks, values that nothing has written, accesses outside of memory, synchronisation that hangs, drifts or is left over.
One clean run speaks for **all** schedules of that input, because the check asks what is ordered, not what came first.

```
$ ptosim check softmax.pto rand:24x128 zeros:24x128 24 --grid 3
softmax: no findings
```

```python
report = ptosim.check(kernel, x, out, 24, grid=3)
assert report.ok, report                 # prints like a compiler, with both lines and a repair
for finding in report.findings:          # .kind .severity .message .line .related .hint .bytes .loops .count ...
    print(finding.kind, finding.line)
```

In a test of your own:

```python
import numpy as np
import ptosim


def test_softmax_is_clean():
    kernel = ptosim.load("examples/softmax.pto").kernel()
    x = np.random.default_rng(1).normal(size=(24, 128)).astype("f4")
    report = ptosim.check(kernel, x, np.zeros_like(x), 24, grid=3)
    assert report.ok, str(report)        # the text, because pytest cuts other objects short
```

| option | |
|---|---|
| `--strict` | warnings make the exit code 1 as well |
| `--json`, `--sarif FILE` | findings as data; SARIF 2.1.0 is what editors and code hosts read |
| `--max-findings N` | judge no further block once there are N, and show at most N, errors first |
| `--blocks 0,last` | run only these blocks of a large grid |
| `--mem-bar relaxed`, `strict`, `off` | how accesses of one vector scope that alias without a mem_bar count |
| `--unwritten note`, `off`, `error` | bytes of an output that no block writes (`off` beside `--blocks`) |
| `--oob drop` | accesses of GM outside the arguments are notes: hardware reads zeros there and drops writes |
| `--fix` | print a [repair](order.md#repair) as a unified diff, the findings on stderr; `report.fix()` in Python |
| `--write` | with `--fix`: change the file |
| `--engine reference` | judge every block instead of those that compiled code suspects; the report is the same |
| `--max-steps N` | end a block after so many loop iterations and calls (10^9), with a finding (`limit`) there |

`ptosim explain KIND` prints the section of a kind. Exit codes: 0 no error, 1 errors, 2 wrong use.

## How it decides

**Order.** Every entry of a pipe has a number. A clock says, per pipe, how many entries from the first have ended;
flags, buffers, semaphores and barriers carry clocks from pipe to pipe. Two accesses to the same byte, one of them a
write, race unless the clock of the later one knows that the earlier one has ended. Vector functions, and the entries
of M, FIX and MTE1, come one after the other; copies of MTE2 and MTE3 start in order and may overlap, so two of them
need a barrier of their pipe, or a round trip through another one. Tile operations that overlap on a2a3 are judged
without a run, as warnings.

**Touch and use.** A copy, a store, a scalar access and the active lanes of a masked load count by touch. A plain
vector load reads 256 bytes whatever a later mask selects; its lanes count only where they are used: where they decide
a mask, an address or a branch, or are stored and then copied to GM, loaded by the scalar unit or read by a matrix
product. What makes a value doubtful travels with it as taint, lane by lane, also in special registers: a doubtful mask
of a squeeze counts where AR and SQZN then decide an address, in this scope or a later one. A write that may overtake
such loads, be it the last load of these bytes or an earlier one, is decided by repeating the run with exactly these
bytes tainted.

**Undefined values that spread.** A tail that nothing has written and that reaches GM as a tail is a warning. Once such
a lane has reached others (a sum, a sort, a gather, `vselr`, `vdup` of a lane, a load with dist BRC or E2B), or enters a
matrix product, defined results are wrong, and it is an error. `ptosim run` starts on-chip memories as zeros, so a sum
over such lanes looks right there; with `--poison` (`poison=True`) they start as the eight bytes `c1 7f c1 7f c1 ff c1
ff` over and over, in both engines: every lane of f16, bf16 and f32 is then NaN, which no arithmetic swallows, and
integers are positive and negative by turns.

**The gravest first.** Errors lead, and among them what two pipes have with each other: copies of one pipe that overlap
often do so because an edge to another pipe is missing.

**One finding per pair of lines.** It has the first occurrence (core, loop indices, bytes) and a count. Inside a core
each direction of a pair lacks an edge of its own and is a finding of its own. Cores and blocks have no order of the
program between them, so there a pair is one finding for both directions: if loops with the same bounds run on both
cores, the access of the earlier iteration was meant to come first, and inside one iteration the write before the read.
Where the same two lines race inside a core as well, that is told in the same finding.

**Notes.** What may well be meant is a note, printed last: `report.notes` has them, `report.findings` does not, and
neither `.ok` nor `--strict` counts them. Bytes of an output that no block writes are one. An output is an argument of
which something is written; where a block was cut short nothing is said.

**Hints.** A hint is an edit that was tried: lines to add, replace, delete or move, with which the kernel checks clean
at this size and, where it has another, at a larger one (warnings that have nothing to do with order may stay). What
does not pass is not said. It is the first edit of a [repair](order.md#repair). The least edits come first: if one line
was left out, repeated, has another id or other pipes, is the other way round, or stands on the wrong side of its
neighbour, the hint is about that line. Otherwise it is a pair with an event, semaphore or buffer id that neither the
text nor the run has used; an id that is computed counts as any that the computation may give, all of them unless it is
known. A kernel that uses buffer ids is hinted in buffer ids. Where two buffers overlap by address, the hint says so
before any edit. All line numbers are those of the text as it is; lines for one place go there in the order of the
hint. An edge into a later iteration comes with its prime and its drain. Between cores the signal goes into the loops
that both run alike; on a5 each vector core has a signal of its own (id, and id + 16 on the cube core), and two vector
cores are joined through the cube core. Where several things are wrong, the hints of all findings together were tried;
if their edits uncover others, the hint is the first edit of a repair that was tried to its end: follow it and check
again, or have `--fix` do it. Findings carry the edits as data too (`.edits`, and `fixes` in SARIF).

**The larger size.** The integer arguments that the bounds of the scalar unit's loops are computed from are multiplied
by 4, 16 or 64, until a block issues three times as many instructions, and the arrays grow with them (by the square
where there are several such integers) and repeat their contents, up to 64 MB; all these integers at once, or else each
alone. A launch that then shows what no synchronisation can cause, such as an access out of bounds, is not one that the
kernel admits. Where none is found a note says that the hint was tried at this size only. Kernels whose loops depend on
no argument, and launches with arrays that overlap, have no other size. Of the larger launch the first and the last
block run.

**What follows from a finding** is listed inside it (`follows:`, `Finding.consequences`), not beside it: whatever goes
away with its hint. One lost wait is one finding, with the other races and the flags left over that come of it. Where
no hint was found, flags between two pipes that are set and not waited for are listed in the race between these pipes.

**The theorem.** If a run has no race, no scope-alias error and no deadlock, every schedule leaves the same bytes in
the arguments, but for sums of floats that atomic stores make in no order, each of which a `lint` names; program order
is one of these schedules. After the first race, later findings describe one possible execution. Tests compare random
programs that check clean under random schedules; `make fuzz KIND=schedules N=… SEED=…` goes on with kernels of all
features of the micro level, alone and in pairs, each under 40 schedules.

**What it costs.** A kernel without findings costs 1.1 to 1.6 times its native run: compiled code finds out which blocks
may have any, and only those are judged (docs/engines.md says how, and which kernels are judged as a whole). A block
that is judged costs about three times the reference engine, and a second run where loads are suspected.
Memory does not grow with the number of steps. Hints cost nothing while there are no findings, nor where one of the
errors cannot come of synchronisation. Otherwise at most 20 texts with one line edited and 16 with more are checked, on
the blocks that have findings; the first conflict ends the check of a text with one line edited. A text that is clean
there is checked on all blocks, and then on a larger launch. One wrong line usually takes one to five such texts.
`--fix` goes on where no hint was found, for some 200 texts more. A text of more than 256 KB gets no hints that are
edits.

**Bytes of GM.** Memory on the chip has a record per byte. An argument has one per pipe, direction and 32 bytes; where
the bytes of such a piece were last touched by different instructions, blocks or cores it is split into one per byte,
so that neighbours are told apart. All of these together take at most twice the size of the arguments and 64 MB. An
access for which there is no room left is not recorded: no race is made up, one may be missed, and the report says so
(`lint`: the check of the argument is not complete). A report without that remark is exact to the byte; blocks that
compiled code has passed are so in any case. It takes arguments of more than some 10 MB, nearly all of whose 32-byte
pieces are shared.

**Other limits.** Some 42 pairs of lines with suspected loads and 20 lines with undefined values are told apart at once;
more of a kind are reported under the last of that kind, and show by themselves once it is repaired. Of one pair of
lines at most 65,536 suspected ranges are tried in the second run: if none of them matters and there were more, a `lint`
says so.

**What it cannot see.** A kernel that is in perfect order and computes something else than was meant: an address that
is off by 32 bytes and overwrites a neighbour at a time when nobody minds the order.

# The kinds of findings
"""


def said(each: Explanation) -> str:
    """What the check says about the kernel of an explanation."""
    source = each.kernel
    try:
        from ptosim.api import Module
        from ptosim.loading import load_module
        from ptosim.native.host.library import Request

        module = Module(load_module(Source(each.file, source)), Request())
        kernel = module.kernel()
        if each.ranks is not None:
            values = values_of(each.arguments, kernel.signature, each.ranks)
            return str(world_of(kernel, values, each.ranks).check())
        values = [value_of(word, parameter) for word, parameter in zip(each.arguments, kernel.signature, strict=False)]
        return str(ptosim.check(kernel, *values))
    except ptosim.PTOError as problem:
        return str(problem)


def page() -> str:
    sections = [section(explanation(kind), said) for kind in kinds()]
    return "\n\n".join((INTRODUCTION.rstrip(), *sections)) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
