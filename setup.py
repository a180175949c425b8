"""What a wheel has beside what pyproject.toml says: kernels compiled ahead, for every level of this machine's kind of CPU.

BOXPRESSO_LEVELS names the levels, such as v3,v4; none makes a wheel without kernels, which compiles them where it runs. The
compiler is $CXX, else that of the machine, else the `ziglang` wheel. BOXPRESSO_KERNELS, which goes before, names a folder of
libraries that are compiled already. `pip install -e` compiles none: in a source tree each is compiled on first use.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "packaging"))

from readme import address, long_description  # noqa: E402

KERNELS = os.environ.get("BOXPRESSO_KERNELS", "")
LEVELS = "" if KERNELS else os.environ.get("BOXPRESSO_LEVELS", "all")


class BuildWithKernels(build_py):
    """Copies the package, and compiles its kernels beside them."""

    def run(self):
        super().run()
        folder = Path(self.build_lib).resolve() / "boxpresso" / "device" / "prebuilt"
        shutil.rmtree(folder, ignore_errors=True)  # of a build before
        if self.editable_mode or LEVELS == "none":
            return
        if KERNELS:
            shutil.copytree(KERNELS, folder)
            return
        command = [sys.executable, "-m", "boxpresso.device.build", "--cpu", LEVELS, "--into", str(folder)]
        places = [
            str(ROOT),
            *filter(None, [os.environ.get("PYTHONPATH")]),
        ]  # pip's own: numpy, which it brought for this build
        result = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": os.pathsep.join(places)})
        if result.returncode:
            sys.exit(
                "the kernels of this wheel were not compiled, for the reason above. BOXPRESSO_LEVELS=none makes a wheel "
                "without them: each is then compiled where and when it is first used"
            )


class WheelOfAPlatform(bdist_wheel):
    """A wheel for any Python of a platform, or of any where it has no kernels."""

    def get_tag(self):
        return ("py3", "none", "any" if LEVELS == "none" else super().get_tag()[2])


class Package(Distribution):
    """The package, which lies where files of one platform do if it has kernels."""

    def has_ext_modules(self):
        return LEVELS != "none"


setup(
    distclass=Package,
    cmdclass={"build_py": BuildWithKernels, "bdist_wheel": WheelOfAPlatform},
    long_description=long_description((ROOT / "README.md").read_text(encoding="utf-8"), address()),
    long_description_content_type="text/markdown",
)
