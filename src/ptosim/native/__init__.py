"""The fast engine: a kernel as LLVM IR text, compiled to an object that is kept on disk and runs on the host.

Rooms stand here, beside what several of them share (burst.py, fractals.py, quantisation.py …). What they build with

  ir/        LLVM IR under construction
    values.py         Type (I1 … I64, F16, F32, F64, PTR, .vector(n)); Value: operators append instructions, ints on
                      either side become constants, integer constants fold; .compare .select .zext .sext .trunc
                      .convert .bitcast; pointers have .at .load .store .copy_from .move_from .fill
    ranges.py         Range: what is known of an integer before the kernel runs; Value.range, by which values.py folds
    instructions.py   emit, intrinsic, constant, as_i64, slot, scratch, once; word(number) of the context
    flow.py           Function: for_loop, while_loop, each, nested, repeat, choose, either, when, call, finish; check,
                      access, settle; loops, the indices around
    module.py         Module.function(name, parameters, results, linkage), Module.site(description), Module.text()
    context.py        Word, Register, Status: the words that compiled code and the run time share
    instance.py       which of the entries that share a function runs
  vector/    registers and what is computed in their lanes
    registers.py      register_type, view, splat, shuffle, extract, insert, tree, permute, gather, lane_numbers; Mask,
                      full_mask, constant_mask, prefix_mask; zeroed, masked_store, any_lane
    avx512.py         look_up, scale, extremum, …: instructions of some processors, where Module.avx512 says so
    lanes.py          at_the_front, half_of, prefix_sums, moved_up, count_lanes, first_lane, each_lane, chosen
    numbers.py        widen, narrow, canonical: floats; rounding.py, value_conversion.py, elementary.py
  build/     from a verified kernel to its code
    lowering.py       what a lowering may ask for by the names of its parameters
    global_memory.py  locate, leaves_buffer: GM pointers
    issue.py          begin_entry, run_entry, call_entry; issue, nothing_stalled, core_word, cluster_word
    sharing.py        Entry, Entries: which entries are one function
    operations.py     Operation: what an issued number means to the scheduler, as data for the cache
  observe/   code that check and profile add

and what runs the result

  host/      the machine it runs on
    toolchain.py      compile_object(text, host), Program(image, symbols), Host, this_host().identity
    half.py           conversions of half for processors that have none; toolchain appends them
    cache.py          Cache(default_directory()): key, load, store, files, clear
  run/       running it
    cores.py          Executable, Invocation, Fault
    runtime.py        Runner(executable, target).run_apart(invocation, threads) or .run_together(invocation)

Rules for lowerings. A check does not branch: code goes on until it is tested, so what it guards has to be harmless when
it fails. `access` does that for on-chip memory; a divisor is replaced by a `select`; where there is nothing harmless
call `settle`, which tests at once. Values made inside a loop body or an arm are not used after it:
`once` knows that, a dictionary of one's own does not. Loops inside one instruction take no site: they are no steps; one
that may fail is a `repeat` or a `while_loop`, because the indices of `for_loop` are listed in errors as the kernel's.
"""
