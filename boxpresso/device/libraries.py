"""NVIDIA's libraries: which cuBLAS, cuDNN, NCCL and NVRTC are used, if any.

One that the process has loaded already, such as torch's, is taken before all others: two copies of one library in a process
disturb each other. Then come the wheels of this Python, which a torch that is imported later would load, and the system's.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..proto.errors import DeviceError
from .context import driver_version
from .prototypes import Prototypes, declare

WHEELS = {  # the packages that hold their files
    "cublas": ("nvidia.cu13", "nvidia.cublas"), "cudnn": ("nvidia.cudnn",), "nccl": ("nvidia.nccl",),
    "nvrtc": ("nvidia.cu13", "nvidia.cuda_nvrtc"),
}  # fmt: skip
BUNDLES = ("torch",)  # packages that may bring copies of their own
PARTS = {"cublas": ("cublasLt",)}  # libraries that one needs, which a wheel's loader may not find by itself
refused: dict[str, str] = {}  # of a library that is there, but not used: why

Needs = Callable[[ctypes.CDLL], int]  # the number of the CUDA that a library is for, such as 13


def wanted(name: str) -> bool:
    """Whether a library is to be used: BOXPRESSO_LIBRARIES=0 leaves all out, BOXPRESSO_LIBRARIES=cublas,cudnn all but these."""
    value = os.environ.get("BOXPRESSO_LIBRARIES", "1")
    return value != "0" and (value in ("", "1") or name in value.split(","))


def folders(name: str) -> list[Path]:
    """Where the pip wheels of a library keep it."""
    places = []
    packages = [(wheel, ("lib", "bin")) for wheel in WHEELS[name]] + [(bundle, ("lib",)) for bundle in BUNDLES]
    for package, parts in packages:
        root = package.partition(".")[0]
        spec = importlib.util.find_spec(package) if importlib.util.find_spec(root) is not None else None
        for place in (spec.submodule_search_locations or ()) if spec else ():
            places += [folder for part in parts if (folder := Path(place, part)).is_dir()]
    return places


def loaded(name: str, versions: Sequence[int]) -> Iterator[ctypes.CDLL]:
    """The copies of a library that somebody in this process has loaded, by the names that they have for the loader."""
    only: int = getattr(os, "RTLD_NOLOAD", 0)
    for version in versions if only else ():
        try:
            yield ctypes.CDLL(f"lib{name}.so.{version}", mode=only | os.RTLD_NOW)
        except OSError:
            continue


def installed(name: str, versions: Sequence[int]) -> Iterator[ctypes.CDLL]:
    """Those that can be loaded, the newest of the versions first: a pip wheel's, then the system's, as of a CUDA toolkit."""
    for version in versions:
        for folder in folders(name):
            file = folder / f"lib{name}.so.{version}"
            try:
                if file.exists():
                    for part in PARTS.get(name, ()):
                        ctypes.CDLL(str(folder / f"lib{part}.so.{version}"))
                    yield ctypes.CDLL(str(file))
            except OSError:
                continue
    for file_name in (*(f"lib{name}.so.{version}" for version in versions), f"lib{name}.so"):
        try:
            yield ctypes.CDLL(file_name)
        except OSError:
            continue


def find(
    name: str,
    versions: Sequence[int],
    prototypes: Prototypes,
    needs: Needs = lambda library: 0,
    otherwise: str = "our own kernels do its work",
) -> ctypes.CDLL | None:
    """A library of NVIDIA's: one that is loaded, else one that is installed.

    None where there is none, or BOXPRESSO_LIBRARIES leaves it out. One that lacks a function of `prototypes` is passed over,
    and so is one of a newer CUDA than the driver's, which could not even make a handle; with a warning where no other is left.

    Parameters
    ----------
    versions
        The numbers behind the names of its files, the first preferred.
    otherwise
        What is done without it, for the warning.
    """
    if not wanted(name):
        return None
    driver = driver_version() // 1000
    too_new: list[tuple[int, str]] = []
    for candidates in (loaded, installed):
        for library in candidates(name, versions):
            try:
                usable = declare(library, prototypes)
            except OSError:
                continue
            cuda = needs(usable)
            if not driver or cuda <= driver:
                return usable
            too_new.append((cuda, library._name))
    if too_new:
        cuda, file = too_new[0]
        refuse(
            name,
            f"{file} is of CUDA {cuda} and the NVIDIA driver is of CUDA {driver}; update the driver, or "
            f"pip install 'boxpresso[cuda{driver}]'",
            otherwise,
        )
    return None


def refuse(name: str, why: str, otherwise: str) -> None:
    """Notes that a library is there, but cannot be used, and warns of it once."""
    if name not in refused:
        refused[name] = why
        warnings.warn(f"lib{name} is not used, and {otherwise}: {why}", stacklevel=4)


def usable(name: str, index: int, make: Callable[[], object], otherwise: str) -> bool:
    """Whether a library makes a handle on the GPU of that number; asked once. Where it says that it is not for this GPU or this
    driver there is one warning, and our own kernels do its work.

    Parameters
    ----------
    make
        Makes the handle of a stream. Raises Unsuitable where the library is not for the GPU or the driver.
    """
    key = name, index
    if key not in answers:
        try:
            make()
            answers[key] = True
        except Unsuitable as error:
            answers[key] = False
            refuse(name, str(error), otherwise)
    return answers[key]


answers: dict[tuple[str, int], bool] = {}


class Unsuitable(DeviceError):
    """A library that is not for this GPU or this driver."""


def described(
    name: str, library: ctypes.CDLL | None, version: str, use: str, otherwise: str, wheel: str = "'boxpresso[cuda{}]'"
) -> str:
    """The line of `boxpresso device_query` for a library: what it is used for, or what is done without it.

    wheel: what pip installs to bring it, with {} for the CUDA.
    """
    package = name.lower()
    if package in refused:
        return f"{name}: not used, {otherwise}: {refused[package]}"
    if library is not None:
        return f"{name}: {version}, {library._name}, for {use}"
    if not wanted(package):
        return f"{name}: not used, as BOXPRESSO_LIBRARIES={os.environ['BOXPRESSO_LIBRARIES']} says; {otherwise}"
    cuda = driver_version() // 1000
    wheel = wheel.format(cuda if cuda in (12, 13) else 13)
    return f"{name}: not found, {otherwise}; pip install {wheel} brings it, unless torch has brought one"
