"""What an observed run tells: accesses, entries, taint, watched lines."""
