"""Measures of the project itself: its size, the faults that its tests catch, the picture of its floors."""
