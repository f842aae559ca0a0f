"""Bootstrap intervals for scores, expected cost and thresholds."""
