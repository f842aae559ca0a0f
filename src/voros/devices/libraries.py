"""Operations on arrays of any library.

The array API standard has sorting, searching and indexing. It has neither ``bincount`` nor a way to
the host that every library offers; each library has its own.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voros.core.counting import blocks_of
from voros.core.places import package_of
from voros.installing import missing_package

HostArray = NDArray[Any]

DEVICE_BLOCK = 2**26
"""Cases processed at once, to limit the memory of intermediate arrays."""

SMALL_TYPES = ("float16", "bfloat16", "int8", "int16", "uint8", "bool")
"""Types compared as float32 or int32, which hold all their values."""

AT_ONCE = 2**24
"""Cases up to which intermediate arrays of all cases are small."""


class Library:
    """The operations that counting needs, by the array API standard.

    Parameters
    ----------
    namespace : module
        The standard's functions for these arrays.
    device : object
        The library's name of the device.
    """

    name = "array API"
    hulls: ModuleType | None = None

    def __init__(self, namespace: ModuleType, device: Any) -> None:
        self.xp: Any = namespace
        self.device = device

    def __eq__(self, other: object) -> bool:
        """Whether arrays of both can be combined."""
        return isinstance(other, Library) and self._key == other._key

    def __hash__(self) -> int:
        """Return a hash consistent with equality."""
        return hash(self._key)

    @property
    def _key(self) -> tuple[str, str]:
        return self.name, str(self.device)

    def __repr__(self) -> str:
        """Name the library and the device."""
        return f"{self.name} on {self.device}"

    def detach(self, array: Any) -> Any:
        """Return an array without its gradients."""
        return array

    def to_host(self, array: Any) -> HostArray:
        """Copy a small array to the host."""
        return np.asarray(array.to_device(self.xp.Device("CPU_DEVICE")))

    def from_host(self, array: HostArray) -> Any:
        """Copy a small array to the device."""
        return self.xp.asarray(np.array(array, order="C"), device=self.device)

    def type_name(self, array: Any) -> str:
        """Return the name of an array's type, such as ``float32``."""
        return str(array.dtype).rpartition(".")[2].strip("'>")

    def comparable(self, values: Any) -> Any:
        """Return values, in the same order, in a type that numpy and searches accept."""
        name = self.type_name(values)
        if name not in SMALL_TYPES:
            return values
        return self.xp.astype(values, self.xp.float32 if "float" in name else self.xp.int32)

    def ends(self, values: Any) -> tuple[Any, Any]:
        """Return the least and the greatest value, on the device; NaN if there is one."""
        return self.xp.min(values), self.xp.max(values)

    def extremes(self, values: Any, marks: Any = None) -> tuple[Any, Any, int]:
        """Return the least and the greatest value as Python numbers, and the number of marks set.

        Without marks, the values that equal one of the two are counted.
        """
        low, high = (self.to_host(self.comparable(end)).item() for end in self.ends(values))
        counted = (values == end for end in {low, high}) if marks is None else [marks]
        return low, high, sum(map(self.count_true, counted))

    def count_true(self, marks: Any) -> int:
        """Count the marks set, in blocks, because some libraries count in 32 bits."""
        blocks = (marks[block] for block in blocks_of(marks.shape[0], DEVICE_BLOCK))
        return sum(int(self.xp.count_nonzero(block)) for block in blocks)

    def search(self, sorted_values: Any, values: Any, side: str) -> Any:
        """Return where values would be inserted into sorted ones."""
        return self.xp.searchsorted(sorted_values, values, side=side)

    def sort(self, values: Any) -> Any:
        """Return values in rising order."""
        return self.xp.sort(values)

    def version(self, array: Any) -> int | None:  # noqa: ARG002
        """Return the number of writes to an array, if its library counts them."""
        return None

    def where_true(self, marks: Any) -> Any:
        """Return the positions of the marks that are set."""
        return self.xp.nonzero(marks)[0]

    def take(self, values: Any, positions: Any) -> Any:
        """Return values at positions."""
        return self.xp.take(values, positions, axis=0)

    def starts(self, ordered: Any) -> Any:
        """Return the first position of each distinct one of ordered values."""
        if ordered.shape[0] == 0:
            return self.from_host(np.empty(0, dtype=np.int32))
        changes = self.where_true(ordered[1:] != ordered[:-1]) + 1
        start = self.xp.zeros(1, dtype=changes.dtype, device=self.device)
        return self.xp.concat([start, changes])

    def tally(self, numbers: Any, length: int) -> HostArray:
        """Count the occurrences of each number below `length`."""
        ends = self.xp.arange(length + 1, device=self.device, dtype=numbers.dtype)
        return np.diff(self.to_host(self.search(self.sort(numbers), ends, "left")))

    def homes(self, edges: Any, block: Any) -> Any:
        """Return the number of edges that are at most each value."""
        return self.search(edges, self.comparable(block), "right")

    def count_ranges(self, scores: Any, positive: Any, edges: HostArray) -> HostArray:
        """Count negatives and positives between edges.

        Returns
        -------
        ndarray of int64, shape (len(edges) + 1, 2)
            Below the first edge, between each and the next, and from the last one up.
        """
        length = len(edges) + 1
        counts = np.zeros(2 * length, dtype=np.int64)
        there = self.from_host(edges)
        for block in blocks_of(scores.shape[0], DEVICE_BLOCK):
            home = self.homes(there, scores[block])
            marks = self.xp.astype(positive[block], home.dtype)
            counts += self.tally(home * 2 + marks, 2 * length)
        return counts.reshape(-1, 2)

    def keep_ranges(
        self,
        scores: Any,
        positive: Any,
        edges: HostArray,
        wanted: HostArray,
        sizes: tuple[int, int],
    ) -> tuple[Any, Any]:
        """Return the scores of positives and of negatives in the wanted ranges, in any order.

        `wanted` has an entry for the scores below the first edge, between each and the next, and
        from the last one up. It is an error if the sizes of the classes differ from `sizes`, which
        were counted before.
        """
        there, marks = self.from_host(edges), self.from_host(wanted)
        parts: list[tuple[Any, ...]] = []
        for block in blocks_of(scores.shape[0], DEVICE_BLOCK):
            inside = self.take(marks, self.homes(there, scores[block]))
            classes = positive[block] & inside, ~positive[block] & inside
            parts.append(
                tuple(self.take(scores[block], self.where_true(members)) for members in classes)
            )
        of_positives, of_negatives = (self.xp.concat(column) for column in zip(*parts, strict=True))
        check_same_counts((of_positives.shape[0], of_negatives.shape[0]), sizes)
        return of_positives, of_negatives

    @property
    def real_type(self) -> tuple[Any, float]:
        """The type in which counts are compared, and its relative error."""
        double = self.type_name(self.from_host(np.zeros(1))) == "float64"
        return (self.xp.float64, 1e-9) if double else (self.xp.float32, 1e-4)


