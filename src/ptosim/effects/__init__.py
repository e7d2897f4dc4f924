"""What each instruction touches: plain records and geometry, keyed by operation name, read by every other floor."""
