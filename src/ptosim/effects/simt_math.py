"""Mathematics and conversions of scalars: pure, one step each."""

from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint, table

NAMES = "absf sqrt exp log sin cos ceil floor rint round pow fmin fmax fma mulhi mul_i32toi64 prmt convert"

EFFECTS: dict[str, Effects] = table(Pipe.S, Taint.MOVEMENT, {"scalar": NAMES})
