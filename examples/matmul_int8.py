"""An int8 layer with a scale and an offset for each channel."""

import numpy as np
from showing import Launch, show

DEPTH, COLUMNS = 128, 64
SIGNED = 1 << 46


def words(scale: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Quantisation words: the scale as f32 without its last 13 bits, the offset in nine bits, results with a sign."""
    cut = scale.astype(np.float32).view(np.uint32) & np.uint32(0xFFFFE000)
    return cut.astype(np.uint64) | (offset & 0x1FF).astype(np.uint64) << np.uint64(37) | np.uint64(SIGNED)


def launch(rows: int = 100) -> Launch:
    random = np.random.default_rng(0)
    a = random.integers(-128, 128, (rows, DEPTH)).astype(np.int8)
    b = random.integers(-128, 128, (DEPTH, COLUMNS)).astype(np.int8)
    scale = (1 + random.integers(0, 1024, COLUMNS) / 1024) / 2048
    offset = random.integers(-20, 21, COLUMNS)
    total = (a.astype(np.int64) @ b.astype(np.int64)) * scale + offset
    wanted = np.clip(np.rint(total.astype(np.float32)), -128, 127).astype(np.int8)
    arguments = a, b, words(scale, offset), np.zeros((rows, COLUMNS), np.int8), rows
    return Launch(arguments, {3: wanted}, grid=-(-rows // 64))


if __name__ == "__main__":
    show(__file__, launch())
