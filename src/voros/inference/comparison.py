"""Paired comparison of models on the same resamples."""
