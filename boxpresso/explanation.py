"""What a Detector assumes of a net, and why: the known model that it is, its decoder, and where each setting is from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from .decoders.base import Decoder, Settings
from .decoders.known_models import Recognition, recognise

WORDS = {"mean": "mean", "scale": "scale", "swap_rb": "order of channels", "size": "size", "anchors": "anchors"}


class Detector(Protocol):
    """What is explained of a `boxpresso.Detector`."""

    recognition: Recognition | None
    decoder: Decoder
    settings: Settings
    given: Mapping[str, Any]
    names: Mapping[int, str]


def known_settings(recognition: Recognition | None, decoder: Decoder) -> dict[str, Any]:
    """What the table of known models says of the input, for a decoder that prepares pictures in the usual way.

    Not the size: that of the prototxt is what its user wants. Nor for a cascade, which prepares its crops itself.
    """
    if recognition is None or decoder.CASCADE:
        return {}
    settings = recognition.model.settings()
    settings.pop("size", None)
    net = decoder.nets[0]
    channels = {net.blobs[name].shape[1] for name in net.inputs if len(net.blobs[name].shape) == 4}
    if "mean" in settings and len(settings["mean"]) not in (1, *channels):
        del settings["mean"]
    return settings


def known_names(recognition: Recognition | None, decoder: Decoder) -> dict[int, str]:
    """{label: name} of a known model whose classes are those of the net; empty for other nets."""
    if recognition is None or not recognition.same:
        return {}
    names = recognition.model.class_names
    if decoder.classes is None and decoder.KIND == "classes":
        return dict(enumerate(names))
    if decoder.classes not in (len(names), len(names) + 1):
        return {}
    return dict(enumerate(names, decoder.classes - len(names)))


def assumed(detector: Detector) -> str | None:
    """One line about a known model, for the user to judge; None where the net is none."""
    recognition = detector.recognition
    if recognition is None:
        return None
    kind = {"variant": "a variant of ", "renamed": "with other names, "}.get(recognition.kind, "")
    names = recognition.model.class_names
    listed = ", ".join(names[:3]) + " .." * (len(names) > 3)
    labels = f"; labels {listed}" if from_table(detector) else ""
    own = not detector.given.keys() & {"mean", "scale", "swap_rb"}
    described = recognition.model.pixels() if own and not detector.decoder.CASCADE else detector.settings.describe()
    doubt = (
        f"; {recognition.model.note}"
        if recognition.model.mean is None and "mean" not in detector.given and recognition.model.note
        else ""
    )
    return f"recognised as {kind}{recognition.model.title} ({recognition.evidence()}): {described}{labels}{doubt}"


def from_table(detector: Detector) -> bool:
    """Whether the names of the classes are those of the known model."""
    names = known_names(detector.recognition, detector.decoder)
    return bool(names) and detector.names == {**detector.decoder.names, **names}


def explain(detector: Detector) -> list[str]:
    """Why a Detector does what it does: the model that it recognises, the decoder, and where each setting is from."""
    recognition, decoder = detector.recognition, detector.decoder
    lines = recognition.explain() if recognition else []
    for net in decoder.nets if not recognition else []:
        each = recognise(net) if len(decoder.nets) > 1 else None
        said = f"{each.model.title} ({each.model.name}), {each.evidence()}" if each else "none of the known models"
        lines.append(f"recognised: {said}{'' if each else ' (boxpresso models), by the names of layers'}")
    lines.append(f"decoder: {decoder.NAME}, {decoder.TITLE}")
    lines += [f"  seen: {text}" for text, there in type(decoder).signs(decoder.nets).items() if there]
    known = known_settings(recognition, decoder)
    for name, words in WORDS.items():
        value = getattr(detector.settings, name)
        if name == "anchors" and value is None:
            continue
        if name in detector.given:
            origin = "as given"
        elif name in known and recognition is not None:
            origin = f"of {recognition.model.name}, {recognition.model.source or 'source unknown'}"
        elif name == "size" and value is None:
            origin = "of the prototxt, or of the picture where the net takes any"
        else:
            origin = f"the default of {decoder.NAME}"
        lines.append(f"{words}: {shown(name, value)}, {origin}")
    lines.append(f"labels: {label_origin(detector)}")
    return lines


def shown(name: str, value: Any) -> str:
    """A setting in words."""
    if name == "swap_rb":
        return "red, green, blue" if value else "blue, green, red"
    if value is None:
        return "none"
    if name == "size":
        return f"{value[0]} x {value[1]}"
    if isinstance(value, (tuple, list)):
        return ",".join(f"{v:g}" for v in value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def label_origin(detector: Detector) -> str:
    """Where the names of the classes are from."""
    if not detector.names:
        return "none, classes are shown by their numbers; --labels names them"
    count = f"{len(detector.names)} name{'s' * (len(detector.names) != 1)}"
    if from_table(detector) and detector.recognition:
        return f"{count} of {detector.recognition.model.name}"
    return (
        f"{count} of {detector.decoder.NAME}"
        if detector.names == dict(detector.decoder.names)
        else f"{count}, as given"
    )
