"""The check of a launch: compiled code finds suspicious blocks, the reference engine judges them, edits are tried."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING, cast

from ptosim.diagnostics import Diagnostic, PTOError, Severity, Source, authored, error, once_a_line
from ptosim.kernel_launch import Launch, Lines, RecordedOrigin, noting, show_lines
from ptosim.module import Kernel, Module, load_source
from ptosim.options import MEM_BARS, UNWRITTEN, choice, chosen_blocks, count, engine_at_hand

if TYPE_CHECKING:
    from ptosim.cpp.cpp_repair import CppRepair
    from ptosim.language.edits import Edit
    from ptosim.machine.memory import Region
    from ptosim.machine.observer import Observer
    from ptosim.native.observe.gm_conflicts import Sifted
    from ptosim.order.prove import Verdict
    from ptosim.reference.engine import Run
    from ptosim.repair.from_order import Ends
    from ptosim.repair.trials import Trial, Trials
    from ptosim.report.check_report import CheckReport
    from ptosim.report.envelope import ReportSubject
    from ptosim.report.fix import Fix
    from ptosim.sanitize.observation import Observation
    from ptosim.sanitize.undefined_and_racy import MemBar


MOST_CHANGES = 6
"""The most changes of an undecided text that are tried."""


@dataclass(frozen=True)
class CheckOptions:
    """The options of a check; `check` says what each means."""

    mem_bar: str = "relaxed"
    blocks: Sequence[int | str] | None = None
    max_findings: int | None = None
    unwritten: str | bool = "note"
    engine: str = "native"


def verdict_of(kernel: Kernel) -> Verdict:
    """The proof of order for every number of iterations, every branch and every grid."""
    from ptosim.order.prove import prove

    return prove(kernel.module.executable, dict(kernel.program.entries))


def explained(kernel: Kernel, verdict: Verdict) -> Iterator[str]:
    """The reasoning of a proof: what was followed and how, and the change that would decide an undecided kernel."""
    from ptosim.order.exploration.followed import followed

    if verdict.states:
        yield f"decided by all states that the program can come to, in {verdict.states} steps"
    else:
        yield "judged by the least distance at which two entries meet, in the first iterations of each loop"
    for function in dict.fromkeys(kernel.program.entries.values()):
        yield from followed(kernel.module.executable.parsed, function)
    if not verdict.broken and verdict.undecided:
        yield _deciding(kernel, verdict)


def _deciding(kernel: Kernel, verdict: Verdict) -> str:
    """The one change to the text with which the kernel is proven, as far as there is one."""
    from ptosim.language.edits import insert, whole_line
    from ptosim.language.text.edited_text import edited

    for found in verdict.undecided:
        if found.hint and found.location is not None:
            return f"to decide it: at line {found.location.shown.line}, {found.hint}"
    writer = kernel.module.verified.parsed.writer
    places = dict.fromkeys(found.location for found in verdict.undecided if found.location is not None)
    for place in islice(places, MOST_CHANGES):
        if place.source is not None:
            edit = insert("before", whole_line(place.source, place.line), "pto.barrier #pto.pipe<PIPE_ALL>")
            subject = reloaded(kernel, edited(place.source.text, (edit,)).text)
            if subject is not None and verdict_of(subject).proven:
                return f"to decide it: {writer.hint((edit,))}; then it is proven"
    return "no single barrier lets it be decided"


def _with_tiles(found: CheckReport, kernel: Kernel, launch: Launch, most: int | None) -> CheckReport:
    """A report, and what no run shows of tiles."""
    early, overlapping = _early(kernel), _overlapping(kernel)
    found = replace(found, findings=tuple(without_clobbered(found.findings, overlapping)))
    if early:
        found = replace(found, mend=partial(_held_back, kernel, launch, found.fix))
    kept = (*found.findings, *early, *overlapping)[:most]
    omitted = found.omitted + len(found.findings) + len(early) + len(overlapping) - len(kept)
    return replace(found, findings=kept, omitted=omitted)


def without_clobbered(found: Iterable[Diagnostic], more: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """Findings of a run, but those that tiles which overlap have said already."""
    is_said = any(each.kind == "overlap" for each in more)
    return (each for each in found if not (is_said and each.kind == "clobbered"))


def beyond_runs(kernel: Kernel) -> Sequence[Diagnostic]:
    """Findings about tiles that no run of its instructions shows: operations of one pipe that overlap on this machine
    though they depend on each other, tiles that overlap though both are needed.
    """
    return (*_early(kernel), *_overlapping(kernel))


def _overlapping(kernel: Kernel) -> Sequence[Diagnostic]:
    module = kernel.module
    text = module.outline.source.text
    if "addr" not in text and "reserve_buffer" not in text:  # a kernel that is kept compiled need not be read again
        return ()
    from ptosim.tiles.passes.address_overlap import overlaps
    from ptosim.tiles.passes.reserved_overlap import overlapping_buffers

    mine = (program for program in module.programs if program.name == kernel.name)
    entries = {entry.symbol for program in mine for entry in program.entries.values()}
    return (*overlaps(module.verified, entries), *overlapping_buffers(module.verified, entries))


def _early(kernel: Kernel) -> tuple[Diagnostic, ...]:
    """Operations that may start before their predecessor on the same pipe has ended, each with its repair."""
    if kernel.module.target == "a5":
        return ()
    from ptosim.order.prove import dependent
    from ptosim.repair.barriers import barrier

    writer = kernel.module.verified.parsed.writer

    told: set[Edit] = set()

    def hinted(found: Diagnostic) -> Diagnostic:
        edit = barrier(found)
        if edit is None:
            return found
        edits = () if edit in told else writer.replacements((edit,))
        told.add(edit)
        return replace(found, hint=writer.hint((edit,)), edits=edits)

    return tuple(map(hinted, dependent(kernel.module.executable, dict(kernel.program.entries))))


def _held_back(kernel: Kernel, launch: Launch, mend: Callable[[], Fix]) -> Fix:
    """A repair, and barriers before operations that may start too early."""
    from ptosim.repair.barriers import held_back
    from ptosim.repair.engine import PROVEN, REFUTED, REPLAYED
    from ptosim.repair.trials import ORDER

    fix = mend()

    def early(text: str) -> tuple[Diagnostic, ...]:
        subject = reloaded(kernel, text)
        return () if subject is None else _early(subject)

    text = held_back(fix.text, early)
    subject = reloaded(kernel, text)
    if subject is None:
        return fix
    verdict, again = verdict_of(subject), replace(launch, block_done=None, found=None, say=None)
    is_ordered = not any(finding.kind in ORDER for finding in run_checked(subject, again).findings)
    notes = (
        *(note for note in fix.notes if note not in (PROVEN, REFUTED, REPLAYED)),
        *([PROVEN] if verdict.proven else ()),
    )
    is_right = is_ordered and not fix.left and not verdict.broken
    return replace(fix, text=text, verified=is_right, notes=notes)


def reloaded(kernel: Kernel, text: str) -> Kernel | None:
    """The kernel of an edited text; None where that does not load. One that the verifier warns of otherwise than
    before counts as such."""
    outline = kernel.module.outline
    try:
        module = Module(load_source(_edited(outline.source, text), outline.requested), outline.requested)
        found = module.kernel(kernel.name)
        _ = found.program  # what cannot be run says so here
    except PTOError:
        return None
    known = {(warning.kind, warning.message) for warning in outline.warnings}
    return None if any((warning.kind, warning.message) not in known for warning in module.warnings) else found


def _edited(source: Source, text: str) -> Source:
    """Another text of the same file."""
    return Source(source.name, text, None, is_own=True, is_recorded=source.is_recorded)


def examine(kernel: Kernel, launch: Launch, options: CheckOptions = CheckOptions()) -> CheckReport:
    """Check a launch; its arguments are copied."""
    try:
        found = run_checked(kernel, launch, options)
    except PTOError:
        refused = refusals(kernel)
        if not refused:
            raise
        report = _unrun(kernel, refused, options.max_findings)
    else:
        report = _with_tiles(found, kernel, launch, options.max_findings)
    source = kernel.module.outline.source
    if source.is_recorded and not source.is_cpp:
        report = replace(report, mend=partial(_in_python, report.fix, source))
    return replace(report, subject=subject(kernel, launch))


def _in_python(mend: Callable[[], Fix], source: Source) -> Fix:
    from ptosim.report.python_fix import in_python

    return in_python(mend(), source)


def subject(kernel: Kernel, launch: Launch | None, grid: int = 1) -> ReportSubject:
    """The subject of a report."""
    from ptosim.report.envelope import launched

    given, grid = ((), grid) if launch is None else (launch.arguments.given, launch.grid)
    return launched(kernel.module.outline, kernel.outline, given, grid)


def refusals(kernel: Kernel) -> Sequence[Diagnostic]:
    """With what a run of its tiles ends before it begins."""
    try:
        _ = kernel.program
    except PTOError as problem:
        return problem.raised
    return ()


def _unrun(kernel: Kernel, refused: Sequence[Diagnostic], most: int | None) -> CheckReport:
    from ptosim.report.check_report import report
    from ptosim.report.fix import unchanged

    source, note = kernel.module.outline.source, "no synchronisation makes this kernel run"
    return report(kernel.name, refused, most, lambda: unchanged(source, False, (note,), refused))


def run_checked(kernel: Kernel, launch: Launch, options: CheckOptions = CheckOptions()) -> CheckReport:
    """The report of the run of a launch."""
    from ptosim.report.check_report import report
    from ptosim.report.fix import Fix, unchanged

    chosen = chosen_blocks(options.blocks, launch.grid, kernel.outline.cross_block)
    looked_for = _unwritten(options.unwritten, len(chosen) == launch.grid)
    most = None if options.max_findings is None else count("max_findings", options.max_findings)
    strictness = choice("mem_bar", options.mem_bar, MEM_BARS)
    source = kernel.module.outline.source if kernel.origin is None else kernel.origin.source
    lines: Lines = {}
    by_reference = engine_at_hand(options.engine) == "reference"
    sifting = None if by_reference else sifted(kernel, noting(lines, launch), chosen)
    observation, judged = None, set[int]()
    most = None if looked_for == "error" else most
    if sifting is None:
        observation = observed(kernel, launch, strictness, chosen, most, overwrites=True)
    elif sifting.blocks:
        observation, judged, told = _judged(kernel, replace(launch, block_done=None), strictness, sifting, most)
        show_lines(launch, {**lines, **told}, observation.last)
    else:
        show_lines(launch, lines)
    left = partial(_left, launch.arguments.regions.all, looked_for or "note", sifting, judged, observation)
    wrong = left() if looked_for == "error" else ()
    look = partial(_notes, observation, left if looked_for == "note" else None)
    if observation is None or not observation.findings:
        return report(kernel.name, wrong, options.max_findings, lambda: unchanged(source, verified=True), look)
    from ptosim.repair.engine import Engine

    again = replace(launch, block_done=None, found=None, say=None)
    if kernel.origin is not None:
        found = _mended_in_source(kernel.origin, again, strictness, chosen, observation.findings)
        if found is not None:
            fix = Fix(source.name, source.text, found.text, not found.left, (), found.left)
            return report(kernel.name, [*found.findings, *wrong], options.max_findings, lambda: fix, look)
    trials = _trials(kernel, again, strictness, chosen, observation.blocks)
    # edits of a recording are words about the file it was made from: of warnings the file says enough
    is_tried = kernel.origin is None or any(each.severity == "error" for each in observation.findings)
    repair = Engine(observation, trials, is_tried)

    def mend() -> Fix:
        if kernel.origin is not None:
            return unchanged(source, False, ("no edit of the file was found",), repair.findings())
        found = repair.outcome()
        return Fix(source.name, source.text, found.text, found.verified, found.notes, found.left)

    return report(kernel.name, [*repair.findings(), *wrong], options.max_findings, mend, look)


def _mended_in_source(
    origin: RecordedOrigin[Kernel],
    launch: Launch,
    mem_bar: MemBar,
    blocks: Sequence[int],
    findings: Sequence[Diagnostic],
) -> CppRepair | None:
    """Repairs of the file that a kernel was recorded from, each tried by recording it again."""
    from ptosim.cpp.cpp_repair import ORDER, Fault, mend

    def trial(text: str) -> frozenset[Fault] | None:
        subject = origin.edited(text)
        if subject is None:
            return None
        sifting = sifted(subject, launch, blocks)
        if sifting is not None and not sifting.blocks:
            return frozenset()
        seen = once_a_line(map(authored, observed(subject, launch, mem_bar, blocks).findings))
        return frozenset((each.kind, each.line or 0) for each in seen if each.kind in ORDER)

    return mend(once_a_line(map(authored, findings)), origin.source, origin.works, trial)


def _notes(observation: Observation | None, left: Callable[[], Sequence[Diagnostic]] | None) -> Sequence[Diagnostic]:
    """Notes: accesses that hardware tolerates, and bytes that no block writes."""
    return (*(observation.notes if observation is not None else ()), *(left() if left is not None else ()))


def _unwritten(wanted: str | bool, is_whole: bool) -> Severity | None:
    """The severity of bytes of outputs that no block writes; None if they do not count, or some blocks do not run."""
    if isinstance(wanted, bool):  # the names of an earlier version
        wanted = "note" if wanted else "off"
    chosen = choice("unwritten", wanted, UNWRITTEN)
    if chosen == "error" and not is_whole:
        raise error("argument", "bytes that no block writes are known only when all blocks run")
    return cast("Severity", chosen) if chosen != "off" and is_whole else None


def _left(
    regions: Mapping[int, Region],
    severity: Severity,
    sifting: Sifted | None,
    judged: Collection[int],
    observation: Observation | None,
) -> Sequence[Diagnostic]:
    """Bytes that no block writes. Nothing is said where some block was cut short, or was not run any more."""
    from ptosim.sanitize.unwritten import Written, unwritten

    if observation is not None and (not observation.is_complete or observation.last is not None):
        return ()
    sides: list[Written] = [] if sifting is None else [sifting.written(judged)]
    if observation is not None:
        sides.append(observation.global_memory.written())
    return list(unwritten(regions, sides, severity))


def _judged(
    kernel: Kernel, launch: Launch, mem_bar: MemBar, sifting: Sifted, most: int | None = None
) -> tuple[Observation, set[int], Lines]:
    """Findings of the blocks that have to be judged, and of those that they meet in GM; which blocks these are, and
    their printed lines.
    """
    blocks = set(sifting.blocks)
    while True:
        lines: Lines = {block: [] for block in blocks}
        observation = observed(kernel, noting(lines, launch), mem_bar, sorted(blocks), most, overwrites=True)
        more = sifting.meeting(blocks, observation.global_memory.meets)
        if not more:
            return observation, blocks, lines
        blocks |= more
        launch = replace(launch, found=None)  # what was told once need not be told again


def sifted(kernel: Kernel, launch: Launch, blocks: Sequence[int]) -> Sifted | None:
    """The blocks that may have a finding, as compiled code sees it; None if it cannot tell."""
    sieve = kernel.sieve()
    return None if isinstance(sieve, str) else sieve.sift(launch.native(), blocks)


def _trials(
    kernel: Kernel, launch: Launch, mem_bar: MemBar, blocks: Sequence[int], concerned: Collection[int]
) -> Trials:
    """The trials of edited texts."""
    from ptosim.order.replay.comparison import Baseline, ReplayStanding
    from ptosim.repair.larger_launches import enlargements
    from ptosim.repair.trials import Trials

    together = kernel.program.cross_block
    loaded = lru_cache(maxsize=2)(partial(reloaded, kernel))  # one that is clean is run several times in succession

    def trial(launched: Callable[[], Launch], chosen: Sequence[int]) -> Trial:
        def check_text(text: str, enough: frozenset[str] = frozenset()) -> Observation | None:
            subject = loaded(text)
            if subject is None:
                return None
            return observed(subject, launched(), mem_bar, chosen, None, enough, overwrites=not enough)

        return check_text

    def proof(text: str) -> bool | None:
        subject = loaded(text)
        verdict = None if subject is None else verdict_of(subject)
        return None if verdict is None or (verdict.undecided and not verdict.broken) else verdict.proven

    @cache
    def baseline() -> Baseline:
        return Baseline(kernel.module.executable, kernel.program.entries)

    def standing(text: str) -> ReplayStanding:
        subject = loaded(text)
        if subject is None:
            return ReplayStanding.UNKNOWN
        return baseline().standing(subject.module.executable, subject.program.entries)

    part = [block for block in blocks if block in concerned or together] or blocks
    ends = range(launch.grid) if together else sorted({0, launch.grid - 1})
    ways = enlargements(kernel.signature, launch.arguments, list(kernel.program.entries.values()))
    return Trials(
        trial(lambda: launch, part),
        None if len(part) == len(blocks) else trial(lambda: launch, blocks),
        [[trial(lambda size=size: replace(launch, arguments=size()), ends) for size in way] for way in ways],
        proof,
        standing,
        partial(_completed, kernel),
    )


def _completed(kernel: Kernel, ends: Collection[Ends] | None) -> str | None:
    """The text without the flags between some pipes, or without any flags and buffers, and with what it then lacks."""
    from ptosim.order.ordering import CAREFUL
    from ptosim.order.strip import stripped, written_sync
    from ptosim.ordered_text import OrderDraft, prepared_without

    module, numbers = kernel.module.verified, set[int]()
    for (kind, *words), members in written_sync(module).items():
        named = frozenset(str(word).removeprefix("PIPE_") for word in words[:2])
        if kind != "barrier" if ends is None else kind == "flag" and named in ends:
            numbers.update(members)
    try:
        draft = OrderDraft(prepared_without(module, numbers), module, CAREFUL)
    except PTOError:
        return None
    return draft.text_without_addresses(stripped(module, numbers))


def observed(
    kernel: Kernel,
    launch: Launch,
    mem_bar: MemBar,
    blocks: Sequence[int],
    most: int | None = None,
    enough: frozenset[str] = frozenset(),
    overwrites: bool = False,
) -> Observation:
    """Run blocks of a launch under the sanitizer, on copies of its arguments. What the verifier said is left out."""
    from ptosim.language.analysis.data_cache import shares_ub
    from ptosim.sanitize.session import observe
    from ptosim.sanitize.undefined_and_racy import Subject

    arguments = launch.arguments
    regions, together = arguments.regions.all, kernel.program.cross_block
    shares = shares_ub(kernel.program.entries.values())
    subject = Subject(kernel.module.layout, regions, together, mem_bar, enough, overwrites, shares)

    first = iter([launch.say])  # a run that is repeated prints once

    def execute(observer: Observer) -> Run:
        return kernel.reference(replace(launch, arguments=arguments.copied(), say=next(first, None)), observer)

    said = {(warning.kind, warning.message, warning.line) for warning in kernel.module.outline.warnings}
    return observe(subject, execute, blocks, said, most, launch.found)
