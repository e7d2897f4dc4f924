"""Measurements that compare side by side in one run: `python -m benchmarks`."""

import os

# NumPy's products take one thread, as the kernels beside them do. It reads these when it is imported first.
for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")
