"""The machine: cores, pipe queues, synchronisation, schedules, clocks, memory description. No NumPy, no LLVM, no xDSL.

Both engines drive it. An engine supplies `program(core)`, the scalar code of one core; every instruction that is an
entry of a pipe goes through a method of `Core`, which decides when it happens. Values, registers and memory contents
belong to the engines; shadow, findings and cycles to the observers.

Running (scheduler.py, launch.py)
    Launch(kind: KernelKind, blocks: int)                 KernelKind.VECTOR | CUBE | MIXED
        .places(block) -> tuple[Place, ...]               Place: name ("b0.aiv0"), kind, block, subblock, block_num, subblock_num
    Scheduler(target, launch, program, *, schedule="program", observer=None, reachable=None, stop=None)
        .run_block(block)                                 one block; call it for each block in turn
        .run_grid()                                       all blocks at once: kernels with cross-block synchronisation
        .stopping -> bool                                 true once `stop` was requested: engines poll it in loops
    Stop()    .request(), .requested, .word: array("q")   compiled code polls word[0] != 0
    Stopped                                               raised inside a program to unwind it (stop, deadlock under check)
    reachable(core: Core, key: Key) -> bool               engine: may the SU, from where it stands, still issue an operation
                                                          that sets `key`? key.written are the ids as that core spells them

Core (core.py), for `program`; every method takes the Site first
    .name .kind .block .subblock .block_num .subblock_num .index .observer
    .words: array("q"), .cluster_words: array("q")        sync state, layout and inline rules in sync.py
    .loops: list[int]                                     the engine keeps its current loop indices here (observed runs)
    .operations: int                                      the engine counts scalar operations here (observed runs)
    .current: Entry | None                                the entry whose start/finish is being called (observed runs)
    .work(pipe, site, start, finish=None, facts=None)     start() -> payload; finish(payload)
    .set_flag(site, src, dst, id)                         .wait_flag(site, src, dst, id)
    .get_buffer(site, pipe, id, mode=0)                   .release_buffer(site, pipe, id, mode=0)
    .barrier(site, pipe)                                  Pipe.ALL stops the SU until every pipe is empty
    .semaphore_set(site, pipe, id, form)                  .semaphore_wait(site, pipe, id, form)
                                                          pipe = Pipe.ALL: the forms with an i64 first operand
    .syncall(site, kinds: frozenset[CoreKind])            .dsb(site)
    .scalar_load(site) -> Entry, .scalar_store(site) -> Entry      only in observed runs: the entry to name in load/store
    `finish_program` happens by itself when `program` returns.
    Form (sync.py): SYNC (sync.set/wait, mode 2 or none), INTRA_BLOCK, CROSS_CORE, VECTOR_PAIR (ffts_mode 1), CROSS_BLOCK

Entries (entry.py)
    Site(name, location=None, pipe=Pipe.S, scope=None)    static: one per operation of the kernel
    Entry: site pipe core n kind key mode loops operations facts payload consumed clock data
    Kind: WORK SET WAIT GET RELEASE BARRIER LOAD STORE STEP DRAIN    Key(mechanism, id, source, destination, written)

Observing (observer.py): Observer protocol and `Silent`, the one that does nothing; Footprint(space, core, starts, width).
Clocks (clock.py): entry.clock, `ordered(a, b)`.
Deadlock (deadlock.py): Deadlock(heads, roots), Blocked, Root, `diagnostics(deadlock)`.
Memory (memory.py): space_size(target, space), Argument, pointer(argument, offset), decode(pointer), bounds and alignment errors.
"""
