"""Resamples as weights over cases that are sorted once."""
