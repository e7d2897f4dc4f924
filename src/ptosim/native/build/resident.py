"""Code that all kernels share, called through addresses in the context: compiled once for a host and kept in the cache.

In every kernel's object it would be a tenth of the compile time. Where the cache has it, nothing is built or compiled.
"""

from __future__ import annotations

from functools import cache
from threading import Lock

from ptosim.native.host.cache import Compiled
from ptosim.native.host.library import find_resident, keep_resident
from ptosim.native.host.toolchain import LoadedObject, compile_object, this_host
from ptosim.native.observe.routines import SYMBOLS as SYMBOLS_OF_TIME

BLOCKS, READ, STREAM, EXP = _OF_ALL = ("run_blocks", "read_row", "stream_row", "exp_lanes")
RECORDS = {False: "record", True: "record_of_cluster"}
"""By whether the kernel has several cores."""
SYMBOLS = (*_OF_ALL, *RECORDS.values(), *SYMBOLS_OF_TIME.values())


_ONE_AT_A_TIME = Lock()


def resident() -> LoadedObject:
    """The code in memory, linked once for the process.

    Threads that start cores at the same time must get the same one: another would be unmapped as soon as no owner is
    left, while cores keep its addresses.
    """
    with _ONE_AT_A_TIME:
        return _linked()


@cache
def _linked() -> LoadedObject:
    compiled = find_resident()
    if compiled is None:
        compiled = Compiled(_compile(), None)
        keep_resident(compiled)
    return LoadedObject(compiled.image, SYMBOLS)


def _compile() -> bytes:
    from ptosim.native.build.blocks import build_blocks
    from ptosim.native.ir.module import ObjectModule
    from ptosim.native.observe.records import build_record
    from ptosim.native.observe.timekeeping import build_timekeeping
    from ptosim.native.routines.row_transfer import build_read, build_stream
    from ptosim.native.vector.elementary import build_exp

    module = ObjectModule(this_host().has_avx512)
    for build, name in ((build_blocks, BLOCKS), (build_read, READ), (build_stream, STREAM), (build_exp, EXP)):
        build(module, name)
    for is_mixed, name in RECORDS.items():
        build_record(module, name, is_mixed)
    build_timekeeping(module)
    return compile_object(module.text())
