"""NVIDIA's libraries: where cuBLAS and cuDNN are, if anywhere."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path

from .prototypes import Prototypes, declare

WHEELS = {"cublas": ("nvidia.cu13", "nvidia.cublas"), "cudnn": ("nvidia.cudnn",)}  # the packages that hold their files
PARTS = {
    "cublas": ("cublasLt",),
    "cudnn": (),
}  # libraries that one needs, which a wheel's loader may not find by itself


def wanted() -> bool:
    """Whether NVIDIA's libraries are to be used: BOXPRESSO_LIBRARIES=0 says no, so that our own kernels do all work."""
    return os.environ.get("BOXPRESSO_LIBRARIES") != "0"


def folders(name: str) -> list[Path]:
    """Where the pip wheels of a library keep it."""
    places: list[Path] = []
    if importlib.util.find_spec("nvidia") is not None:
        for wheel in WHEELS[name]:
            spec = importlib.util.find_spec(wheel)
            for place in (spec.submodule_search_locations or ()) if spec else ():
                places += [folder for part in ("lib", "bin") if (folder := Path(place, part)).is_dir()]
    return places


def find(name: str, versions: Sequence[int], prototypes: Prototypes) -> ctypes.CDLL | None:
    """A library of NVIDIA's, the newest of the versions: the system's, as of a CUDA toolkit, else a pip wheel's.

    None where there is none, or with BOXPRESSO_LIBRARIES=0. One that lacks a function of `prototypes` is passed over.
    """
    if not wanted():
        return None
    files = [f"lib{name}.so.{version}" for version in versions] + [f"lib{name}.so"]
    for folder in folders(name):
        for version in versions:
            file = folder / f"lib{name}.so.{version}"
            if file.exists():
                for part in PARTS[name]:
                    files.append(str(folder / f"lib{part}.so.{version}"))
                files.append(str(file))
    for file_name in files:
        try:
            library = ctypes.CDLL(file_name)
            if f"lib{name}.so" in file_name:
                return declare(library, prototypes)
        except OSError:
            continue
    return None


def described(name: str, library: ctypes.CDLL | None, version: str, use: str, otherwise: str) -> str:
    """The line of `boxpresso device_query` for a library: what it is used for, or what is done without it."""
    if library is not None:
        return f"{name}: {version}, {library._name}, for {use}"
    if not wanted():
        return f"{name}: not used, as BOXPRESSO_LIBRARIES=0 says; {otherwise}"
    package = name.lower()
    return (
        f"{name}: not found, {otherwise}; pip install 'boxpresso[cuda]' brings it, or nvidia-{package}"
        f"{'-cu13' if package == 'cudnn' else ''} for CUDA 13 and nvidia-{package}-cu12 for CUDA 12"
    )
