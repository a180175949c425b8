"""Videos and cameras: their frames as uint8 arrays (height, width, 3) in RGB order, read and written by PyAV or OpenCV."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..proto.files import beside
from ..proto.limits import LIMITS
from .errors import BrokenRecord, DataError

VIDEOS = (
    ".mp4",
    ".m4v",
    ".mov",
    ".mkv",
    ".webm",
    ".avi",
    ".mpg",
    ".mpeg",
    ".wmv",
    ".flv",
    ".ts",
    ".mts",
    ".3gp",
    ".ogv",
)
# FFmpeg also reads lists that name other files and addresses; a video from elsewhere may be none of those.
CONTAINERS = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpeg,mpegvideo,mpegts,asf,flv,ogg,h264,hevc,m4v,ivf"
MISSING = "reading and writing videos needs PyAV or OpenCV: pip install 'boxpresso[video]'"
Numpy = np.ndarray[Any, Any]


class Frame(NamedTuple):
    """One frame: its number in the video from 0, its time in seconds (None where unknown), and pixels (H, W, 3), RGB."""

    number: int
    time: float | None
    pixels: Numpy


class Reader(Protocol):
    """A video or a camera that is being read.

    Attributes
    ----------
    rate
        Frames a second, None where that is not known.
    count
        How many frames there are, None where that is not known, as of a camera.
    """

    rate: float | None
    count: int | None

    def frames(self) -> Iterator[Frame]:
        """The frames, in their order. Raises BrokenRecord where one cannot be decoded."""

    def close(self) -> None:
        """Closes the file or the camera."""


def backend() -> str | None:
    """The name of the installed module that reads videos: "av" (PyAV), else "cv2" (OpenCV), else None."""
    return next((name for name in ("av", "cv2") if importlib.util.find_spec(name) is not None), None)


def is_video(path: str | os.PathLike[str]) -> bool:
    """Whether a name ends as a video's.

    >>> is_video("street.MP4"), is_video("street.jpg")
    (True, False)
    """
    return os.fspath(path).lower().endswith(VIDEOS)


def open_video(path: str | os.PathLike[str], every: int = 1) -> Reader:
    """Opens a video.

    Parameters
    ----------
    path
        A file in one of the usual containers. Nothing else is read: no list of other files, no address.
    every
        1 reads each frame, 2 each second, and so on, from the first.

    Raises
    ------
    DataError
        Without PyAV and OpenCV.
    BrokenRecord
        For a file that is missing or no video, or whose frames are larger than the limits allow.
    """
    name = os.fspath(path)
    if not os.path.isfile(name):
        raise BrokenRecord(f"there is no video {name}")
    try:
        with open(name, "rb") as file:
            start = file.read(512).lstrip()
    except OSError as error:
        raise BrokenRecord(f"cannot read the video {name}: {error.strerror or error}") from error
    if start.startswith((b"#EXTM3U", b"ffconcat", b"<?xml", b"[playlist]")):
        raise BrokenRecord(f"{name} is a list of other files, not a video")
    which = backend()
    if which is None:
        raise DataError(f"{name}: {MISSING}")
    return AvReader(name, every) if which == "av" else CvReader(name, name, every)


def open_camera(index: int, every: int = 1) -> Reader:
    """Opens a camera by its number, 0 for the first.

    Raises
    ------
    DataError
        Without PyAV and OpenCV, or where there is no such camera.
    """
    if importlib.util.find_spec("cv2") is not None:
        return CvReader(index, f"camera {index}", every)
    if backend() is None:
        raise DataError(f"camera {index}: {MISSING}")
    if not sys.platform.startswith("linux"):
        raise DataError(f"camera {index}: here cameras need OpenCV: pip install opencv-python")
    device = f"/dev/video{index}"
    if not os.path.exists(device):
        raise DataError(f"there is no camera {index}: {device} does not exist")
    return AvReader(device, every, camera=True)


def check_size(name: str, width: int, height: int) -> None:
    """Raises BrokenRecord for frames that are larger than the limit for pictures."""
    if width * height > LIMITS.picture_pixels:
        raise BrokenRecord(f"the frames of {name} have {width}x{height} pixels; {LIMITS.advice('picture_pixels')}")


class AvReader:
    """A Reader by PyAV."""

    def __init__(self, path: str, every: int = 1, camera: bool = False) -> None:
        av: Any = importlib.import_module("av")
        self.name, self.every = f"camera {path}" if camera else f"video {path}", every
        self.errors = (av.error.FFmpegError, ValueError, EOFError)
        options = {} if camera else {"protocol_whitelist": "file", "format_whitelist": CONTAINERS}
        try:
            self.container = av.open(
                path if camera else f"file:{path}", format="v4l2" if camera else None, options=options
            )
        except (*self.errors, OSError) as error:
            raise BrokenRecord(f"cannot read the {self.name}: {reason(error)}") from error
        if not self.container.streams.video:
            self.close()
            raise BrokenRecord(f"cannot read the {self.name}: it has no pictures")
        self.stream = self.container.streams.video[0]
        check_size(self.name, self.stream.codec_context.width, self.stream.codec_context.height)
        self.stream.thread_type = "AUTO"
        rate = self.stream.average_rate or self.stream.guessed_rate
        self.rate: float | None = float(rate) if rate else None
        count = self.stream.frames
        if not count and self.rate and self.container.duration:
            count = round(self.container.duration / 1e6 * self.rate)
        self.count: int | None = count or None

    def frames(self) -> Iterator[Frame]:
        """The frames."""
        frames = self.container.decode(self.stream)
        number = 0
        while True:
            try:
                frame = next(frames, None)
                if frame is None:
                    return
                check_size(self.name, frame.width, frame.height)
                pixels = turned(frame.to_ndarray(format="rgb24"), frame) if number % self.every == 0 else None
            except self.errors as error:
                raise BrokenRecord(f"the {self.name} is broken after frame {number - 1}: {reason(error)}") from error
            if pixels is not None:
                yield Frame(number, frame.time, pixels)
            number += 1

    def close(self) -> None:
        """Closes the file."""
        self.container.close()


def turned(pixels: Numpy, frame: Any) -> Numpy:
    """The pixels as they are shown: telephones store how a video is turned beside it."""
    quarters = round(getattr(frame, "rotation", 0) / 90) % 4
    return np.ascontiguousarray(np.rot90(pixels, quarters)) if quarters else pixels


def reason(error: BaseException) -> str:
    """What an error of FFmpeg says, without the number and the name that PyAV puts around it."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


