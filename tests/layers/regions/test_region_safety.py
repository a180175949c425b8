"""Wild regions at every region layer, compiled with AddressSanitizer and UndefinedBehaviorSanitizer.

Each line of LAYERS gets more than 100,000 regions, forward and backward: NaN, infinity, 1e30, negative sizes, batch indices
outside the batch, maps without pixels. No access outside an array, no undefined arithmetic; a region of no image gives 0,
every finite one something finite. This file is also the program that a sanitised Python runs (`main`).
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from places import TESTS

HERE = TESTS
SIZE = "pooled_h: 2 pooled_w: 3 spatial_scale: 0.5"
SANITIZED = (
    "-std=c++17", "-O1", "-g1", "-fPIC", "-shared", "-w", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all",
    "-fsanitize=address,undefined,float-cast-overflow",
)  # fmt: skip
EACH, SHAPES = (
    17_000,
    ((2, 8, 9), (1, 1, 1), (3, 5, 2), (2, 0, 4), (2, 7, 12), (0, 3, 3)),
)  # regions and (batch, height, width)

# name: layer, channels, numbers of a region, further bottoms for K regions, which of all bottoms get a gradient. The regions
# of "narrow" layers, whose samples grow with the region, are small where they are finite and of an image.
Line = tuple[str, int, int, list[tuple[int, ...]], list[bool]]
LAYERS: dict[str, Line] = {
    "ROIPooling": (f'type: "ROIPooling" roi_pooling_param {{ {SIZE} }}', 3, 5, [], [True, False]),
    "ROIPooling padded": (f'type: "ROIPooling" roi_pooling_param {{ {SIZE} pad_ratio: 0.5 }}', 3, 5, [], [True, False]),
    "ROIAlign": (f'type: "ROIAlign" roi_align_param {{ {SIZE} sampling_ratio: 2 }}', 3, 5, [], [True, False]),
    "ROIAlign narrow": (f'type: "ROIAlign" roi_align_param {{ {SIZE} aligned: true }}', 3, 5, [], [True, False]),
    "ROIAlign max": (
        f'type: "ROIAlign" roi_align_param {{ {SIZE} sampling_ratio: 2 aligned: true pool_mode: MAX }}', 3, 5, [], [True, False],
    ),
    "ROIAlign gradient of regions": (
        f'type: "ROIAlign" roi_align_param {{ {SIZE} sampling_ratio: 2 aligned: true }}', 3, 5, [], [True, True],
    ),
    "ROIAlignRotated": (
        f'type: "ROIAlignRotated" roi_align_rotated_param {{ {SIZE} sampling_ratio: 2 clockwise: true }}', 3, 6, [], [True, False],
    ),
    "ROIAlignRotated narrow": (
        f'type: "ROIAlignRotated" roi_align_rotated_param {{ {SIZE} aligned: true }}', 3, 6, [], [True, False],
    ),
    "ROIAlignRotated gradient of regions": (
        f'type: "ROIAlignRotated" roi_align_rotated_param {{ {SIZE} sampling_ratio: 2 }}', 3, 6, [], [True, True],
    ),
    "RiROIAlignRotated": (
        f'type: "RiROIAlignRotated" riroi_align_rotated_param {{ {SIZE} sampling_ratio: 2 num_orientations: 4 }}', 8, 6, [],
        [True, False],
    ),
    "DeformROIPooling": (
        f'type: "DeformROIPooling" deform_roi_pooling_param {{ {SIZE} sampling_ratio: 2 }}', 3, 5, [(2, 2, 3)], [True, False, True],
    ),
    "ModulatedDeformROIPooling narrow": (
        f'type: "ModulatedDeformROIPooling" deform_roi_pooling_param {{ {SIZE} }}', 3, 5, [(2, 2, 3), (1, 2, 3)],
        [True, False, True, True],
    ),
    "PSROIPooling": (
        'type: "PSROIPooling" psroi_pooling_param { spatial_scale: 0.5 output_dim: 2 group_size: 2 }', 8, 5, [], [True, False],
    ),
    "PSROIAlign": (
        'type: "PSROIAlign" psroi_align_param { spatial_scale: 0.5 output_dim: 2 group_size: 2 sampling_ratio: 2 }', 8, 5, [],
        [True, False],
    ),
    "DeformablePSROIPooling": (
        'type: "DeformablePSROIPooling" deformable_psroi_pooling_param { spatial_scale: 0.5 output_dim: 2 group_size: 2 '
        "pooled_size: 2 sample_per_part: 2 trans_std: 0.1 }", 8, 5, [(2, 2, 2)], [True, False, True],
    ),
    "PrROIPooling narrow": (f'type: "PrROIPooling" prroi_pooling_param {{ {SIZE} }}', 3, 5, [], [True, True]),
    "PrROIPooling": (f'type: "PrROIPooling" prroi_pooling_param {{ {SIZE} }}', 3, 5, [], [True, False]),
    "RotateROIPooling": (
        f'type: "RotateROIPooling" rotate_pooling_param {{ {SIZE} }}', 3, 6, [], [True, False, False],
    ),
}  # fmt: skip
CONVOLUTION = "ModulatedDeformableConvolution"
FEW = ("ROIPooling", "ROIAlign", "RotateROIPooling")  # the others are slow, their sanitized builds above all
BROKEN = """#include "kernel.h"
KERNEL past_the_end(int n, const Real* x, Real* y) { GRID_LOOP(i, n) y[i] = x[i + 1]; }
"""


def type_of(text: str) -> str:
    return text.split('"')[1]


def wild(rng: np.random.Generator, count: int, columns: int, batch: int, narrow: bool) -> np.ndarray:
    """Regions: usual ones, with a share of numbers that no region should have."""
    rois = rng.uniform(-10, 30, (count, columns))
    rois[:, 0] = rng.integers(-1, batch + 1, count)
    strange = [np.nan, np.inf, -np.inf, 0.0, -0.5, 1e-40, 2.5]
    huge = [1e3, -1e3, 1e9, -1e9, 2.2e9, 1e20, -1e30, 3e38, -3e38]
    places = rng.random(rois.shape) < 0.1
    rois[places] = rng.choice(strange if narrow else strange + huge, int(places.sum()))
    others = rng.random(count) < 0.05
    rois[others, 0] = rng.choice(huge, int(others.sum()))  # of no image, for all layers
    return rois


def offsets(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    values = rng.uniform(-2, 2, shape)
    places = rng.random(shape) < 0.1
    values[places] = rng.choice([np.nan, np.inf, -np.inf, 1e30, -3e38, 0], int(places.sum()))
    return values


def run_layer(name: str) -> None:
    """One line of LAYERS, in a sanitised process."""
    from harness import Rig

    text, channels, columns, more, down = LAYERS[name]
    rng, rig, narrow = np.random.default_rng(0), None, name.endswith("narrow")
    for batch, height, width in SHAPES:
        rois = wild(rng, EACH, columns, batch, narrow)
        bottoms = [rng.standard_normal((batch, channels, height, width)), rois]
        bottoms += [offsets(rng, (EACH, *shape)) if shape[0] == 2 else rng.random((EACH, *shape)) for shape in more]
        if type_of(text) == "RotateROIPooling":
            bottoms.append(np.array([[2 * height, 2 * width, 1]]))
        rig = rig or Rig(text, bottoms)
        for i, value in enumerate(bottoms):
            rig.set_bottom(i, value)
        top = rig.forward()[0]
        assert np.isfinite(top).all(), f"not finite: {rois[~np.isfinite(top).reshape(EACH, -1).all(1)][:3]}"
        float32 = rois.astype(np.float32)
        no_image = ~(np.isfinite(float32).all(1) & (float32[:, 0] > -1) & (float32[:, 0] < batch))
        assert not top[no_image].any(), (
            f"a region of no image gives something: {rois[no_image & top.reshape(EACH, -1).any(1)][:3]}"
        )
        diffs = rig.backward([rng.standard_normal(top.shape)], down)
        assert np.isfinite(diffs[0]).all(), "the gradient of the features is not finite"
        for diff in [d for d, wanted in zip(diffs[1:], down[1:]) if wanted]:
            assert not np.isnan(diff).any(), "another gradient is NaN"
            assert not diff[no_image].any(), "a region of no image has a gradient"


def run_convolution() -> None:
    """130,000 samples at wild offsets."""
    from harness import Rig

    text = "num_output: 3 kernel_size: 3 pad: 1 deformable_group: 2 weight_filler { type: 'xavier' }"
    rng, batch = np.random.default_rng(0), 100
    x, moves = rng.standard_normal((batch, 4, 8, 9)), offsets(rng, (batch, 36, 8, 9))
    rig = Rig(
        f'type: "{CONVOLUTION}" deformable_convolution_param {{ {text} }}', [x, moves, rng.random((batch, 18, 8, 9))]
    )
    top = rig.forward()[0]
    assert np.isfinite(top).all()
    for diff in rig.backward([rng.standard_normal(top.shape)]) + rig.param_diffs():
        assert np.isfinite(diff).all()


def run_broken(folder: str) -> None:
    from boxpresso.device import Kernels, open_device

    path = Path(folder, "broken.cu")
    path.write_text(BROKEN)
    cpu = open_device("cpu")
    Kernels(path).on(cpu).past_the_end(64, cpu.empty((64,), np.float32), cpu.empty((64,), np.float32))


def exact(shape: Any, dtype: Any) -> np.ndarray:
    """Zeros, aligned to a cache line, that end where their memory ends."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    address = ctypes.c_void_p()
    library = ctypes.CDLL(None)
    assert library.posix_memalign(ctypes.byref(address), ctypes.c_size_t(64), ctypes.c_size_t(max(size, 1))) == 0
    memory = (ctypes.c_char * size).from_address(address.value or 0)
    ctypes.memset(address, 0, size)
    return np.frombuffer(memory, dtype).reshape(shape)


