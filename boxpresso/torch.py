"""The region operators for torch, and in the place of torchvision's, mmcv's or detectron2's.

    import boxpresso.torch as ops
    ops.roi_align(features, rois, 7).sum().backward()

    boxpresso.torch.replace("torchvision")      # torchvision's functions, modules and models compute with ours from now on
    boxpresso.torch.restore("torchvision")      # and with theirs again

The functions are those of `boxpresso.ops`, with their defaults (roi_align has aligned=True), for tensors with a gradient; under
`replace` names, arguments and defaults are the other library's. docs/torch.md says which are replaced, and what was tested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module

from .ops.torch import *  # noqa: F403
from .ops.torch import __all__ as OPERATORS
from .proto.errors import BoxpressoError

LIBRARIES = ("torchvision", "mmcv", "detectron2")
replaced: dict[str, Callable[[], None]] = {}  # by the name of a library, what takes ours back


def replace(library: str) -> None:
    """Puts our operators in the place of a library's, for the whole process; a second time changes nothing.

    Parameters
    ----------
    library : "torchvision", "mmcv" or "detectron2".

    Raises
    ------
    BoxpressoError: another name, or the library is not installed.
    """
    if library not in LIBRARIES:
        raise BoxpressoError(f"library must be one of {LIBRARIES}, got {library!r}")
    if library in replaced:
        return
    try:
        replaced[library] = import_module(f".ops.in_{library}", __package__).replace()
    except ModuleNotFoundError as error:
        raise BoxpressoError(f"{library} cannot be replaced: {error}") from error


def restore(library: str) -> None:
    """Puts a library's own operators back; nothing happens where they were not replaced."""
    if library in replaced:
        replaced.pop(library)()


@contextmanager
def replacing(library: str) -> Iterator[None]:
    """`replace` for a block, and `restore` behind it, where they were not replaced before."""
    before = library in replaced
    replace(library)
    try:
        yield
    finally:
        if not before:
            restore(library)


__all__ = [*OPERATORS, "replace", "replacing", "restore"]
