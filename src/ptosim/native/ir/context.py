"""The block of 64-bit words through which compiled code and the run time meet; one per core that runs.

Its address is the first argument of every compiled function, and both sides count in words of this page. Which
instruction reads or writes a register is said where that instruction is lowered.
"""

from enum import IntEnum

from ptosim.effects.configuration import FIELDS
from ptosim.effects.names import Space

WORD_BYTES = 8
LOOPS_RECORDED = 32  # indices of the outermost loops that an error carries
KEPT_BYTES = 1 << 20  # words of workitems by slot, 128 slots of 2,048 workitems
PERSISTENT_BYTES = 16 << 20  # private buffers that survive a launch
WORKSPACE_BYTES = 9 << 18  # both operands of a matrix product as doubles: of 4-bit values, 1 MiB each and some padding


class Status(IntEnum):
    """The result of a compiled function: whether its caller may go on."""

    DONE = 0
    FAILED = 1  # the FAULT words say what happened
    STOPPED = 2  # the stop word was set, or the scheduler ended the run
    PAUSED = 3  # between two blocks: the run time has something to do before the next


class ContextWord(IntEnum):
    """The offset of each word of a context."""

    STOP = 0  # address of a word that another thread sets when compiled code is to leave at its next iteration or call
    STEPS = 1  # loop iterations and calls that may still begin
    BLOCK = 2
    BLOCK_NUM = 3
    SUBBLOCK = 4
    SUBBLOCK_NUM = 5
    ARGUMENTS = 6  # address of one word per parameter: a GM pointer in its integer form, or the bits of a scalar
    BUFFERS = 7  # address of two words per buffer behind the arguments, base and bytes; number 0 is empty
    BUFFER_NUM = 8  # the highest number of a buffer
    CORE_SYNC = 9  # addresses of the sync words of this core
    CLUSTER_SYNC = 10  # and of its cluster, which belong to the machine floor
    ISSUE = 11  # address of the routine for an operation that does not happen inline: (operation, captured) -> Status
    UB = 12  # addresses of the memories that this core sees, or 0
    L1 = 13
    L0A = 14
    L0B = 15
    L0C = 16
    BT = 17
    FB = 18
    FB_RELU = 19
    SCALE_A = 20
    SCALE_B = 21
    UB_OF_AIV0 = 22  # what the cube core writes to across the cluster
    UB_OF_AIV1 = 23
    FAULT = 24  # number of the failing site
    FAULT_VALUE = 25  # what that site found wrong: an address, a divisor, an id
    FAULT_DETAIL = 26  # and what else it has to say: an extent
    FAULT_DEPTH = 27  # how many loops it was in,
    FAULT_LOOPS = 28  # and their indices, outermost first
    WORKSPACE = 60  # address of memory for the length of one cube instruction
    REGISTERS = 64  # special registers, by `Register`, and fields of configuration registers
    HANDOUT = 104  # address of two words that all threads of a run share: the next block, and the last that may begin
    PAUSE = 105  # so many blocks from now compiled code pauses
    ATTENDED = 106  # not 0: the scheduler takes part in this block, and code pauses after it
    MAX_STEPS = 107  # what STEPS is at the start of a block
    CLEARED = 108  # address of two words per stretch of memory that a block finds zero, base and bytes
    CLEARED_NUM = 109
    RESET = 110  # address of the contents of registers at the start of a block
    PROGRAM = 111  # addresses of the scalar program of a block with one core,
    READ = 112  # and of the routine that moves rows (routines/row_transfer.py)
    STREAM = 113
    EXP = 114  # of e^x for a register of f32 (elementary.py); not called where there is no AVX-512
    READS = 115  # of each of READS_FOLLOWED copies: where it last read, where it may read next, and how many bytes
    OBSERVED = 127  # addresses of the notes of an observed kernel (observe/) for this core, or 0,
    OBSERVED_CLUSTER = 128  # for its cluster,
    OBSERVED_AIV0 = 129  # and for other cores of it
    OBSERVED_AIV1 = 130
    RECORD = 131  # address of the routine that notes accesses to GM (observe/records.py)
    READABLE = 132  # bits by the number of a buffer: whether an observed kernel may read it (observe/stand_ins.py),
    WRITABLE = 133  # and whether it may write to it
    WORKITEMS = 134  # address of the words that workitems of this core keep from launch to launch
    FAULT_LANES = 135  # bits of the lanes of a warp that fail,
    FAULT_WARP = 136  # and the number of the warp
    SIMT_SIZES = 137  # the three dimensions of the launch that runs
    SIMT_CHANGES = 140  # goes up with whatever another round of a loop of workitems may notice
    STAMPS = 141  # address of the stamps of workitems (observe/workitem_memory.py), in code that is checked


class Register(IntEnum):
    """Registers that outlive one instruction, before the fields of the configuration registers. All are reset at the
    start of a block."""

    CTRL = 0
    AR = 1  # byte address accumulator of vstur and vstar
    SQZN = 2  # bytes kept by the last vsqz or vusqz
    VMS4_SR = 3  # finished counts of the last vmrgsort4
    SCOPE_CTRL = 4  # CTRL as it was when the vector scope that is running was launched
    SIMT_COUNT = 5  # how many workitems the last launch had,
    SIMT_KEPT = 6  # and bits of the slots that it has kept: the first 64,
    SIMT_KEPT_BEHIND = 7  # and the others


MEMORIES = {space: ContextWord[space.name] for space in Space if space is not Space.GM}
UB_OF = {"aiv0": ContextWord.UB_OF_AIV0, "aiv1": ContextWord.UB_OF_AIV1}
REGISTER_ROOM = 40  # words
READS_FOLLOWED = 4
BUFFER_BITS = 64  # of READABLE and WRITABLE: the last stands for all buffers beyond; buffer 0 is none
WORDS = ContextWord.STAMPS + 1  # the whole context


_FIELDS = tuple(FIELDS)


def register_word(register: Register | str) -> int:
    """The word of a register, or of a field of a configuration register."""
    return ContextWord.REGISTERS + (len(Register) + _FIELDS.index(register) if isinstance(register, str) else register)


_SATURATING = 1 << 48  # conversions, in CTRL
_AT_RESET = [_SATURATING, *[0] * (len(Register) - 1), *(register.start[number] for register, number in FIELDS.values())]
REGISTERS_AT_RESET = tuple(_AT_RESET + [0] * (REGISTER_ROOM - len(_AT_RESET)))
