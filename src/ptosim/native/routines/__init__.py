"""Code that several rooms emit: products, rows, streams, stores of accumulators."""
