"""One program on one case, in this process: `python benchmarks/worker.py PROGRAM FOLDER SECONDS THREADS`.

FOLDER holds case.json. Boxpresso's results are saved there, those of the others are compared with them. The last line that is
printed is JSON: {"ms": the median of the calls, "error": the largest difference, "same": whether that is small enough,
"version": ..., "memory": MB at most}, {"missing": why} where the program is not installed, {"cannot": why} where it cannot
compute the case.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.cases import arrays_of

# Of the largest value: what differs more is not the same operator. Through a whole trunk sums in another order do so more.
LIMIT, LIMITS = 1e-3, {"train": 5e-2}
SAME = 0.95  # of the detections: those at a threshold may be on either side of it


def difference(got: Mapping[str, np.ndarray], wanted: Mapping[str, np.ndarray]) -> float:
    """The largest difference of any output, of the largest value of that output; infinite for another shape or a NaN."""
    worst = 0.0
    for name, value in wanted.items():
        other = got.get(name)
        if other is not None and detections(value) and detections(other):
            share = found_again(other, value)
            worst = max(worst, 0.0 if share >= SAME else 1 - share)
            continue
        if other is None or other.size != value.size:
            return float("inf")
        if value.size:
            scale = max(float(np.abs(value).max()), 1e-30)
            apart = float(np.abs(other.reshape(-1).astype(np.float64) - value.reshape(-1)).max()) / scale
            worst = max(worst, apart if np.isfinite(apart) else float("inf"))
    return worst


def detections(value: np.ndarray) -> bool:
    """Whether an array is what DetectionOutput gives: (1, 1, N, 7)."""
    return value.ndim == 4 and value.shape[:2] == (1, 1) and value.shape[3] == 7


def found_again(got: np.ndarray, wanted: np.ndarray) -> float:
    """The share of detections that the other has too: same image and label, score and corners within 0.001 and 0.01."""
    rows, others = (a.reshape(-1, 7) for a in (wanted, got))
    rows, others = rows[rows[:, 1] > 0], others[others[:, 1] > 0]  # the others only fill the array
    if not len(rows) or not len(others):
        return float(len(rows) == len(others))
    limits = np.array([0.5, 0.5, 1e-3, 1e-2, 1e-2, 1e-2, 1e-2])
    return float(np.mean([(np.abs(others - row) <= limits).all(1).any() for row in rows]))


def main(program: str, folder: Path, seconds: float, threads: int) -> dict[str, object]:
    case = json.loads((folder / "case.json").read_text())
    if program == "boxpresso":
        from benchmarks import ours as module
    else:
        from benchmarks import peers as module
    arrays = dict(np.load(folder / "x.npz")) if case["kind"] == "net" else arrays_of(case)
    try:
        call, version = module.make(program, case, arrays, folder, threads)
        results = {name: np.asarray(value) for name, value in call().items()}
    except ImportError as error:
        return {"missing": f"{type(error).__name__}: {error}"}
    except Exception as error:
        if program == "boxpresso":
            raise
        return {"cannot": " ".join(str(error).split())[:300] or type(error).__name__}
    ours, error = folder / "ours.npz", 0.0
    if program == "boxpresso":
        if not ours.exists():
            np.savez(ours, **results)
    else:
        with np.load(ours) as wanted:
            error = difference(results, {name: wanted[name] for name in wanted.files})
    del results
    times: list[float] = []
    start = time.perf_counter()
    while len(times) < 3 or (time.perf_counter() - start < seconds and len(times) < 400):
        before = time.perf_counter()
        call()
        times.append(time.perf_counter() - before)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024**2 if sys.platform == "darwin" else 1024)
    same = error <= LIMITS.get(case["kind"], LIMIT)
    ms = statistics.median(times) * 1e3
    return {"ms": ms, "error": error, "same": same, "version": str(version), "memory": memory}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))))
