"""FIFOs between the cube core and the vector cores: declared once, opened by each end, filled and emptied by calls."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects.builtin import BoolAttr, i32, i64
from xdsl.ir import Attribute, SSAValue

from ptosim.author.coerce import index, integer_attribute, scalar_value, whole
from ptosim.author.dtypes import type_of
from ptosim.author.failures import WrongPlace, WrongType, failure
from ptosim.author.trace import not_in_tileop
from ptosim.author.values import Traced, ViewValue, wrap
from ptosim.language.catalogue import operation
from ptosim.language.tile.tile_types import TileBufType, ViewExtents

C2V, V2C = 1, 2
_ENDS = {C2V: ("aiv", "aic"), V2C: ("aic", "aiv")}
"""The core that an entry goes to, and the one that it comes from."""


@dataclass(frozen=True)
class FifoStorage:
    """The memory of the entries of a FIFO."""

    gm_slot_buffer: Any = None
    gm_slot_tensor: Any = None
    c2v_consumer_buf: Any = None
    v2c_consumer_buf: Any = None


class AuthoredFifo:
    """A FIFO, in one direction or both. Declaring it emits nothing."""

    def __init__(self, directions: int, id: Any, slot_size: Any, storage: FifoStorage, **options: Any) -> None:
        self._directions = directions
        self._id = whole(id, "id of a FIFO")
        self._storage = storage
        self._options = options
        tensor = storage.gm_slot_tensor
        if tensor is None and slot_size is None:
            raise failure(WrongType, "a FIFO takes slot_size, the bytes of an entry")
        self._slot_size = _bytes(tensor) if slot_size is None else whole(slot_size, "slot_size")

    @property
    def slot_type(self) -> Attribute | None:
        """The view that an entry in global memory is."""
        tensor = self._storage.gm_slot_tensor
        return None if tensor is None else tensor.ssa.type

    def init_cube(self) -> None:
        """Open the end of the cube core."""
        self._open("aic")

    def init_simd(self) -> None:
        """Open the end of a vector core."""
        self._open("aiv")

    init_vector = init_simd

    def _open(self, core: str) -> None:
        kind = operation(f"pto.{core}_initialize_pipe")
        assert kind is not None
        given = self._storage
        operands: dict[str, SSAValue | None] = {
            "gm_slot_buffer": _ssa(given.gm_slot_buffer),
            "gm_slot_tensor": _ssa(given.gm_slot_tensor),
        }
        for role in ("c2v_consumer_buf", "v2c_consumer_buf"):
            value = getattr(given, role)
            operands[role] = None if value is None else scalar_value(value, i32, role)
        numbers = {"id": self._id, "dir_mask": self._directions, "slot_size": self._slot_size}
        numbers |= {
            name: given for name in ("slot_num", "local_slot_num") if (given := self._options[name]) is not None
        }
        properties: dict[str, Attribute | None] = {
            name: integer_attribute(number, i64, name) for name, number in numbers.items()
        }
        if (nosplit := self._options["nosplit"]) is not None:
            properties["nosplit"] = BoolAttr.from_bool(bool(nosplit))
        not_in_tileop("a FIFO").make(kind, operands, (), properties)

    # --- one direction ------------------------------------------------------------------------------------------------

    def _one(self) -> tuple[str, str]:
        if self._directions not in _ENDS:
            raise failure(WrongPlace, "a FIFO of both directions is used through its .c2v and .v2c")
        return _ENDS[self._directions]

    def _entry(self, split: Any) -> dict[str, Attribute | None]:
        return {"id": integer_attribute(self._id, i64, "id"), "split": integer_attribute(split, i64, "split")}

    def alloc(self, split: Any = 0) -> Any:
        """The next entry in global memory, to be stored to and pushed."""
        to, _ = self._one()
        if self.slot_type is None:
            raise failure(WrongPlace, "alloc is for a FIFO with gm_slot_tensor; others push a tile")
        kind = operation(f"pto.talloc_to_{to}")
        assert kind is not None
        return wrap(
            not_in_tileop("alloc").make(kind, {}, [self.slot_type], self._entry(split), name="entry").results[0]
        )

    def push(self, entry: Any, split: Any = 0) -> None:
        """Give the next entry to the other end."""
        to, _ = self._one()
        kind = operation(f"pto.tpush_to_{to}")
        assert kind is not None
        if not isinstance(entry, Traced):
            raise failure(WrongType, f"push takes a tile, or the view that alloc gave, not {entry!r}")
        not_in_tileop("push").make(kind, {"entry": entry.ssa}, (), self._entry(split))

    def pop(
        self,
        split: Any = 0,
        result_type: Any = None,
        *,
        valid_shape: Any = None,
        valid_row: Any = None,
        valid_col: Any = None,
    ) -> Any:
        """The next entry from the other end."""
        _, source = self._one()
        kind = operation(f"pto.tpop_from_{source}")
        assert kind is not None
        if result_type is None and self.slot_type is None:
            raise failure(WrongType, "pop takes result_type, the type of the tile that arrives: pto.tile_type(…)")
        type_ = self.slot_type if result_type is None else type_of(result_type, "result_type")
        if valid_shape is not None:
            valid_row, valid_col = valid_shape
        operands: dict[str, SSAValue | None] = {}
        if valid_row is not None or valid_col is not None:
            operands = {"valid_row": index(valid_row, "valid_row"), "valid_col": index(valid_col, "valid_col")}
            if isinstance(type_, TileBufType):
                type_ = TileBufType(replace(type_.data, valid=(None, None)))
        assert type_ is not None
        made = not_in_tileop("pop").make(kind, operands, [type_], self._entry(split), name="entry")
        return wrap(made.results[0])

    def free(self, entry: Any = None, split: Any = 0) -> None:
        """Give the slot of an entry back."""
        _, source = self._one()
        kind = operation(f"pto.tfree_from_{source}")
        assert kind is not None
        if isinstance(entry, int) and not isinstance(entry, bool):
            entry, split = None, entry
        if self.slot_type is not None and entry is None:
            raise failure(WrongType, "free of a FIFO with gm_slot_tensor takes the entry")
        operands = {"entry": _ssa(entry)} if self.slot_type is not None else {}
        not_in_tileop("free").make(kind, operands, (), self._entry(split))


class BidirectionalFifo(AuthoredFifo):
    """A FIFO of both directions, which are used through .c2v and .v2c."""

    @property
    def c2v(self) -> AuthoredFifo:
        """From the cube core to the vector cores."""
        return AuthoredFifo(C2V, self._id, self._slot_size, self._storage, **self._options)

    @property
    def v2c(self) -> AuthoredFifo:
        """From the vector cores to the cube core."""
        return AuthoredFifo(V2C, self._id, self._slot_size, self._storage, **self._options)


def _ssa(value: Any) -> SSAValue | None:
    if value is None:
        return None
    if not isinstance(value, Traced):
        raise failure(WrongType, f"the slots of a FIFO are a pointer or a view of global memory, not {value!r}")
    return value.ssa


def _bytes(view: Any) -> int:
    """The bytes of an entry that is a view."""
    if not isinstance(view, ViewValue):
        raise failure(WrongType, f"gm_slot_tensor is a view, not {view!r}")
    data: ViewExtents = view.ssa.type.data  # type: ignore[attr-defined]
    total = view.dtype.bytes
    for extent in data.shape:
        if extent is None:
            raise failure(WrongType, "the entries of gm_slot_tensor have static shapes; otherwise give slot_size")
        total *= extent
    return total


class FifoDirections:
    """`pto.pipe`: makes FIFOs."""

    def c2v(
        self,
        *,
        id: Any,
        slot_size: Any = None,
        consumer_buf: Any = None,
        gm_slot_buffer: Any = None,
        gm_slot_tensor: Any = None,
        local_slot_num: Any = None,
        nosplit: Any = None,
        slot_num: Any = None,
    ) -> AuthoredFifo:
        """From the cube core to the vector cores."""
        _exclude(gm_slot_tensor, consumer_buf, gm_slot_buffer, local_slot_num)
        storage = FifoStorage(gm_slot_buffer, gm_slot_tensor, c2v_consumer_buf=consumer_buf)
        return AuthoredFifo(C2V, id, slot_size, storage, **_options(local_slot_num, nosplit, slot_num))

    def v2c(
        self,
        *,
        id: Any,
        slot_size: Any = None,
        consumer_buf: Any = None,
        gm_slot_buffer: Any = None,
        gm_slot_tensor: Any = None,
        local_slot_num: Any = None,
        nosplit: Any = None,
        slot_num: Any = None,
    ) -> AuthoredFifo:
        """From the vector cores to the cube core."""
        _exclude(gm_slot_tensor, consumer_buf, gm_slot_buffer, local_slot_num)
        storage = FifoStorage(gm_slot_buffer, gm_slot_tensor, v2c_consumer_buf=consumer_buf)
        return AuthoredFifo(V2C, id, slot_size, storage, **_options(local_slot_num, nosplit, slot_num))

    def bidirectional(
        self,
        *,
        id: Any,
        slot_size: Any = None,
        c2v_consumer_buf: Any = None,
        v2c_consumer_buf: Any = None,
        gm_slot_buffer: Any = None,
        gm_slot_tensor: Any = None,
        local_slot_num: Any = None,
        nosplit: Any = None,
        slot_num: Any = None,
    ) -> BidirectionalFifo:
        """Both ways."""
        _exclude(gm_slot_tensor, c2v_consumer_buf, v2c_consumer_buf, gm_slot_buffer, local_slot_num)
        storage = FifoStorage(gm_slot_buffer, gm_slot_tensor, c2v_consumer_buf, v2c_consumer_buf)
        return BidirectionalFifo(C2V | V2C, id, slot_size, storage, **_options(local_slot_num, nosplit, slot_num))


def _options(local_slot_num: Any, nosplit: Any, slot_num: Any) -> dict[str, Any]:
    return {"local_slot_num": local_slot_num, "nosplit": nosplit, "slot_num": slot_num}


def _exclude(tensor: Any, *others: Any) -> None:
    if tensor is not None and any(each is not None for each in others):
        message = "gm_slot_tensor says where entries lie: it excludes consumer_buf, gm_slot_buffer and local_slot_num"
        raise failure(WrongType, message)


pipe = FifoDirections()
