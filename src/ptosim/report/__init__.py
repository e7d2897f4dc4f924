"""What users hold: check reports and profiles, and their forms."""
