"""FIFOs between cube and vector cores become signals, moves and counts."""