class CvReader:
    """A Reader by OpenCV."""

    def __init__(self, source: int | str, name: str, every: int = 1) -> None:
        cv2: Any = importlib.import_module("cv2")
        self.cv2, self.name, self.every = cv2, name if isinstance(source, int) else f"video {name}", every
        with suppress(AttributeError):
            cv2.setLogLevel(0)  # what it has to say about a missing camera is said below
        self.capture = cv2.VideoCapture(source)
        if not self.capture.isOpened():
            self.close()
            if isinstance(source, int):
                raise DataError(f"there is no {name}, or another program uses it")
            raise BrokenRecord(f"cannot read the {self.name}: OpenCV does not recognise it")
        check_size(
            self.name, int(self.capture.get(cv2.CAP_PROP_FRAME_WIDTH)), int(self.capture.get(cv2.CAP_PROP_FRAME_HEIGHT))
        )
        rate, count = self.capture.get(cv2.CAP_PROP_FPS), self.capture.get(cv2.CAP_PROP_FRAME_COUNT)
        self.rate: float | None = float(rate) if rate > 0 else None
        self.count: int | None = int(count) if count > 0 and not isinstance(source, int) else None

    def frames(self) -> Iterator[Frame]:
        """The frames."""
        number = 0
        while self.capture.grab():
            if number % self.every == 0:
                there, pixels = self.capture.retrieve()
                if not there:
                    raise BrokenRecord(f"the {self.name} is broken after frame {number - 1}")
                yield Frame(number, number / self.rate if self.rate else None, np.ascontiguousarray(pixels[..., ::-1]))
            number += 1
        if not number or (self.count and number < 0.9 * self.count):
            raise BrokenRecord(f"the {self.name} is broken after frame {number - 1} of {self.count}")

    def close(self) -> None:
        """Closes the file or the camera."""
        self.capture.release()