def main(names: list[str]) -> None:
    """Runs lines and prints "begin NAME" and "end NAME", or "failed NAME: why", for each."""
    from boxpresso.device import Kernels, build_all, compiler, host, open_device
    from boxpresso.layers.core import discover, layer_class

    compiler.FLAGS = SANITIZED
    host.Cpu.empty = lambda self, shape, dtype: exact(tuple(shape), dtype)  # type: ignore[method-assign]
    discover()
    cpu = open_device("cpu")
    types = {
        CONVOLUTION if name == CONVOLUTION else type_of(LAYERS[name][0]) for name in names if not name.startswith("/")
    }
    files: list[Kernels] = [
        k for t in sorted(types) for k in layer_class(t, "").kernel_files() if k.path.suffix == ".cu"
    ]
    build_all(cpu, files, np.dtype(np.float32))
    for name in names:
        print("begin", name, flush=True)
        try:
            if name.startswith("/"):
                run_broken(name)
            elif name == CONVOLUTION:
                run_convolution()
            else:
                run_layer(name)
            print("end", name, flush=True)
        except Exception as error:  # the next line may be well
            print(f"failed {name}: {type(error).__name__}: {error}".replace("\n", " "), flush=True)


def sanitizer() -> str:
    """What to preload: the runtime of g++'s AddressSanitizer. Skips where there is none."""
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if sys.platform != "linux" or compiler is None:
        pytest.skip("the sanitizers are run with g++ on Linux")
    libraries = []
    for name in ("libasan.so", "libstdc++.so"):
        asked = subprocess.run([compiler, f"-print-file-name={name}"], text=True, capture_output=True)
        path = asked.stdout.strip()
        if asked.returncode or not os.path.isabs(path):
            pytest.skip(f"{compiler} has no {name}")
        libraries.append(os.path.realpath(path))
    return " ".join(libraries)


