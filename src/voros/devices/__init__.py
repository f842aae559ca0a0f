"""Arrays that stay where they are: what counting needs of torch, CuPy, JAX and the array API."""
