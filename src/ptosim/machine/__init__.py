"""The machine: cores, pipe queues, synchronisation, schedules, clocks, memory description. No NumPy, no LLVM, no xDSL.

Both engines drive it. An engine supplies `program(core)`, the scalar code of one core; every instruction that is an
entry of a pipe goes through a method of `Core`, which decides when it happens. Values, registers and memory contents
belong to the engines; shadow, findings and cycles to the observers.

Running (scheduler.py, launch.py)
    Launch(kind: KernelKind, blocks: int)              KernelKind.VECTOR | CUBE | MIXED
        .places(block) -> tuple[Place, ...]            Place: kind, block, block_num, subblock, subblock_num, role, name
    Scheduler(target, launch, program, *, schedule="program", observer=None, reachable=None, stop=None)
        .run_block(block)                              one block; call it for each block in turn
        .run_grid()                                    all blocks at once: kernels that synchronise across blocks
        .stopping -> bool                              true once `stop` was requested: engines poll it in loops
    Stop()    .request(), .requested, .word            compiled code polls word[0] != 0 (an array("q") of one)
    Stopped                                            unwinds a program; an engine raises it when it sees `stopping`
    reachable(core: Core, key: Key) -> bool            engine: may the SU, from where it stands, still issue something
                                                       that sets `key`? key.written: the ids as that core spells them

Core (core.py), for `program`
    .name .role .kind .block .subblock .block_num .subblock_num .target .observer
    .index                                             unique in the launch
    .words, .cluster_words                             sync state, array("q"); layout and inline rules in sync.py
    .loops: list[int]                                  the engine keeps its current loop indices here (observed runs)
    .operations: int                                   the engine counts scalar operations here (observed runs)
    .current: Entry | None                             the entry whose start/finish is being called (observed runs)
    .work(pipe, site, start, finish=None, facts=None)  start() -> payload; finish(payload)
    .set_flag(site, src, dst, event)                   .wait_flag(site, src, dst, event)
    .set_token(site, src, dst, number)                 .wait_token(site, src, dst, number)
    .get_buffer(site, pipe, buffer, mode=0)            .release_buffer(site, pipe, buffer, mode=0)
    .barrier(site, pipe)                               Pipe.ALL stops the SU until every pipe is empty
    .tsync(site, ranges)                               waits for what touches these bytes
    .semaphore_set(site, pipe, number, form)           .semaphore_wait(site, pipe, number, form)
                                                       Pipe.ALL: the spellings with an i64 first operand
    .syncall(site, kinds: frozenset[CoreKind])         .dsb(site)
    .scalar_load(site), .scalar_store(site) -> Entry   in observed runs: the entry to name in Observer.load and .store
    When `program` returns, the core's pipes are drained.
    Form (sync.py): SYNC (sync.set/wait without a mode or with 2), INTRA_BLOCK, CROSS_CORE, VECTOR_PAIR (ffts_mode 1),
    CROSS_BLOCK (ffts_mode 0)

Entries (entry.py)
    Site(name, location, pipe, scope, number, served)   static: one per operation of the kernel
    Entry: site pipe core n kind key mode loops operations facts payload consumed clock data
    Kind: WORK SET WAIT GET RELEASE BARRIER, and of the SU: LOAD STORE FENCE DRAIN
    Key(mechanism, id, source, destination, written)

Observing (observer.py): Observer, to derive from; Footprint(space, owner, starts, width).
    Observer.closeness says whether it wants each access, or only what entries do.
Clocks (clock.py): entry.clock; ordered(first, second) -> bool.
Deadlock (deadlock.py): Deadlock(heads, roots), Blocked, Release, Root, diagnostics(deadlock), describe(deadlock, head).
Memory (memory.py): Region(index, name, size, ..), Regions, pointer(number, offset), decode(address),
    outside(..), misaligned(..) -> what to say of an access.
"""
