"""Several ranks: symmetric memory, the arguments of each rank, launches that run together."""
