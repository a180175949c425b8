"""What suppresses the boxes of a detector that overlap a better one, for the page."""

from __future__ import annotations

from collections.abc import Sequence

from ..decoders.base import Decoder, Settings
from ..decoders.ssd import RowsDecoder


def recorded(decoder: Decoder) -> Sequence[str]:
    """Blobs that are kept of a pass, so that another overlap needs no other: those that the layer which suppresses reads."""
    return decoder.bottoms if isinstance(decoder, RowsDecoder) and decoder.suppresses else ()


def overlap_of(decoder: Decoder, settings: Settings) -> float | None:
    """The overlap in force; None where nothing suppresses."""
    if not decoder.suppresses:
        return None
    if settings.overlap is None and isinstance(decoder, RowsDecoder):
        return decoder.own_overlap()
    return settings.overlap


def where(decoder: Decoder) -> str:
    """What suppresses, and what the slider of the page does, in words."""
    if not decoder.suppresses:
        return f"the decoder {decoder.NAME} suppresses nothing by overlap"
    if isinstance(decoder, RowsDecoder):
        return (
            f"nms_threshold of layer {decoder.layer.name}, type {decoder.layer.type}: it alone is run again over what its "
            "bottoms held; its other parameters stay"
        )
    inside = [layer.name for net in decoder.nets for layer in net.layers if layer.type.endswith("Proposal")]
    rest = f"; region proposals of layer {inside[0]} keep their own" if inside else ""
    return f"the decoder {decoder.NAME} reads the same outputs again{rest}"
