"""Ranks on several GPUs: gradients summed by NCCL, or by MPI through page-locked memory.

The ranks are real processes that mpirun starts; their GPUs and NCCL are the stand-ins, or real. This file is also what it
starts: `mpirun -n 2 python test_cuda_ranks.py FOLDER` trains, and writes down what each rank had and how it came to it.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import stand_in
from ranked import NET, run, with_records

from boxpresso import Solver, devices
from boxpresso.device import nccl
from boxpresso.proto import parse_net, parse_solver
from boxpresso.train.ranks import Ranks, open_ranks

STEPS = 3
SOLVER = 'base_lr: 0.01 lr_policy: "fixed" random_seed: 5 momentum: 0.9 weight_decay: 0.01 iter_size: 2'
BY_MPI = {"BOXPRESSO_LIBRARIES": "cublas,cudnn"}
COUNTED = ("waits", "to_host_bytes", "to_device_bytes", "pageable_bytes", "sums", "allocated")


def make(folder: Path, dtype: type, batch: int, ranks: Ranks | None = None) -> Solver:
    param = parse_solver(SOLVER)
    text = NET.replace("SOURCE", str(folder / "records")).replace("BATCH", str(batch))
    param.train_net_param.CopyFrom(parse_net(text))
    return Solver(param, device="cuda", deterministic=True, dtype=dtype, log=lambda line: None, ranks=ranks)


def weights(solver: Solver) -> dict[str, np.ndarray]:
    return {f"{name} {i}": np.array(b.data) for name, blobs in solver.net.params.items() for i, b in enumerate(blobs)}


def main(folder: Path) -> None:
    ranks = open_ranks()
    with ranks.together():
        for dtype in (np.float32, np.float64):
            solver = make(folder, dtype, 2, ranks)
            counts = dict.fromkeys(COUNTED, 0)
            if stand_in.active():
                for name in ("send", "finish"):
                    counting(solver.reduction.sums, name, counts)
            solver.step(1)
            first = dict(counts)
            solver.step(STEPS - 1)
            grown = {name: counts[name] - first[name] for name in counts}
            said = {"how": solver.reduction.sums.how, "bytes": solver.reduction.bytes, "device": solver.net.device.name}
            said |= {"algorithms": os.environ.get("NCCL_ALGO"), **grown}
            np.savez(folder / f"{dtype.__name__}_{ranks.rank}.npz", **weights(solver))
            (folder / f"{dtype.__name__}_{ranks.rank}.json").write_text(json.dumps(said))


def counting(sums: object, name: str, counts: dict[str, int]) -> None:
    """Adds to `counts` what is done inside a method from now on."""
    method = getattr(sums, name)

    def counted(*args: object) -> None:
        before = stand_in.counts()
        method(*args)
        grown = stand_in.since(before)
        for each in counts:
            counts[each] += grown[each]

    setattr(sums, name, counted)


def found(folder: Path, dtype: str, rank: int) -> tuple[dict[str, np.ndarray], dict[str, object]]:
    with np.load(folder / f"{dtype}_{rank}.npz") as file:
        arrays = dict(file)
    return arrays, json.loads((folder / f"{dtype}_{rank}.json").read_text())


@pytest.fixture
def folder(tmp_path):
    if len(devices()) < 3:
        pytest.skip("needs two GPUs, or the stand-in for them")
    return with_records(tmp_path)


def job(folder: Path, **more: str) -> str:
    status, said = run(2, __file__, folder, folder=folder, **more)
    assert status == 0, said
    return said


@pytest.mark.cuda
def test_nccl_and_mpi_learn_the_same_bits_and_what_one_learns_from_both_batches(folder):
    runs = {}
    for way, more in {"nccl": {}, "mpi": BY_MPI}.items():
        job(folder, **more)
        runs[way] = {(dtype, rank): found(folder, dtype, rank) for dtype in ("float32", "float64") for rank in (0, 1)}
    for dtype, type_ in (("float32", np.float32), ("float64", np.float64)):
        whole = make(folder, type_, 4)
        whole.step(STEPS)
        whole_weights = weights(whole)
        for layer in whole.net.layers:
            if hasattr(layer, "close"):
                layer.close()
        for way, seen in runs.items():
            for rank in (0, 1):
                arrays, said = seen[dtype, rank]
                assert said["device"] == f"cuda:{rank}"
                for name, array in arrays.items():
                    np.testing.assert_array_equal(array, runs["mpi"][dtype, 0][0][name], err_msg=f"{way} {rank} {name}")
                    np.testing.assert_allclose(
                        array, whole_weights[name], rtol=0, atol=1e-5 if dtype == "float32" else 1e-12
                    )
                if way == "nccl" and (stand_in.active() or nccl.library()):
                    assert re.fullmatch(r"by NCCL \d+\.\d+\.\d+", said["how"])
                    assert said["algorithms"] == "^NVLS"  # the switches add in any order
                if way == "mpi":
                    assert said["how"].startswith("by MPI, through page-locked memory (rank 0: NCCL is not found, or")
                if not stand_in.active():
                    continue
                steps = STEPS - 1
                assert said["waits"] == said["pageable_bytes"] == said["allocated"] == 0
                if way == "mpi":
                    assert said["to_host_bytes"] == said["to_device_bytes"] == steps * said["bytes"]
                    assert said["sums"] == 0
                else:
                    assert said["to_host_bytes"] == said["to_device_bytes"] == 0
                    assert said["sums"] == steps * 5  # the blobs that learn


@pytest.mark.skipif(not stand_in.active(), reason="only the stand-in for NCCL fails when it is told to")
@pytest.mark.parametrize("rank", [0, 1])
def test_an_error_of_nccl_names_the_rank_and_ends_the_job(folder, rank):
    status, said = run(2, __file__, folder, folder=folder, STAND_IN_NCCL=f"sum {rank} 7 2")
    assert status != 0
    (line,) = [line for line in said.splitlines() if line.startswith("boxpresso: error")]
    assert re.search(
        rf"rank {rank} \(process \d+ on .+\) failed: ncclCommGetAsyncError of NCCL failed with 2: unhandled system error .*: as the "
        r"test says; NCCL_DEBUG=INFO tells more, and with BOXPRESSO_LIBRARIES=cublas,cudnn gradients of several ranks are summed by MPI",
        line,
    ), line
    assert not list(folder.glob("*.npz"))


@pytest.mark.skipif(not stand_in.active(), reason="only the stand-in for NCCL fails when it is told to")
@pytest.mark.parametrize("rank", [0, 1])
def test_where_nccl_does_not_start_on_a_rank_all_sum_by_mpi(folder, rank):
    said = job(folder, STAND_IN_NCCL=f"begin {rank} 0 2")
    warned = [line for line in said.splitlines() if "UserWarning" in line]
    assert len(warned) == 1  # by rank 0 alone, once
    assert f"gradients are summed by MPI, as NCCL does not start on rank {rank}: ncclCommInitRankConfig" in warned[0]
    arrays = [found(folder, "float32", each)[0] for each in (0, 1)]
    for name in arrays[0]:
        np.testing.assert_array_equal(arrays[0][name], arrays[1][name])
    assert found(folder, "float32", 0)[1]["how"] == "by MPI, through page-locked memory"


@pytest.mark.skipif(
    stand_in.active() or nccl.library() is None, reason="needs NVIDIA's NCCL (pip install nvidia-nccl-cu13)"
)
def test_nvidias_own_library_is_found_and_answers():
    """As far as it goes without a GPU."""
    assert re.fullmatch(r"2\.\d+\.\d+", nccl.version())
    first, second = nccl.unique_id(), nccl.unique_id()
    assert len(first) == len(second) == 128
    assert first != second
    assert "unhandled system error" in str(nccl.failure("this", 2))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
