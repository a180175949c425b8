"""What an installation weighs and how soon it finds boxes, on systems with nothing but Python: one table.

    sudo python -m benchmarks.anywhere dist/*.whl bookworm trixie forky bookworm:/opt/python3.10 bookworm:/opt/python3.12

Every wheel is weighed; the one for this machine is installed in a bare Debian of each suite by packaging/try_bare.sh, which
says what it takes. The last lines of results/ahead.txt and aarch64_counts.txt stand below. Written to results/anywhere.txt.
"""

from __future__ import annotations

import argparse
import platform
import re
import subprocess
import sys
import time
import zipfile
from collections import Counter
from pathlib import Path

from .__main__ import HERE, ROOT, machine

TRY = ROOT / "packaging" / "try_bare.sh"


def weight(wheel: Path) -> str:
    """A line: the bytes of a wheel, and of what is in it, packed and unpacked, the heaviest first."""
    packed: Counter[str] = Counter()
    unpacked: Counter[str] = Counter()
    with zipfile.ZipFile(wheel) as archive:
        for info in archive.infolist():
            kind = (
                "kernels compiled ahead"
                if "/device/prebuilt/" in info.filename
                else Path(info.filename).suffix or "other"
            )
            packed[kind] += info.compress_size
            unpacked[kind] += info.file_size
    parts = ", ".join(f"{kind} {size / 1e6:.2f} ({unpacked[kind] / 1e6:.1f})" for kind, size in packed.most_common(3))
    platform_tag = wheel.stem.split("-")[-1]
    return f"{platform_tag:24} {wheel.stat().st_size / 1e6:7.2f} {sum(unpacked.values()) / 1e6:9.1f}   {parts}"


def for_this_machine(wheels: list[Path]) -> Path:
    """Raises SystemExit where none is, or several are."""
    matching = [wheel for wheel in wheels if re.search(rf"linux\w*_{platform.machine()}(\.|$)", wheel.stem)]
    if len(matching) != 1:
        raise SystemExit(
            f"python -m benchmarks.anywhere: {len(matching)} of the wheels are for this machine, and one must be"
        )
    return matching[0]


def rows(said: str) -> list[str]:
    """The lines of the table, from what try_bare.sh prints. Raises ValueError for a system that is not told of to its end."""
    made = []
    for part in re.split(r"^(?=\w+, Python [\d.]+:$)", said, flags=re.M)[1:]:
        system, version = re.match(r"(\w+), Python ([\d.]+):", part).groups()  # type: ignore[union-attr]
        with_proc, _, without = part.partition("the same without /proc:")
        times = [[int(ms) for ms in re.findall(r"first boxes after (\d+) ms", half)] for half in (with_proc, without)]
        installed = re.search(r"^installed: (\d+) MB, of it (.*?),? *$", part, re.M)
        kernels = re.search(r"kernels of (\S+) compiled ahead", part)
        if installed is None or kernels is None or not all(times):
            raise ValueError(f"{TRY.name} does not tell all of {system}:\n{part}")
        of_it = re.sub(r"\./", "", installed[2])
        first, least, bare = times[0][0] / 1e3, min(times[0]) / 1e3, min(times[1]) / 1e3
        made.append(
            f"{system:10} {version:7} {first:6.2f} {least:6.2f} {bare:9.2f}   {kernels[1]:8} {installed[1]:>4}   {of_it}"
        )
    return made


def main() -> None:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.anywhere", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("words", nargs="+", help="wheels, and suites as packaging/try_bare.sh takes them")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "anywhere.txt", help="the file to write")
    asked = parser.parse_args()
    wheels = [Path(word) for word in asked.words if word.endswith(".whl")]
    suites = [word for word in asked.words if not word.endswith(".whl")]
    lines = [
        f"{time.strftime('%Y-%m-%d')}, python -m benchmarks.anywhere; {machine()}",
        "",
        f"{'wheel':24} {'MB':>7} {'unpacked':>9}   of it, packed (unpacked), MB",
        *(weight(wheel) for wheel in wheels),
    ]
    if suites:
        done = subprocess.run(
            ["bash", str(TRY), str(for_this_machine(wheels)), *suites], stdout=subprocess.PIPE, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{done.stdout}\n{TRY.name} failed")
        lines += [
            "",
            "`boxpresso detect` of the shipped example in a bare Debian or Ubuntu: no compiler, no cache, no rights; seconds",
            "from the start of the program to its boxes, the first run and the least of three, and the least without /proc",
            "",
            f"{'system':10} {'Python':7} {'first':>6} {'least':>6} {'no /proc':>9}   {'kernels':8} {'MB':>4}   of it",
            *rows(done.stdout),
        ]
    for name in ("ahead.txt", "aarch64_counts.txt"):
        last = (HERE / "results" / name).read_text(encoding="utf-8").strip().split("\n\n")[-1]
        lines += ["", f"{name}:", *last.splitlines()]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    asked.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
