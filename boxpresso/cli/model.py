"""A net and its weights, and a detector, as the verbs that run one load them."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ..proto.errors import ModelError
from . import arguments

if TYPE_CHECKING:
    from ..detection import Detector
    from ..net import Net

MODEL = "the net, a .prototxt; of a cascade the folder, or A.prototxt,B.prototxt,..; or a public model's name"
MODELS = (".prototxt", ".pt", ".pbtxt", ".txt")
WEIGHTS = (".caffemodel", ".h5", ".hdf5")  # endings of the second argument


def load(model: str, weights: str, **options: Any) -> Net:
    """A Net with its weights; `options` are further arguments of Net.

    Warns of layers for which the file has no weights. Raises ModelError when these are all.
    """
    from ..decoders import files

    return files.load(model, weights, **options)


def open_detector(args: Namespace, after: str = "") -> Detector:
    """The Detector that the arguments of `arguments.detector` describe; `after`: the verb's words after MODEL WEIGHTS.

    Raises ModelError for files that cannot be used, UnrecognisedError where no decoder reads the outputs.
    """
    from ..decoders.files import is_name
    from ..decoders.published import unknown

    if not args.weights and not os.path.isdir(args.model) and not is_name(args.model):
        if not os.path.exists(args.model) and not args.model.endswith(MODELS) and "," not in args.model:
            raise ModelError(unknown(args.model))
        more = (f" {after}", f" and {after}") if after else ("", "")
        named = getattr(args, "images", [])
        if named and named[-1].lower().endswith(WEIGHTS):  # the parser takes a single word for IMAGE
            raise ModelError(f"no {after.rstrip('.')} is named after MODEL {args.model} WEIGHTS {named[-1]}")
        raise ModelError(
            f"MODEL {args.model} needs WEIGHTS: give MODEL WEIGHTS{more[0]}, or the folder of a cascade{more[1]}"
        )
    return recipe(args)()


def recipe(args: Namespace) -> Callable[[], Detector]:
    """What makes that Detector, here or in another process."""
    models: Any = args.model.split(",") if "," in args.model and not os.path.exists(args.model) else args.model
    weights: Any = args.weights
    if weights and "," in weights and not os.path.exists(weights):
        weights = weights.split(",")
    words = ("mean", "scale", "swap_rb", "size", "threshold", "overlap", "anchors")
    options = {name: getattr(args, name) for name in words}
    settings = {"decoder": args.decoder, "labels": args.labels, "clip": args.clip, **options}
    return partial(make, models, weights, {"device": args.device, **arguments.of_net(args)}, settings)


def make(models: Any, weights: Any, options: dict[str, Any], settings: dict[str, Any]) -> Detector:
    """A Detector of nets with these options and settings."""
    from ..decoders.files import open_nets
    from ..detection import Detector

    return Detector(open_nets(models, weights, **options), **settings)
