"""The build's backend: setuptools, with what compiling kernels ahead needs asked for where that is done, by a wheel alone."""

import os
import shutil

from setuptools.build_meta import *  # noqa: F403
from setuptools.build_meta import get_requires_for_build_wheel as plain

KERNELS = ["numpy>=1.23", "protobuf>=3.20", "pillow>=10.1"]  # what the package imports


def get_requires_for_build_wheel(config_settings=None):
    """What a wheel's build needs: a compiler too, where the machine has none."""
    if os.environ.get("BOXPRESSO_LEVELS") == "none":
        return plain(config_settings)
    has_one = os.environ.get("CXX") or any(map(shutil.which, ("c++", "g++", "clang++")))
    return [*plain(config_settings), *KERNELS, *([] if has_one else ["ziglang"])]