class TorchLibrary(Library):
    """Torch tensors, on CUDA or any other device."""

    name = "torch"

    @property
    def real_type(self) -> tuple[Any, float]:
        """Double precision, which every device but Apple's has, and its relative error."""
        single = self.device.type == "mps"
        return (self.xp.float32, 1e-4) if single else (self.xp.float64, 1e-9)

    def detach(self, array: Any) -> Any:
        """Return a tensor without its gradients."""
        return array.detach()

    def to_host(self, array: Any) -> HostArray:
        """Copy a small tensor to the host."""
        return np.asarray(array.cpu().numpy())

    def ends(self, values: Any) -> tuple[Any, Any]:
        """Return the least and the greatest value, in one pass."""
        least, greatest = self._torch.aminmax(values)
        return least, greatest

    def extremes(self, values: Any, marks: Any = None) -> tuple[Any, Any, int]:
        """Return the least and the greatest value and a count; the host waits once if few."""
        if values.shape[0] > AT_ONCE:
            return super().extremes(values, marks)
        least, greatest = self.ends(values)
        marks = (values == least) | (values == greatest) if marks is None else marks
        # Counts up to `AT_ONCE` are exact in 32 bits, even as floats.
        exact = values.dtype if values.dtype.itemsize >= 4 else self._torch.float64
        ends = [end.to(exact) for end in (least, greatest)]
        low, high, n_marked = self._torch.stack([*ends, marks.sum(dtype=exact)]).tolist()
        return low, high, int(n_marked)

    @property
    def hulls(self) -> ModuleType | None:  # type: ignore[override]
        """Kernels that find the corners of sorted cases, if torch can compile them."""
        return self._compiled("cuda_hulls") if self._current(self.device) else None

    def search(self, sorted_values: Any, values: Any, side: str) -> Any:
        """Return where values would be inserted into sorted ones, in 32 bits if they suffice."""
        short = sorted_values.shape[0] < 2**31 - 1
        return self._torch.searchsorted(
            sorted_values, values.contiguous(), right=side == "right", out_int32=short
        )

    def sort(self, values: Any) -> Any:
        """Return values in rising order."""
        return self._torch.sort(values).values

    def version(self, array: Any) -> int | None:
        """Return the number of writes to a tensor, which inference mode does not count."""
        return None if array.is_inference() else int(array._version)

    def take(self, values: Any, positions: Any) -> Any:
        """Return values at positions."""
        return values[positions]

    def count_true(self, marks: Any) -> int:
        """Count the marks set, in one read."""
        kernels = self._kernels(marks, marks)
        return super().count_true(marks) if kernels is None else int(kernels.count_marks(marks))

    def tally(self, numbers: Any, length: int) -> HostArray:
        """Count the occurrences of each number below `length`."""
        return self.to_host(self._torch.bincount(numbers, minlength=length))

    def count_ranges(self, scores: Any, positive: Any, edges: HostArray) -> HostArray:
        """Count negatives and positives between edges, in one read where they are even."""
        kernels = self._kernels(scores, positive)
        scale = None if kernels is None else kernels.even_step(edges)
        if kernels is None or scale is None:
            return super().count_ranges(scores, positive, edges)
        counts: HostArray = kernels.count(scores.float(), positive, edges, scale)
        return counts

    def keep_ranges(
        self,
        scores: Any,
        positive: Any,
        edges: HostArray,
        wanted: HostArray,
        sizes: tuple[int, int],
    ) -> tuple[Any, Any]:
        """Return the scores of positives and of negatives in the wanted ranges, in one read."""
        kernels = self._kernels(scores, positive)
        if kernels is None or edges.dtype != np.float32:
            return super().keep_ranges(scores, positive, edges, wanted, sizes)
        kept = kernels.keep(scores.float(), positive, edges, wanted, sizes)
        of_positives, of_negatives, counts = kept
        check_same_counts(counts, sizes)
        return of_positives, of_negatives

    def _kernels(self, scores: Any, positive: Any) -> ModuleType | None:
        """Return the kernels if torch can compile them and the arrays are aligned."""
        lie_well = scores.is_contiguous() and positive.is_contiguous()
        aligned = scores.data_ptr() % 16 == 0 and positive.data_ptr() % 4 == 0
        current = lie_well and aligned and self._current(self.device)
        return self._compiled("cuda_ranges") if current else None

    def _current(self, device: Any) -> bool:
        """Whether a device is the current CUDA device, to which kernels go."""
        on_cuda = device.type == "cuda"
        return on_cuda and bool(device.index == self._torch.cuda.current_device())

    @staticmethod
    def _compiled(name: str) -> ModuleType | None:
        """Return a module of kernels if torch can compile them."""
        kernels = import_module(f"voros.devices.{name}")
        return kernels if kernels.available() else None

    @property
    def _torch(self) -> Any:
        import torch

        return torch