class VideoWriter:
    """Writes frames (H, W, 3), uint8 in RGB order, as a video; the file appears when it is complete.

    Parameters
    ----------
    path
        The file; its ending names the container, such as .mp4.
    rate
        Frames a second.

    Raises
    ------
    DataError
        Without PyAV and OpenCV, and where the file cannot be written.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> if backend():
    ...     with tempfile.TemporaryDirectory() as folder:
    ...         with VideoWriter(f"{folder}/a.mp4", 10) as video:
    ...             for grey in (0, 128, 255):
    ...                 video.add(np.full((48, 64, 3), grey, np.uint8))
    ...         assert len(list(open_video(f"{folder}/a.mp4").frames())) == 3
    """

    def __init__(self, path: str | os.PathLike[str], rate: float | None = None) -> None:
        which = backend()
        if which is None:
            raise DataError(f"{os.fspath(path)}: {MISSING}")
        self.path, self.rate, self.which = Path(path), rate or 25.0, which
        self.part = beside(path, f".part{self.path.suffix or '.mp4'}")
        self.size = (0, 0)
        self.output: Any = None
        self.stream: Any = None

    def add(self, pixels: Numpy) -> None:
        """Adds a frame. The first one decides the size; others are cut, or filled with black, to it."""
        if self.output is None:
            height, width = pixels.shape[:2]
            self.size = max(2, width // 2 * 2), max(2, height // 2 * 2)  # colours are stored for blocks of 2 x 2 pixels
            self.start()
        width, height = self.size
        frame = np.zeros((height, width, 3), np.uint8)
        shown = pixels[:height, :width]
        frame[: shown.shape[0], : shown.shape[1]] = shown
        try:
            if self.which == "av":
                av: Any = importlib.import_module("av")
                self.output.mux(self.stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
            else:
                self.output.write(np.ascontiguousarray(frame[..., ::-1]))
        except Exception as error:  # FFmpeg's own, and OSError
            self.discard()
            raise DataError(f"cannot write the video {self.path}: {reason(error)}") from error

    def start(self) -> None:
        """Opens the file."""
        try:
            if self.which == "av":
                av: Any = importlib.import_module("av")
                self.output = av.open(str(self.part), "w")
                codec = self.output.default_video_codec
                if codec == "h264" and "libx264" not in av.codecs_available:
                    codec = "mpeg4"
                self.stream = self.output.add_stream(codec, rate=Fraction(self.rate).limit_denominator(1001))
                self.stream.width, self.stream.height = self.size
                self.stream.pix_fmt = "yuv420p"
            else:
                cv2: Any = importlib.import_module("cv2")
                code = (
                    "VP80"
                    if self.path.suffix.lower() == ".webm"
                    else "MJPG"
                    if self.path.suffix.lower() == ".avi"
                    else "mp4v"
                )
                self.output = cv2.VideoWriter(str(self.part), cv2.VideoWriter_fourcc(*code), self.rate, self.size)
                if not self.output.isOpened():
                    raise OSError("OpenCV cannot write there, or not to this ending")
        except Exception as error:  # FFmpeg's own, and OSError
            self.discard()
            raise DataError(f"cannot write the video {self.path}: {reason(error)}") from error

    def close(self) -> None:
        """Ends the video and puts it in its place. One without frames is not written."""
        if self.output is None:
            return
        try:
            if self.which == "av":
                self.output.mux(self.stream.encode(None))
                self.output.close()
            else:
                self.output.release()
            self.output = None
            os.replace(self.part, self.path)
        except Exception as error:
            self.discard()
            raise DataError(f"cannot write the video {self.path}: {reason(error)}") from error

    def discard(self) -> None:
        """Ends without a video."""
        output, self.output = self.output, None
        with suppress(Exception):
            output.close() if self.which == "av" else output.release()
        with suppress(OSError):
            self.part.unlink()

    def __enter__(self) -> VideoWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or issubclass(kind, KeyboardInterrupt):
            self.close()
        else:
            self.discard()
