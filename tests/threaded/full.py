"""All layer tests and recorded cases with threaded kernels: `python tests/threaded/full.py [words for pytest]`.

Every launch of another kind that the tests make, in float and double, runs plainly and in blocks of 1, 7, 32 and 128
threads on grids of 1, 3 and all blocks. Then ThreadSanitizer sees some launches of each kernel. Takes a
quarter of an hour or more.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from places import ROOMS, TESTS

sys.path[1:1] = map(str, ROOMS)
from test_threaded import launch_all  # noqa: E402

from threaded import all_kernels, can_sanitize, races, threaded  # noqa: E402


def main(words: list[str]) -> int:
    os.environ["BOXPRESSO_DEVICE"] = "cpu"
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder) / "records"
        files = [
            str(p) for p in sorted(TESTS.rglob("test_*.py")) if "from harness import" in p.read_text(encoding="utf-8")
        ]
        files.remove(str(TESTS / "device" / "test_threaded.py"))
        with threaded(records=records, recorded=8) as made:
            code = pytest.main(["-q", "-p", "no:xdist", "-m", "not cuda", *(words or files)])
            launch_all()
        missing = sorted(all_kernels() - made.kernels)
        kernels = f"{len(made.kernels)} of {len(all_kernels())} kernels"
        print(f"{kernels}, {made.launches} launches, {made.runs} threaded runs")
        print("never launched:", ", ".join(f"{name} of {file}" for file, name in missing) or "none")
        if not can_sanitize():
            print("this compiler has no ThreadSanitizer")
            return int(code)
        reports = races(records)
        print(f"ThreadSanitizer: {sum(made.written.values())} launches, {len(reports)} reports")
        print("\n".join(sorted(set(reports))))
    return int(code) or int(bool(missing or reports))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
