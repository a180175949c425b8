"""What a Net does with its parameters: reads, writes and shares them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from ..device import Blob, Device
from ..graph.quantization import Quantization
from ..layers.core import Layer
from ..proto.errors import ModelError
from ..run.runner import Runner, can_int8
from .weights import CopyReport, Source, copy_weights, read_weights, save_weights, scales_of


class Parameters:
    """The parameters of a Net, which is the one class that builds on this."""

    name: str
    device: Device
    layers: list[Layer]
    names: list[tuple[list[str], list[str]]]  # each layer's bottoms and tops
    params: OrderedDict[str, list[Blob]]
    shared: dict[str, tuple[Layer, int]]
    copied: list[CopyReport]
    dtype: np.dtype[Any]
    quantization: Quantization | None
    _runner: Runner | None
    _precision: str | None

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
            When the file holds no weights, or a blob of another shape than the net's; when it holds scales for 8 bits
            (`boxpresso quantize`) that are not of this net and these weights, by the name of the layer.
        """
        weights = read_weights(path)
        self.copied.append(copy_weights(weights, self.layers))
        self.quantize(scales_of(weights), weights.path)
        return self.copied[-1]

    def quantize(self, quantization: Quantization | None, path: str = "") -> None:
        """Runs the net in 8 bits by some scales, where it can and `precision` allows it; None: in float.

        Parameters
        ----------
        quantization
            Of `boxpresso.quantize` or of a file. They are checked against the net's layers and weights as they are now.
        path
            Where they are from, for errors.

        Raises
        ------
        ModelError
            Where they are not of this net and its weights; for None with precision="int8".
        """
        if quantization is None and self._precision == "int8":
            raise ModelError(
                f"{path or 'the weights'}: no scales for 8 bits; make a file that has them with `boxpresso quantize`, or leave "
                "out precision='int8'"
            )
        if quantization is not None and self._in_int8():
            quantization.check(self.layers, path or "the file")
        self._run_by(quantization)

    def _in_int8(self) -> bool:
        """Whether the net may run in 8 bits."""
        able = self._runner is not None and can_int8(self.device, self.dtype, True)
        return able and self._precision in (None, "int8")

    def _run_by(self, quantization: Quantization | None) -> None:
        """As `quantize`, of scales that are known to fit."""
        if self._runner is None or not self._in_int8():
            return
        if quantization is not None or self.quantization is not None:
            self._runner.use_int8(quantization.narrow(self._runner.source) if quantization else None)
        self.quantization = quantization

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
