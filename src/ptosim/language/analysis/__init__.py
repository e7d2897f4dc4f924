"""Facts about a program that nothing changes: value flow, reachable signals, dependences, kernels."""
