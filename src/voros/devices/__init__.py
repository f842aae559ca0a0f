"""Arrays that stay where they are: what counting needs of torch, CuPy, JAX and the array API.

`library_of` names the library of an array that does not lie in the memory of the host. The
counting itself, the checks and the metrics are in `voros.core`.
"""

from voros.devices.libraries import Library, library_of, on_device

__all__ = ["Library", "library_of", "on_device"]
