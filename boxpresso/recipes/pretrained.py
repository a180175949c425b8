"""Weights to start from: what of a .caffemodel fits a net, by the names and shapes of layers."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..net import Net
from ..net.weights import Weights, copy_weights, save_weights
from ..proto.errors import ModelError


@dataclass
class Fit:
    """Names of layers: copied from the file, fresh (missing in the file, or dependent on the classes), unused of the file, and
    of other shapes with what is wrong."""

    path: str
    copied: list[str] = field(default_factory=list)
    fresh: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    misfits: dict[str, str] = field(default_factory=dict)


def is_folded(weights: Weights, layer: str) -> bool:
    """Whether a layer that usually has BatchNorm after it has a bias in its place, as in weights for deployment."""
    return layer in weights and len(weights[layer].blobs) == 2 and f"{layer}/bn" not in weights


def fit(weights: Weights, net: Net, depends: Callable[[str], bool]) -> Fit:
    """Copies what fits of a file into a net.

    Parameters
    ----------
    weights
        Of `net.weights.read_weights`.
    net
        The net that takes them.
    depends
        Whether a layer of this name depends on the classes; such a layer stays as it is.

    Returns
    -------
    Fit
        The names of what was copied and what was not.

    Raises
    ------
    ModelError
        Where nothing fits.

    Examples
    --------
    >>> import tempfile
    >>> from boxpresso.net.weights import read_weights
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 2 } } }
    ...     layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" inner_product_param { num_output: 3 bias_term: false } }
    ...     layer { name: "b" type: "InnerProduct" bottom: "a" top: "b" inner_product_param { num_output: 3 bias_term: false } }
    ...     '''), device="cpu")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/w.caffemodel"
    ...     rows = [("a", "InnerProduct", [], [], [np.ones((3, 2))]), ("c", "InnerProduct", [], [], [np.ones((3, 2))])]
    ...     save_weights(path, rows)
    ...     found = fit(read_weights(path), net, lambda name: False)
    >>> found.copied, found.fresh, found.unused
    (['a'], ['b'], ['c'])
    """
    fit = Fit(weights.path)
    own = {name for name, blobs in net.params.items() if blobs}
    for layer in weights.layers:
        if not layer.blobs or layer.name in fit.copied:
            continue
        if layer.name not in own or depends(layer.name):
            fit.unused.append(layer.name)
            continue
        try:
            copy_weights(Weights(weights.path, weights.name, [layer]), net.layers)
        except ModelError as error:
            fit.misfits[layer.name] = str(error).split(". Use the prototxt")[0]
        else:
            fit.copied.append(layer.name)
    fit.fresh = [name for name in net.params if name in own and name not in fit.copied]
    if not fit.copied:
        names = [layer.name for layer in weights.layers if layer.blobs]
        raise ModelError(
            f"{weights.path} fits no layer of the net: it has {', '.join(names[:4])} .., the net {', '.join(sorted(own)[:4])} "
            f"..{'; ' + next(iter(fit.misfits.values())) if fit.misfits else ''}. Is it of another architecture? See "
            "--backbone"
        )
    return fit


def save(net: Net, names: list[str], path: str | os.PathLike[str]) -> None:
    """Writes the weights of some layers of a net, in its order."""
    wanted = set(names)
    rows = [
        (layer.name, layer.type, *net.names[i], [np.asarray(blob.data) for blob in layer.blobs])
        for i, layer in enumerate(net.layers)
        if layer.name in wanted
    ]
    save_weights(path, rows, net.name)
