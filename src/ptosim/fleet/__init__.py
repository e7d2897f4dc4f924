"""Many kernels on many machines: sweeps and tuning on Dask, with rows in Parquet."""
