"""The hospital experiments."""
