"""Makes `import caffe` mean boxpresso.caffe, and serves modules that old projects compile from Cython."""

from __future__ import annotations

import importlib
import importlib.util
import os
import stat
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from ..layers.core.python import folder_alone
from ..proto.errors import BoxpressoError, BoxpressoWarning
from .python2 import UserLoader

OWN = Path(__file__).parent
PACKAGE = __name__.rpartition(".")[0]
# Extension modules of Fast and Faster R-CNN and their descendants, in any package, that a script may not have built
CYTHON = {"cpu_nms", "gpu_nms", "cython_bbox", "cython_nms"}
# What a fork of Caffe brings along, which is preferred to ours where its folder is on sys.path
EXTRAS = {"model_libs"}


class CaffeFinder(MetaPathFinder, Loader):
    """Finds `caffe` and its modules in boxpresso.caffe, others of `caffe` in folders of that name on sys.path."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        top, _, inner = fullname.partition(".")
        if top != "caffe":
            return None
        if inner in EXTRAS or (inner and not own(inner)):
            for folder, start in folders():
                file = Path(folder, "caffe", *inner.split("."))
                for candidate in (file.with_suffix(".py"), file / "__init__.py"):
                    if candidate.is_file() and (start is None or ours(candidate, Path(folder), start)):
                        loader = UserLoader(fullname, str(candidate))
                        return importlib.util.spec_from_file_location(fullname, candidate, loader=loader)
        return ModuleSpec(fullname, self) if not inner or own(inner) else None

    def exec_module(self, module: ModuleType) -> None:
        """Puts boxpresso's module in place of the new one, as the import system allows."""
        name = module.__name__
        sys.modules[name] = importlib.import_module(PACKAGE + name[len("caffe") :])


class CythonFinder(MetaPathFinder, Loader):
    """Finds the modules of CYTHON that were not built, after all other finders: `cython` has what they hold."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname.rpartition(".")[2] in CYTHON else None

    def exec_module(self, module: ModuleType) -> None:
        served = importlib.import_module(f"{PACKAGE}.cython")
        for name in served.__all__:
            setattr(module, name, getattr(served, name))


def folders() -> Iterator[tuple[str, Path | None]]:
    """Where a fork's own modules of `caffe` may lie: in sys.path, or in the folder `python` of Caffe's tree.

    The tree is that around the working directory, or around the script that runs, which comes second.
    """
    yield from ((folder or ".", None) for folder in sys.path)
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    for start in (Path.cwd(), Path(script).resolve().parent if script else None):
        if start is not None:
            yield from ((str(folder / "python"), start) for folder in (start, *start.parents))


def ours(file: Path, folder: Path, start: Path) -> bool:
    """Whether a file that was found above `start` is this user's, root's, or that of the owner of `start`.

    In /tmp, or another folder that is shared, anybody may have put it there; a warning says that it is passed over.
    """
    if os.name != "posix":
        return True
    owners = {os.geteuid(), 0, start.stat().st_uid}
    for path in (file, *(above for above in file.parents if above.is_relative_to(folder))):
        seen = path.stat()
        if seen.st_uid not in owners or seen.st_mode & stat.S_IWOTH:
            warnings.warn(
                f"{file} is not imported, because {path} belongs to another user, or others may write to it; "
                "put its folder on PYTHONPATH if you trust it",
                BoxpressoWarning,
                stacklevel=2,
            )
            return False
    return True


def own(inner: str) -> bool:
    """Whether boxpresso.caffe has a module of that name."""
    file = OWN.joinpath(*inner.split("."))
    return file.with_suffix(".py").is_file() or (file / "__init__.py").is_file()


def install() -> None:
    """Makes `import caffe` mean boxpresso.caffe in this process, for all that is imported afterwards.

    Raises
    ------
    BoxpressoError
        When another caffe has been imported already.

    Examples
    --------
    >>> import boxpresso.caffe
    >>> boxpresso.caffe.install()
    >>> import caffe
    >>> caffe is boxpresso.caffe
    True
    >>> boxpresso.caffe.uninstall()
    """
    loaded = sys.modules.get("caffe")
    if loaded is not None and folder_alone(loaded.__spec__):
        del sys.modules["caffe"]
    elif loaded is not None and loaded is not sys.modules[PACKAGE]:
        raise BoxpressoError(
            f"another caffe is imported already, from {getattr(loaded, '__file__', 'an unknown place')}; call "
            "boxpresso.caffe.install() before anything imports it"
        )
    if not any(isinstance(finder, CaffeFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, CaffeFinder())
        sys.meta_path.append(CythonFinder())


def uninstall() -> None:
    """Takes back what `install` did: `import caffe` means what it did before."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, (CaffeFinder, CythonFinder))]
    for name in [name for name in sys.modules if name.partition(".")[0] == "caffe"]:
        if sys.modules[name].__name__.startswith(PACKAGE):
            del sys.modules[name]
