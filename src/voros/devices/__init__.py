"""Arrays that stay where they are: what counting needs of torch, CuPy and the array API."""
