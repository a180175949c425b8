"""A Detector that answers one request after the other, and remembers the last pictures."""

from __future__ import annotations

import io
import secrets
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from ..data.errors import BrokenRecord, DataError
from ..data.inputs import Numpy
from ..data.picture import open_picture
from ..decoders.detections import Detections, numbers_of
from ..detection import Detector
from ..drawing import PALETTE
from ..explanation import explain
from ..image import as_image
from ..net import Net
from ..proto.errors import BoxpressoError, nearest
from . import answers, graphs, suppression
from .answers import public
from .blobs import View, look
from .options import Refusal
from .recording import Record, Recorder

FLOOR = 0.05  # the score from which on the page asks for detections, which it then hides and shows by itself
ENDS_OWN = ("ctpn", "landmarks", "plates")  # whose threshold decides more than which detections are given
BY_OUTPUTS = ("mtcnn", "pcn")  # which look at the outputs of passes alone, not at the shapes of blobs
KEPT, KEPT_BYTES = 8, 512 << 20  # pictures, and bytes of them and of their passes
MOST = 1000  # detections in an answer


@dataclass
class Picture:
    """A picture that was sent: its name for later requests, its pixels, and what nets made of it."""

    token: str
    pixels: Numpy
    record: Record = field(default_factory=Record)

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self.pixels.nbytes) + self.record.size


@dataclass(frozen=True)
class Wanted:
    """What a request asks of the detections.

    Attributes
    ----------
    score
        The lowest score; None for the model's.
    overlap
        From which on a better box suppresses another; None for the model's.
    labels
        Names or numbers of the classes; empty for all.
    """

    score: float | None = None
    overlap: float | None = None
    labels: tuple[str, ...] = ()


