"""The CUDA kernels are files of the package, and their sizes are those that the launches use."""

import re
from importlib.resources import files

import pytest

KERNELS = {
    "cuda_hulls": {"rank_marks", "tile_hulls"},
    "cuda_ranges": {"count_ranges", "count_marks", "keep_ranges"},
}


@pytest.mark.parametrize("module", KERNELS)
def test_kernels_are_installed_and_are_those_that_are_launched(module):
    folder = files("voros.devices")
    source = folder.joinpath(f"{module}.cu").read_text(encoding="utf-8")
    python = folder.joinpath(f"{module}.py").read_text(encoding="utf-8")
    assert set(re.findall(r'extern "C" __global__ void (\w+)', source)) == KERNELS[module]
    assert set(re.findall(r'_kernel\("(\w+)"\)', python)) == KERNELS[module]


def test_tiles_have_the_size_that_the_launch_assumes():
    pytest.importorskip("torch", reason="torch is not installed")
    from voros.devices import cuda_hulls

    source = files("voros.devices").joinpath("cuda_hulls.cu").read_text(encoding="utf-8")
    sizes = dict(re.findall(r"#define (\w+) (\d+)", source))
    assert int(sizes["TILE"]) == cuda_hulls.HULL_TILE == 8 * cuda_hulls.HULL_THREADS
    assert int(sizes["GROUP"]) == cuda_hulls.GROUP