def run(names: list[str]) -> tuple[dict[str, str], str]:
    """What became of each line: "" is well; and all that the last process said on stderr."""
    preload, verdicts, left, said = sanitizer(), {}, list(names), ""
    while left:
        environment = {
            **os.environ, "LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0",
            "UBSAN_OPTIONS": "print_stacktrace=1", "BOXPRESSO_THREADS": "2", "BOXPRESSO_DEVICE": "cpu",
            "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE), os.environ.get("PYTHONPATH", "")]),
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, __file__, json.dumps(left)], env=environment, text=True, capture_output=True
        )
        said, current = done.stderr, left[0]
        for line in done.stdout.splitlines():
            word, _, rest = line.partition(" ")
            if word == "begin":
                current = rest
            elif word == "end":
                verdicts[rest] = ""
            elif word == "failed":
                verdicts[current] = rest
        if done.returncode:  # it died in the line that it had begun
            verdicts[current] = said[-6000:] or f"exit status {done.returncode}"
        elif missing := [name for name in left if name not in verdicts]:
            verdicts[missing[0]] = f"was not run: {said[-6000:]}"
        left = [name for name in left if name not in verdicts]
    return verdicts, said


@pytest.fixture(scope="module")
def verdicts(request) -> dict[str, str]:
    return run([*LAYERS, CONVOLUTION] if request.config.getoption("--slow") else list(FEW))[0]


@pytest.mark.later
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in FEW else pytest.mark.slow) for n in (*LAYERS, CONVOLUTION)]
)
def test_wild_regions(name, verdicts):
    assert not verdicts[name], verdicts[name]


@pytest.mark.later
def test_a_read_past_the_end_is_found(tmp_path):
    verdicts, said = run([str(tmp_path)])
    assert "heap-buffer-overflow" in said
    assert verdicts[str(tmp_path)]


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
