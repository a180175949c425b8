"""What a Net does with its parameters: reads, writes and shares them."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from ..device import Blob, Device
from ..layers.core import Layer
from ..proto.errors import ModelError
from .weights import CopyReport, Source, copy_weights, read_weights, save_weights


class Parameters:
    """The parameters of a Net, which is the one class that builds on this."""

    name: str
    device: Device
    layers: list[Layer]
    names: list[tuple[list[str], list[str]]]  # each layer's bottoms and tops
    params: OrderedDict[str, list[Blob]]
    shared: dict[str, tuple[Layer, int]]
    copied: list[CopyReport]

    def clear_param_diffs(self) -> None:
        """Zeroes the diff of every parameter; `backward` adds to them."""
        for layer in self.layers:
            for blob in layer.blobs:
                blob.diff.fill(0)

    def copy_from(self, path: Source) -> CopyReport:
        """Copies the weights of a file to the layers of the same names.

        Parameters
        ----------
        path
            A .caffemodel or .h5, of any age and fork of Caffe.

        Returns
        -------
        CopyReport
            Which layers were copied (`matched`); `missing` and `unused` are the layers of the net and of the file alone.

        Raises
        ------
        ModelError
            When the file holds no weights, or a blob of another shape than the net's.
        """
        self.copied.append(copy_weights(read_weights(path), self.layers))
        return self.copied[-1]

    def save(self, path: Source) -> None:
        """Writes the weights as Caffe does, as a whole file or not at all.

        Parameters
        ----------
        path
            A .caffemodel; HDF5 when the name ends in .h5 or .hdf5.

        Raises
        ------
        ModelError
            When the file cannot be written.
        """
        rows = [
            (layer.name, layer.type, bottoms, tops, [np.asarray(blob._view(False)) for blob in layer.blobs])
            for layer, (bottoms, tops) in zip(self.layers, self.names)
        ]
        save_weights(path, rows, self.name)

    def share_with(self, other: Parameters) -> None:
        """Uses the memory of another net's parameters, for layers of the same name.

        Parameters
        ----------
        other
            A net on the same device.

        Raises
        ------
        ModelError
            Where the shapes of parameters, or the devices, differ.
        """
        for name, blobs in self.params.items():
            others = other.params.get(name)
            if others is None:
                continue
            if [b.shape for b in blobs] != [b.shape for b in others] or other.device.name != self.device.name:
                raise ModelError(f"layer {name!r} cannot share: its parameters differ in shape, or the nets in device")
            for blob, shared in zip(blobs, others):
                blob.share_data(shared)

    def weights_changed(self) -> None:
        """Tells that parameters were changed behind the back of their arrays: plans that work with them pack them anew.

        Only what writes to their memory by its address needs it; changes through arrays, whenever taken, are seen.
        """
        for layer in self.layers:
            for blob in layer.blobs:
                blob._data.changes += 1

    @property
    def learnable(self) -> list[tuple[Blob, float, float]]:
        """Each parameter once, with its lr_mult (0 where it does not learn) and decay_mult."""
        parameters = []
        for layer in self.layers:
            for i, blob in enumerate(layer.blobs):
                spec = layer.param.param[i] if i < len(layer.param.param) else None
                if spec is not None and spec.name and self.shared[spec.name] != (layer, i):
                    continue
                lr = spec.lr_mult if spec is not None else 1.0
                parameters.append(
                    (blob, lr if layer.param_propagate_down[i] else 0.0, spec.decay_mult if spec else 1.0)
                )
        return parameters
