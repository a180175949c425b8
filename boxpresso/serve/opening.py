"""A model that is chosen on the page of a server that began without one: a public one by its name, or files that are sent."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath
from typing import Any

from ..decoders.published import find, published, unknown
from ..detection import Detector
from ..proto.errors import BoxpressoError, DeviceError
from .answers import public
from .model import Model
from .options import Refusal

NETS, WEIGHTS, LABELS = (".prototxt", ".pt", ".pbtxt"), (".caffemodel", ".h5", ".hdf5"), (".txt", ".names")
ADVICE = "choose a .prototxt and its .caffemodel or .h5 together, and if you like a .txt with the names of classes"
Open = Callable[[Any, Any, Any], Detector]  # of model, weights and labels, as Detector has them


class Opening:
    """Opens models. The methods run in the worker's thread.

    Parameters
    ----------
    make
        Makes a Detector of model, weights and labels, each a path, or of a public model's name and None, None.
    """

    def __init__(self, make: Open) -> None:
        self.make = make

    @property
    def choices(self) -> list[dict[str, Any]]:
        """The public models, for the page."""
        return [
            {"name": each.name, "title": each.title, "bytes": each.size, "licence": each.licence, "page": each.page}
            for each in published().values()
        ]

    def by_name(self, name: str) -> Model:
        """A public model, which is fetched where it is not here yet. Raises Refusal."""
        if find(name) is None:
            raise Refusal(404, unknown(name))
        return self.opened(name, name, None, None)

    def of_files(self, files: Mapping[str, bytes]) -> Model:
        """The model of a prototxt and weights; they lie in a folder of their own while they are read. Raises Refusal."""
        model, weights, labels = (self.chosen(files, endings) for endings in (NETS, WEIGHTS, LABELS))
        if model is None or weights is None:
            there = ", ".join(files) or "nothing"
            raise Refusal(422, f"a model is two files, but {there} came; {ADVICE}")
        with tempfile.TemporaryDirectory(prefix="boxpresso-") as folder:
            paths = [Path(folder, f"{i}{PurePath(name).suffix.lower()}") for i, name in enumerate((model, weights))]
            paths += [Path(folder, "2.txt")] if labels is not None else []
            for path, name in zip(paths, (model, weights, labels)):
                path.write_bytes(files[str(name)])
            try:
                return self.opened(model, paths[0], paths[1], paths[2] if labels is not None else None)
            except Refusal as error:
                said = str(error)
                for path, name in zip(paths, (model, weights, labels)):
                    said = said.replace(str(path), str(name)).replace(path.name, str(name))
                raise Refusal(error.status, said) from None

    @staticmethod
    def chosen(files: Mapping[str, bytes], endings: tuple[str, ...]) -> str | None:
        """The one file with such an ending, None where there is none. Raises Refusal for several."""
        names = [name for name in files if PurePath(name).suffix.lower() in endings]
        if len(names) > 1:
            raise Refusal(422, f"there are {len(names)} files of one kind, {' and '.join(names)}; {ADVICE}")
        return names[0] if names else None

    def opened(self, called: str, model: Any, weights: Any, labels: Any) -> Model:
        """A Model that has looked at a picture without anything. Raises Refusal for what cannot be opened."""
        try:
            made = Model(self.make(model, weights, labels), called)
            made.warm()
        except DeviceError:
            raise
        except BoxpressoError as error:
            raise Refusal(422, public(f"{called} cannot be opened: {error}")) from None
        return made
