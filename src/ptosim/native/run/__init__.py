"""Running compiled code: memories and contexts of cores, threads, and what a failure means."""
