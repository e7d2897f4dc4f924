"""The time of a run: vector functions, pipes and their waits, the critical path. Never what it computes."""
