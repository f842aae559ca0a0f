"""Counting on a device, with arrays of torch, CuPy and the array API standard."""