class CupyLibrary(Library):
    """CuPy arrays."""

    name = "cupy"

    def to_host(self, array: Any) -> HostArray:
        """Copy a small array to the host."""
        return np.asarray(array.get())

    def tally(self, numbers: Any, length: int) -> HostArray:
        """Count the occurrences of each number below `length`."""
        return self.to_host(self.xp.bincount(numbers, minlength=length))


LIBRARIES: dict[str, type[Library]] = {
    "torch": TorchLibrary,
    "cupy": CupyLibrary,
    "array_api_strict": Library,
}
"""By the package of an array's type."""


def library_of(array: Any) -> Library | None:
    """Return the library of an array that may lie on a device; None for anything else.

    Examples
    --------
    >>> library_of(np.array([0.2, 0.7])) is None
    True
    """
    package = package_of(array)
    if package is None:
        return None
    compat = _compat()
    kind = LIBRARIES[package]
    return kind(compat.array_namespace(array), compat.device(array))


def check_same_counts(again: tuple[int, int], counted: tuple[int, int]) -> None:
    """Raise if two passes over the same cases disagree, because the arrays changed."""
    if again != counted:
        raise RuntimeError(
            f"{counted[0]} positives and {counted[1]} negatives were counted, and then "
            f"{again[0]} and {again[1]} found: the arrays changed in between"
        )


@lru_cache(maxsize=1)
def _compat() -> ModuleType:
    try:
        import array_api_compat
    except ImportError:
        raise missing_package("counting on a device", "array-api-compat") from None
    compat: ModuleType = array_api_compat
    return compat