class Model:
    """What is served. All methods run in the worker's thread, but `describe`.

    Parameters
    ----------
    detector
        The Detector. Its nets belong to this from now on.
    name
        What the model is called, a file's name.
    paths
        Of files that clients need not know, beside that of a mean.
    """

    def __init__(self, detector: Detector, name: str, paths: Sequence[str] = ()) -> None:
        self.detector, self.name = detector, name
        self.paths: list[object] = [*paths, detector.settings.mean]
        decoder = detector.decoder
        self.nets: Sequence[Net] = list(decoder.nets)
        self.recorder = Recorder(self.nets, suppression.recorded(decoder), decoder.NAME not in BY_OUTPUTS)
        self.recent: OrderedDict[str, Picture] = OrderedDict()
        self.shown: str | None = None  # the picture whose last passes the blobs of all nets hold
        self.description = self.describe()

    # Pictures

    def read(self, data: bytes) -> Picture:
        """A picture of the bytes of a file. Raises Refusal."""
        try:
            with open_picture(data) as opened:
                image = as_image(ImageOps.exif_transpose(opened))
        except BrokenRecord as error:
            raise Refusal(400, f"the picture cannot be read: {error}") from None
        except (DataError, Image.DecompressionBombError) as error:  # a limit: pixels, bytes, scans of a JPEG
            raise Refusal(413, f"the picture is too large: {error}") from None
        except Image.UnidentifiedImageError:
            raise Refusal(
                400, "this is not a picture that can be read; send JPEG, PNG, WebP, BMP, GIF or TIFF"
            ) from None
        except BoxpressoError as error:
            raise Refusal(400, f"the picture cannot be read: {error}") from None
        except MemoryError:
            raise Refusal(413, "there is not enough memory for the picture") from None
        except Exception as error:  # decoders raise all kinds, from SyntaxError to struct.error, on a broken file
            raise Refusal(400, f"the picture cannot be read: {error or type(error).__name__}") from None
        return Picture(secrets.token_urlsafe(9), np.asarray(image))

    def keep(self, picture: Picture) -> None:
        """Remembers a picture, and forgets the oldest that are too many or too large."""
        self.recent[picture.token] = picture
        self.recent.move_to_end(picture.token)
        while len(self.recent) > KEPT or (len(self.recent) > 1 and self.bytes_kept > KEPT_BYTES):
            self.recent.popitem(last=False)
        if self.bytes_kept > KEPT_BYTES:
            picture.record = Record()

    @property
    def bytes_kept(self) -> int:
        """Bytes of the pictures that are remembered."""
        return sum(picture.size for picture in self.recent.values())

    def known(self, token: str) -> Picture:
        """A picture that was sent before. Raises Refusal with 410 where it is forgotten."""
        if token not in self.recent:
            raise Refusal(410, "this picture is no longer remembered; send it again")
        return self.recent[token]

    # Detections

    def detect(self, source: bytes | str | Path, wanted: Wanted) -> dict[str, Any]:
        """The answer for a picture: the bytes of a file, the path of one, or the token of one that was sent before."""
        begin = time.perf_counter()
        if isinstance(source, str):
            picture = self.known(source)
        else:
            picture = self.read(source if isinstance(source, bytes) else source.read_bytes())
        ready = time.perf_counter()
        detections = self.detections(picture, wanted)
        end = time.perf_counter()
        self.keep(picture)
        most = min(MOST, len(detections))
        record = picture.record
        return {
            "model": self.name,
            "picture": picture.token,
            "image": {"width": picture.pixels.shape[1], "height": picture.pixels.shape[0]},
            "kind": detections.kind,
            "links": [list(pair) for pair in detections.links],
            **({} if detections.picture is None else {"result": answers.image_of(detections.picture)}),
            "detections": answers.rows(detections[:most]),
            "left_out": len(detections) - most,
            "milliseconds": milliseconds(end - ready),
            "timing": {
                "reading": milliseconds(ready - begin),
                "forward": milliseconds(record.seconds),
                "decoding": milliseconds(end - ready - record.seconds),
                "passes": record.ran,
                "remembered": record.replayed,
            },
        }

    def drawn(self, token: str, wanted: Wanted) -> bytes:
        """A picture that was sent before with its detections drawn, as the bytes of a PNG."""
        picture = self.known(token)
        return png_of(self.detections(picture, wanted).plot(picture.pixels))

    def detections(self, picture: Picture, wanted: Wanted) -> Detections:
        """The detections of a picture. Raises Refusal for unknown labels, and for an overlap where nothing suppresses."""
        known = self.detector.settings
        if wanted.overlap is not None and not self.detector.decoder.suppresses:
            raise Refusal(422, f"nms cannot be set: {suppression.where(self.detector.decoder)}")
        settings = known.given(threshold=wanted.score, overlap=wanted.overlap)
        with self.recorder.recording(picture.record) as record:
            try:
                detections = self.detector.checked(
                    self.detector.decoder.detect(picture.pixels, settings), picture.pixels
                )
            except BaseException:
                self.shown = None
                raise
        if record.ran and not record.replayed:
            self.shown = picture.token
        elif record.ran and self.shown != picture.token:
            self.shown = None  # some nets hold this picture, others another
        return detections.filter(labels=self.numbers(wanted.labels, detections)) if wanted.labels else detections

    def batch(self, pictures: Sequence[Numpy], wanted: Wanted, most: int) -> list[Detections]:
        """The detections of several pictures, `most` of them in one pass of the net. Raises Refusal as `detections`."""
        known, decoder = self.detector.settings, self.detector.decoder
        if wanted.overlap is not None and not decoder.suppresses:
            raise Refusal(422, f"overlap cannot be set: {suppression.where(decoder)}")
        settings = known.given(threshold=wanted.score, overlap=wanted.overlap)
        self.shown = None  # blobs hold several pictures, of which the page knows none
        result: list[Detections] = []
        while len(result) < len(pictures):
            left = len(pictures) - len(result)
            count = 1 << (min(left, most).bit_length() - 1)  # few sizes of batches: each has a plan of its own
            group = pictures[len(result) : len(result) + count]
            detections = decoder.batch(list(group), settings)
            result += [self.detector.checked(each, pixels) for each, pixels in zip(detections, group, strict=True)]
        return result

    def numbers(self, labels: Sequence[str], detections: Detections) -> list[int]:
        """The numbers of classes that are given by number or name. Raises Refusal for a name that no class has."""
        names = set(detections.names.values())
        wanted = [int(x) if x not in names and x.isdecimal() and len(x) < 10 else x for x in labels]
        try:
            return numbers_of(wanted, detections.names)
        except BoxpressoError as error:
            raise Refusal(422, f"labels: {error}") from None

    def warm(self) -> None:
        """Detects in a picture without anything, so that kernels are compiled, and what cannot work is said at once."""
        self.detector(np.full((64, 64, 3), 127, np.uint8))
        if self.detector.decoder.suppresses:
            Detections(np.array([[0, 0, 9, 9], [1, 1, 9, 9]]), np.array([0.9, 0.8]), np.ones(2)).suppress(0.5)

    def recover(self) -> None:
        """After an interrupt: no pass is relied upon, and plans, one of which may be half made, are made again."""
        self.shown = None
        for picture in self.recent.values():
            picture.record = Record()
        for net in self.nets:
            if net._runner is not None:
                net._runner.forget_plan()

    # What the page shows of the model

    def describe(self) -> dict[str, Any]:
        """The answer of /api/model."""
        detector, decoder = self.detector, self.detector.decoder
        settings = detector.settings
        floor = settings.threshold if decoder.NAME in ENDS_OWN else min(FLOOR, settings.threshold)
        return {
            "model": self.name,
            "decoder": decoder.NAME,
            "title": decoder.TITLE,
            "kind": decoder.KIND,
            "description": public(detector.describe(), *self.paths),
            "explanation": [public(line, *self.paths) for line in explain(detector)],
            "classes": [
                {"class_id": number, "class_name": name, "class_index": number, "label": name}
                for number, name in sorted(detector.names.items())
            ],
            "palette": list(PALETTE),
            "score": {
                "default": settings.threshold,
                "floor": floor,
                "on_server": decoder.NAME in ENDS_OWN,
            },
            "nms": {
                "default": suppression.overlap_of(decoder, settings),
                "how": suppression.where(decoder),
            },
            "nets": [graphs.describe(net) for net in self.nets],
        }

    def shown_picture(self, token: str | None) -> str:
        """The picture whose passes the blobs hold, after its detection where they hold another's. Raises Refusal."""
        if token is None:
            if self.shown is None:
                raise Refusal(409, "no picture has been looked at yet; send one to /api/detect")
            return self.shown
        picture = self.known(token)
        if self.shown != token:
            picture.record = Record()
            self.detections(picture, Wanted())
        return token

    def net(self, number: int) -> Net:
        """A net by its number. Raises Refusal."""
        if not 0 <= number < len(self.nets):
            raise Refusal(404, f"there is no net {number}; there are {len(self.nets)}, from 0 on")
        return self.nets[number]

    def blobs(self, number: int, token: str | None) -> dict[str, Any]:
        """The answer of /api/blobs: names and shapes."""
        net = self.net(number)
        picture = self.shown_picture(token)
        makers = {name: layer.name for layer, (_, tops) in zip(net.layers, net.names) for name in tops}
        rows = [{"name": n, "layer": makers[n], "shape": list(blob.shape)} for n, blob in net.blobs.items()]
        return {"model": self.name, "net": number, "picture": picture, "blobs": rows}

    def blob(self, name: str, number: int, token: str | None, view: View) -> dict[str, Any]:
        """The answer of /api/blobs/NAME: a blob after the detection of a picture, which a plan may have left out till now."""
        net = self.net(number)
        if name not in net.blobs:
            raise Refusal(404, f"the net has no blob {name!r}{nearest(name, net.blobs)}")
        picture = self.shown_picture(token)
        values = np.asarray(net.blobs[name].data)
        return {"model": self.name, "net": number, "picture": picture, "name": name, **look(values, view)}

    def preview(self, token: str) -> bytes:
        """A picture that was sent, as the bytes of a JPEG, for a browser that cannot show the file itself."""
        image = Image.fromarray(self.known(token).pixels)
        image.thumbnail((1600, 1600))
        to = io.BytesIO()
        image.save(to, "JPEG", quality=90)
        return to.getvalue()


def png_of(image: Image.Image) -> bytes:
    """A Pillow image as the bytes of a PNG."""
    to = io.BytesIO()
    image.save(to, "PNG")
    return to.getvalue()


def milliseconds(seconds: float) -> float:
    """Seconds as milliseconds with two digits."""
    return round(1000 * seconds, 2)
