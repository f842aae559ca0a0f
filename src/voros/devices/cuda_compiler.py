"""CUDA kernels, compiled by torch at run time and launched through the driver.

Torch's launch opens the driver's library and casts every argument, which takes longer than a small
kernel.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from importlib.resources import files
from typing import Any

import torch


class Kernel:
    """A compiled kernel.

    Parameters
    ----------
    handle : ctypes.c_void_p
        The driver's handle.
    device : int
        The device for which it was compiled.
    """

    def __init__(self, handle: Any, device: int) -> None:
        self._handle, self._device = handle, device
        self._driver = ctypes.CDLL("libcuda.so.1")

    def __call__(self, n_blocks: int, n_threads: int, *arguments: Any) -> None:
        """Launch the kernel on the current stream; tensors are passed as pointers."""
        values = [_in_c(argument) for argument in arguments]
        addresses = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        grid, block = (n_blocks, 1, 1), (n_threads, 1, 1)
        stream = ctypes.c_void_p(_current_stream(self._device))
        status = self._driver.cuLaunchKernel(
            self._handle, *grid, *block, 0, stream, addresses, None
        )
        if status:
            raise RuntimeError(f"the CUDA driver refused to launch a kernel: error {status}")


def _current_stream(device: int) -> int:
    quick = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    if quick is not None:
        return int(quick(device))
    return int(torch.cuda.current_stream(device).cuda_stream)


def _in_c(value: Any) -> Any:
    if isinstance(value, int):
        return ctypes.c_int(value)
    if isinstance(value, float):
        return ctypes.c_double(value)
    return ctypes.c_void_p(value.data_ptr())


def compiled(file: str, name: str) -> Kernel | None:
    """Return a kernel of a file beside this module, for the current device.

    None if this version of torch cannot compile it.
    """
    return _compiled(file, name, torch.cuda.current_device())


@lru_cache(maxsize=32)
def _compiled(file: str, name: str, device: int) -> Kernel | None:
    compile_kernel = getattr(torch.cuda, "_compile_kernel", None)
    if compile_kernel is None:
        return None
    source = files("voros.devices").joinpath(file).read_text(encoding="utf-8")
    try:
        return Kernel(compile_kernel(source, name).func, device)
    except (AttributeError, OSError, RuntimeError):
        return None
