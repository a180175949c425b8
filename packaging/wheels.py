"""Makes the wheels of all platforms on one machine, and checks what is in them.

    python packaging/wheels.py                        # all, with some 10 minutes of a processor for each
    python packaging/wheels.py windows-amd64 --out dist --kernels KEPT
    python packaging/wheels.py --check dist/*.whl     # of wheels from anywhere

Kernels are cross-compiled by the `ziglang` wheel. What of them lies in KEPT already is taken from there. Nothing here runs a
wheel: try_package.py and try_bare.sh do, on machines of its platform.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from boxpresso.device import build, compiler, prebuilt  # noqa: E402
from boxpresso.device.kernel import Kernels  # noqa: E402
from boxpresso.device.levels import LEVELS, Level  # noqa: E402

MOST = 15e6  # bytes of a wheel
PLATFORMS = {  # what zig makes code for, and the tag of a wheel
    "linux-x86_64": ("x86_64-linux-gnu.2.28", "manylinux_2_28_x86_64"),
    "linux-aarch64": ("aarch64-linux-gnu.2.28", "manylinux_2_28_aarch64"),
    "macos-arm64": ("aarch64-macos.11.0", "macosx_11_0_arm64"),
    "macos-x86_64": ("x86_64-macos.11.0", "macosx_11_0_x86_64"),
    "windows-amd64": ("x86_64-windows-gnu", "win_amd64"),
}
# A platform's tag, the machine as levels.py has it, and how a library begins: ELF, Mach-O, PE; "." is any byte.
KINDS = {
    r"(?:many)?linux\w*_x86_64": ("x86_64", rb"\x7fELF.{14}\x3e\x00"),
    r"(?:many)?linux\w*_aarch64": ("aarch64", rb"\x7fELF.{14}\xb7\x00"),
    r"macosx_\d+_\d+_arm64": ("aarch64", rb"\xcf\xfa\xed\xfe\x0c\x00\x00\x01"),
    r"macosx_\d+_\d+_x86_64": ("x86_64", rb"\xcf\xfa\xed\xfe\x07\x00\x00\x01"),
    r"win_amd64": ("x86_64", rb"MZ.*?PE\x00\x00\x64\x86"),
}
C_LIBRARY = (b"ld", b"libc", b"libdl", b"libm", b"libpthread", b"librt")  # its files, before version 2.34 several
Job = tuple[Kernels, str]


def all_jobs() -> list[Job]:
    """Every file of kernels with each type that it is for."""
    return build.jobs(build.declared(), list(build.NAMES))


def held(level: Level, jobs: list[Job]) -> list[Job]:
    """What the library of a level has of them, where those of all levels are there."""
    return [job for job in jobs if not level.asks or level.changes(b"".join(job[0].texts))]


def lacking(library: bytes) -> list[str]:
    """The libraries beside the C library that one for Linux asks for."""
    asked = (
        re.findall(rb"(?<=\0)(?:lib|ld-)[\w+.-]+\.so[.\d]*(?=\0)", library) if library.startswith(b"\x7fELF") else []
    )
    return sorted({name.decode() for name in asked if name.split(b".")[0].split(b"-")[0] not in C_LIBRARY})


def faults(wheel: Path, jobs: list[Job]) -> list[str]:
    """What is wrong with a wheel that should have the kernels of `jobs` for every level of its platform."""
    name = re.fullmatch(r"boxpresso-[\w.]+-py3-none-(\w+(?:\.\w+)*)\.whl", wheel.name)
    kinds = [kind for tag, kind in KINDS.items() if name and re.fullmatch(tag, name[1].split(".")[0])]
    if name is None or not kinds:
        return [f"{wheel.name} is not the name of a wheel for any Python and a platform that is known"]
    machine, begins = kinds[0]
    wrong = []
    if wheel.stat().st_size > MOST:
        wrong.append(f"it has {wheel.stat().st_size / 1e6:.1f} MB, more than {MOST / 1e6:.0f}")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        about = archive.read(next(name for name in names if name.endswith(".dist-info/WHEEL"))).decode()
        libraries = {
            Path(name).name: archive.read(name) for name in names if name.startswith("boxpresso/device/prebuilt/")
        }
    tags = {f"py3-none-{tag}" for tag in name[1].split(".")}
    if set(re.findall(r"^Tag: (.*)$", about, re.M)) != tags or "Root-Is-Purelib: false" not in about:
        wrong.append(f"its file WHEEL is of another one: {about}")
    wanted = {f"{level}{prebuilt.SUFFIX}": held(level, jobs) for level in LEVELS[machine] if level.on(name[1])}
    wanted = {library: has for library, has in wanted.items() if has}
    if set(libraries) != set(wanted):
        wrong.append(f"its kernels are {', '.join(sorted(libraries)) or 'none'}, not {', '.join(sorted(wanted))}")
    for library in sorted(set(libraries) & set(wanted)):
        data = libraries[library]
        if not re.match(begins, data[:4096], re.S):
            wrong.append(f"{library} is not a library of {name[1]}")
        lacks = [
            f"{kernels.path.name} for {real}"
            for kernels, real in wanted[library]
            if f"connect_kernels{prebuilt.suffix(compiler.prebuilt_key(kernels, real))}".encode() not in data
        ]
        if lacks:
            wrong.append(f"{library} lacks {len(lacks)} of {len(wanted[library])} files, such as {lacks[0]}")
        if others := lacking(data):
            wrong.append(f"{library} asks for {', '.join(others)}, which a machine may lack")
        oldest = re.search(r"manylinux_2_(\d+)_", name[1])
        newest = max((int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", data)), default=0)
        if oldest and newest > int(oldest[1]):
            wrong.append(f"{library} asks for version 2.{newest} of the C library")
    return wrong


def make(platform: str, kernels: Path, out: Path) -> Path:
    """A wheel for a platform, with the libraries of a folder. Raises CalledProcessError, which the build has explained."""
    tag = PLATFORMS[platform][1]
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)]
    environment = {**os.environ, "BOXPRESSO_KERNELS": str(kernels.resolve())}
    subprocess.run([*command, f"-C--build-option=--plat-name={tag}", str(ROOT)], check=True, env=environment)
    (wheel,) = out.glob(f"boxpresso-*-{tag}.whl")
    return wheel


def compile_kernels(platform: str, kernels: Path) -> None:
    """Compiles the levels that a folder lacks. Raises CalledProcessError, which the compiler has explained."""
    target = PLATFORMS[platform][0]
    machine = target.partition("-")[0]
    levels = [level for level in LEVELS[machine] if level.on(target) and held(level, all_jobs())]
    missing = [level.name for level in levels if not (kernels / f"{level}{prebuilt.SUFFIX}").exists()]
    if not missing:
        return
    zig = f"{sys.executable} -m ziglang c++ -target {target}"
    command = [sys.executable, "-m", "boxpresso.device.build", "--cpu", ",".join(missing), "--into", str(kernels)]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "CXX": zig, "PYTHONPATH": str(ROOT)})


def main(words: list[str] | None = None) -> int:
    """The command. Returns 1 where a wheel is not what it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", help=f"of {', '.join(PLATFORMS)} (default: all); with --check: wheels")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="FOLDER", help="for the wheels (dist)")
    text = "where compiled kernels are kept, a folder a platform (default: build/kernels)"
    parser.add_argument("--kernels", type=Path, default=ROOT / "build" / "kernels", metavar="FOLDER", help=text)
    parser.add_argument("--check", action="store_true", help="check wheels that are there, and make none")
    asked = parser.parse_args(words)
    if not asked.check and (unknown := [name for name in asked.what if name not in PLATFORMS]):
        parser.error(f"unknown platform {unknown[0]!r}: choose from {', '.join(PLATFORMS)}")
    if asked.check and not asked.what:
        parser.error("name the wheels to check")
    status = 0
    for target in asked.what or PLATFORMS:
        try:
            if asked.check:
                wheel = Path(target).resolve(strict=True)
            else:
                compile_kernels(target, asked.kernels / target)
                wheel = make(target, asked.kernels / target, asked.out)
        except subprocess.CalledProcessError:
            return 1
        wrong = faults(wheel, all_jobs())
        print(
            f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB",
            *(wrong or ["as it should be"]),
            sep="\n  ",
            flush=True,
        )
        status = max(status, int(bool(wrong)))
    return status


if __name__ == "__main__":
    sys.exit(main())
