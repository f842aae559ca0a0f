"""Numpy and SciPy only: scenarios, points, regions, areas; nothing here reads files."""
