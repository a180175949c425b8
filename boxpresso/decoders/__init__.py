"""From the outputs of a net to detections: a decoder of its own file for each kind of net.

`recognise` chooses one by what the nets' layers and outputs look like; `named` by its name. A new decoder is a class of
`base.Decoder` in a file of this folder and a line in HOMES.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

from ..proto.errors import ModelError

if TYPE_CHECKING:
    from ..net import Net
    from .base import Decoder

HOMES = {  # name: (module, class); those that are recognised by more come first
    "ssd": ("ssd", "Ssd"),
    "yolo": ("yolo", "Yolo"),
    "r2cnn": ("r2cnn", "R2cnn"),
    "faster_rcnn": ("rcnn", "FasterRcnn"),
    "mtcnn": ("mtcnn", "Mtcnn"),
    "pcn": ("pcn", "Pcn"),
    "retinaface": ("retinaface", "RetinaFace"),
    "ultralight": ("ultralight", "UltraLight"),
    "centerface": ("centerface", "CenterFace"),
    "textboxes": ("textboxes", "TextBoxes"),
    "ctpn": ("ctpn", "Ctpn"),
    "yolo_maps": ("yolo_maps", "YoloMaps"),
    "openpose": ("openpose", "OpenPose"),
    "landmarks": ("landmarks", "Landmarks"),
    "plates": ("plates", "Plates"),
    "segmentation": ("segmentation", "Segmentation"),
    "superresolution": ("superresolution", "SuperResolution"),
    "classification": ("classification", "Classification"),
}


def decoders() -> list[type[Decoder]]:
    """All decoders, in the order in which they are tried."""
    result: list[type[Decoder]] = [
        getattr(import_module(f".{module}", __name__), name) for module, name in HOMES.values()
    ]
    return result


def named(name: str) -> type[Decoder]:
    """The decoder of a name. Raises ModelError that lists the names for an unknown one."""
    key = name.lower().replace("-", "_")
    if key not in HOMES:
        near = get_close_matches(key, HOMES, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise ModelError(f"there is no decoder {name!r}; {hint}there are {', '.join(HOMES)}")
    module, kind = HOMES[key]
    result: type[Decoder] = getattr(import_module(f".{module}", __name__), kind)
    return result


def recognise(nets: Sequence[Net]) -> Decoder | None:
    """The decoder whose signs the nets show, or None."""
    for decoder in decoders():
        if decoder.recognises(nets):
            return decoder.build(nets)
    return None


def nearest(nets: Sequence[Net], count: int = 3) -> list[tuple[type[Decoder], list[str]]]:
    """The decoders that come closest to being recognised, best first, each with what it misses."""
    ranked = []
    for decoder in decoders():
        signs = {sign: there for sign, there in decoder.signs(nets).items() if sign != "one net" or not there}
        missing = [sign for sign, there in signs.items() if not there]
        ranked.append((len(missing) / len(signs), len(missing), decoder, missing))
    ranked.sort(key=lambda each: each[:2])
    return [(decoder, missing) for _, _, decoder, missing in ranked[:count]]


def unrecognised(nets: Sequence[Net]) -> str:
    """Why no decoder reads the nets, for a message: their outputs, the nearest decoders, and how to choose one."""
    lines = []
    for net in nets:
        outputs = ", ".join(f"{name} {tuple(net.blobs[name].shape)}" for name in net.outputs)
        lines.append(f"net {net.name!r} is of no kind that is recognised; its outputs are: {outputs or 'none'}")
    lines.append("the nearest decoders, and what each misses:")
    lines += [f"  {decoder.NAME}: {'; '.join(missing)}" for decoder, missing in nearest(nets)]
    if len(nets) > 1:
        lines.append("nets that work one by one are named one by one, each a prototxt and its weights")
    lines.append(f"choose one with --as NAME (decoder=NAME in Python); there are {', '.join(HOMES)}")
    return "\n".join(lines)
