"""A worker process: runs the cases that it is told, one line each, and answers with what became of it."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from targets import LIMITED, MEMORY, NETS, one, run_one

from boxpresso.net.memory import CODE
from boxpresso.proto import BoxpressoError

MOST = 6 * 2**30  # of address space: beyond it Python has a MemoryError, which is none of ours


def peak(reset: bool = False) -> int:
    """The most bytes that this process has had since the last reset, on Linux. ru_maxrss begins with what its parent had."""
    if reset:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def judge(kind: str, data: bytes) -> dict[str, object]:
    """Runs one input. The verdict is "ran", "refused", or what is wrong."""
    before, start = peak(reset=True), time.process_time()
    verdict, detail = "ran", ""
    with tempfile.TemporaryDirectory() as folder:
        try:
            run_one(kind, data, Path(folder))
        except BoxpressoError as error:
            verdict, detail = "refused", str(error)[:300]
            if isinstance(error.__cause__, MemoryError):
                verdict = "memory"
        except BaseException as error:  # what the oracle looks for
            verdict, detail = "foreign", f"{type(error).__module__}.{type(error).__name__}: {str(error)[:300]}"
    grown = peak() - before
    most = 64 * 2**20 + 20 * len(data)
    if (
        kind == "picture"
    ):  # beside our three bytes a pixel, which count, are Pillow's four; of WEBP twice four more, of twice three
        most = most * 8 // 3
    if (
        kind in LIMITED
    ):  # its net's limit, the copies of outputs that forward returns, and what modules and kernels take
        most = 2 * MEMORY + CODE
    if verdict in ("ran", "refused") and grown > most and (kind not in NETS or kind in LIMITED):
        verdict, detail = "memory", f"{grown >> 20} MB for {len(data)} bytes; {detail}"
    return {"verdict": verdict, "detail": detail, "seconds": time.process_time() - start}


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin:
        kind, number, seed = json.loads(line)
        print(json.dumps(judge(kind, one(kind, number, seed))), flush=True)


if __name__ == "__main__":
    main()
