"""OpenPose: people as points of heat maps, joined by fields that point along limbs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from ..data.inputs import Numpy, resize
from ..device import Device
from ..device.blas import gemm
from ..device.functions import exp, length
from ..device.host import Cpu, cpu
from ..net import Net
from ..proto.errors import BoxpressoWarning, ModelError
from .base import OneNet, Settings, picture_input, prepare, shape_of, single
from .detections import Detections

STRIDE, SIGMA = 8, 3.0  # of the maps; of their smoothing, in pixels of the picture
PEAK, FIELD, SAMPLES, SHARE = (
    0.1,
    0.05,
    10,
    0.8,
)  # least peak; least field at a sample; samples of a limb; share of good ones
MOST_PAIRS = 2**22  # of peaks that limbs may join; more are of maps that are flat
LEAST_PARTS, LEAST_SCORE = 4, 0.4  # of a person: how many points, and their mean score

# Of each form: points, limbs as pairs of points, and where each limb's field begins, in channels of the output
COCO_LIMBS = (
    (1, 2), (1, 5), (2, 3), (3, 4), (5, 6), (6, 7), (1, 8), (8, 9), (9, 10), (1, 11), (11, 12), (12, 13), (1, 0), (0, 14),
    (14, 16), (0, 15), (15, 17), (2, 16), (5, 17),
)  # fmt: skip
COCO_FIELDS = (12, 20, 14, 16, 22, 24, 0, 2, 4, 6, 8, 10, 28, 30, 34, 32, 36, 18, 26)
MPI_LIMBS = (
    (0, 1),
    (1, 2),
    (2, 3),
    (3, 4),
    (1, 5),
    (5, 6),
    (6, 7),
    (1, 14),
    (14, 8),
    (8, 9),
    (9, 10),
    (14, 11),
    (11, 12),
    (12, 13),
)
BODY_LIMBS = (
    (1, 8), (1, 2), (1, 5), (2, 3), (3, 4), (5, 6), (6, 7), (8, 9), (9, 10), (10, 11), (8, 12), (12, 13), (13, 14), (1, 0),
    (0, 15), (15, 17), (0, 16), (16, 18), (14, 19), (19, 20), (14, 21), (11, 22), (22, 23), (11, 24), (2, 17), (5, 18),
)  # fmt: skip
BODY_FIELDS = (
    0, 14, 22, 16, 18, 24, 26, 6, 2, 4, 8, 10, 12, 30, 32, 36, 34, 38, 40, 42, 44, 46, 48, 50, 20, 28,
)  # fmt: skip
FORMS = {  # channels: (points, limbs, the first channel of each limb's field)
    57: (18, COCO_LIMBS, tuple(19 + at for at in COCO_FIELDS)),
    44: (15, MPI_LIMBS, tuple(16 + 2 * i for i in range(len(MPI_LIMBS)))),
    78: (25, BODY_LIMBS, tuple(26 + at for at in BODY_FIELDS)),
    71: (70, (), ()),  # of a face
    22: (
        21,
        tuple((0 if at % 4 == 1 else at - 1, at) for at in range(1, 21)),
        (),
    ),  # of a hand: five fingers from the wrist
}
CHANNELS = tuple(FORMS)


class OpenPose(OneNet):
    """One output (1, C, H, W) at a stride of 8: heat maps of the points, that of the background, and fields of the limbs, two
    channels each. C is 57 for COCO's 18 points, 44 for MPI's 15, 78 for OpenPose's own 25.

    The maps are enlarged to the picture and smoothed; a point is a peak of its map. For each limb the pairs of points whose
    line its field follows best are joined, and what hangs together is a person: one detection, with `links` for the limbs.
    OpenPose's nets of a face (71 channels, 70 points) and of a hand (22, 21 points) have no fields: the picture is one face or
    one hand, and a point is the highest place of its map.

    Source
    ------
    Cao et al. 2017, and their demo (testing/python).
    """

    NAME = "openpose"
    TITLE = (
        "OpenPose: heat maps and fields of limbs, 57, 44 or 78 channels at a stride of 8; of a face 71, of a hand 22"
    )
    SETTINGS = Settings(mean=128.0, scale=1 / 256, threshold=LEAST_SCORE)
    NAMES = {1: "person"}

    def __init__(self, net: Net, top: str) -> None:
        super().__init__(net, [top])
        self.points, self.limbs, self.fields = FORMS[shape_of(net, top)[1]]
        if not self.fields:  # one face or hand, of which the caller knows: however sure its points are
            self.settings = self.settings.given(threshold=0.0)

    @staticmethod
    def find(net: Net) -> str | None:
        """The output of maps and fields."""
        return next((n for n in net.outputs if len(shape_of(net, n)) == 4 and shape_of(net, n)[1] in CHANNELS), None)

    @classmethod
    def signs(cls, nets: Sequence[Net]) -> dict[str, bool]:
        net = nets[0]
        top = cls.find(net)
        source = shape_of(net, net.inputs[0]) if len(net.inputs) == 1 else ()
        return {
            "one net": len(nets) == 1,
            "one output of 57, 44, 78, 71 or 22 channels": top is not None and len(net.outputs) == 1,
            "at a stride of 8": top is not None
            and len(source) == 4
            and all(abs(a - STRIDE * b) < STRIDE for a, b in zip(source[2:], shape_of(net, top)[2:])),
        }

    @classmethod
    def build(cls, nets: Sequence[Net]) -> OpenPose:
        net = single(nets, cls.NAME)
        if (top := cls.find(net)) is None:
            raise ModelError(f"net {net.name!r} has no output of 57, 44, 78, 71 or 22 channels, as OpenPose's nets do")
        return cls(net, top)

    @property
    def names(self) -> Mapping[int, str]:
        return {1: {70: "face", 21: "hand"}.get(self.points, "person")}

    @property
    def classes(self) -> int | None:
        return 2

    def inputs(self, pixels: Numpy, settings: Settings) -> dict[str, Numpy]:
        name, channels, width, height = picture_input(self.net, settings.size or (368, 368))
        if settings.size is None:  # the height of 368 pixels, the width that goes with it in whole strides
            width = max(STRIDE, round(pixels.shape[1] * height / pixels.shape[0] / STRIDE) * STRIDE)
        return {name: prepare(pixels, channels, width, height, settings)}

    def read(self, values: dict[str, Numpy], shape: tuple[int, int], settings: Settings) -> Detections:
        maps = Maps(values[self.blobs[0]][0], *shape, self.net.device)
        if not self.fields:
            return self.highest(maps, settings.threshold)
        peaks = [find_peaks(maps, k) for k in range(self.points)]
        pairs = sum(len(peaks[a]) * len(peaks[b]) for a, b in self.limbs)
        if pairs > MOST_PAIRS:
            message = f"the heat maps have {sum(map(len, peaks))} peaks, of which no people can be made: are the weights sound?"
            warnings.warn(message, BoxpressoWarning, stacklevel=2)
            peaks = [each[:0] for each in peaks]
        people = assemble(peaks, maps, self.limbs, self.fields)
        marks = np.full((len(people), self.points, 2), np.nan)
        scores = np.zeros((len(people), self.points))
        total = np.zeros(len(people))
        for i, (members, score) in enumerate(people):
            for k, at in members.items():
                marks[i, k], scores[i, k] = peaks[k][at, :2], peaks[k][at, 2]
            total[i] = min(1.0, score / len(members))
        good = total >= settings.threshold
        marks, scores, total = marks[good], scores[good], total[good]
        boxes = np.concatenate([np.nanmin(marks, 1), np.nanmax(marks, 1)], 1) if len(marks) else np.zeros((0, 4))
        return Detections(
            boxes, total, np.ones(len(total)), self.NAMES, landmarks=marks, landmark_scores=scores, links=self.limbs
        )

    def highest(self, maps: Maps, threshold: float) -> Detections:
        """One face or hand: each point at the highest place of its map, where that is above 0.1; its score is their mean."""
        heat = np.stack([maps.large(k).ravel() for k in range(self.points)], 1)
        heat[np.isnan(heat)] = -np.inf
        at, score = heat.argmax(0), np.maximum(heat.max(0), 0)
        marks = np.stack([at % maps.width, at // maps.width], 1).astype(np.float64)
        marks[~(score > PEAK)] = np.nan
        if np.isnan(marks).all():
            return Detections.none(self.names, landmarks=np.zeros((0, self.points, 2)), links=self.limbs)
        box = np.concatenate([np.nanmin(marks, 0), np.nanmax(marks, 0)])[None]
        total = np.array([score[score > PEAK].mean()])
        detected = Detections(
            box, total, np.ones(1), self.names, landmarks=marks[None], landmark_scores=score[None], links=self.limbs
        )
        return detected.filter(threshold)


class Maps:
    """Maps (C, H, W), each enlarged to a picture when it is asked for, and smoothed: both by two products of matrices, as
    bilinear enlarging and a Gaussian work along one side at a time. They are made on `device`, if that is a CPU."""

    def __init__(self, values: Numpy, height: int, width: int, device: Device) -> None:
        self.device = device if isinstance(device, Cpu) else cpu()
        self.values, self.height, self.width = values.astype(np.float32), height, width
        self.sides = [enlarging(count, side) for count, side in zip(values.shape[1:], (height, width))]
        self.smooth_sides = [blurred(side, SIGMA) for side in self.sides]

    def large(self, channel: int) -> Numpy:
        """(height, width): a map enlarged."""
        return self.between(self.sides, channel)

    def smooth(self, channel: int) -> Numpy:
        """(height, width): a map enlarged and smoothed."""
        return self.between(self.smooth_sides, channel)

    def between(self, sides: Sequence[Numpy], channel: int) -> Numpy:
        """A map between a matrix for its columns and one for its rows."""
        (height, rows), (width, columns) = (side.shape for side in sides)
        part, whole = np.empty((height, columns), np.float32), np.empty((height, width), np.float32)
        down, across = map(np.ascontiguousarray, sides)
        values = np.ascontiguousarray(self.values[channel])
        gemm(self.device, False, False, height, columns, rows, 1.0, down, values, 0.0, part)
        gemm(self.device, False, True, height, width, columns, 1.0, part, across, 0.0, whole)
        return whole


def enlarging(count: int, side: int) -> Numpy:
    """The matrix (side, count) of bilinear enlarging."""
    return resize(np.eye(count, dtype=np.float32)[:, :, None], count, side)[:, :, 0]


def blurred(values: Numpy, sigma: float) -> Numpy:
    """Columns smoothed by a Gaussian of so many pixels, cut off at four of them; mirrored at the edges."""
    reach = int(4 * sigma + 0.5)
    weights = exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    weights /= weights.sum()
    count = len(values)
    padded = np.pad(values.astype(np.float64), [(reach, reach), (0, 0)], mode="symmetric")
    return np.asarray(sum(w * padded[i : i + count] for i, w in enumerate(weights)), np.float32)


def find_peaks(maps: Maps, channel: int) -> Numpy:
    """Rows (x, y, score) of the places of a smoothed map that are no lower than their four neighbours; scores of the map."""
    smooth = maps.smooth(channel)
    edge = np.pad(smooth, 1)
    around = (edge[:-2, 1:-1], edge[2:, 1:-1], edge[1:-1, :-2], edge[1:-1, 2:])
    peak = smooth > PEAK
    for each in around:
        peak &= smooth >= each
    y, x = np.nonzero(peak)
    if not len(x):
        return np.zeros((0, 3))
    return np.stack([x, y, maps.large(channel)[y, x]], 1).astype(np.float64)


def limbs_of(starts: Numpy, ends: Numpy, maps: Maps, channel: int) -> list[tuple[int, int, float]]:
    """Pairs (start, end, score) of points that the field of two channels joins, best first; a point is in one pair alone."""
    if not len(starts) or not len(ends):
        return []
    field = np.stack([maps.large(channel), maps.large(channel + 1)], 2)
    candidates: list[tuple[float, int, int]] = []
    for i, start in enumerate(starts[:, :2]):
        lines = ends[:, :2] - start
        far = np.maximum(length(lines), 1e-3)
        steps = start + np.linspace(0, 1, SAMPLES)[:, None] * lines[:, None]
        x, y = np.rint(steps).astype(int).transpose(2, 0, 1)
        along = (field[y, x] * (lines / far[:, None])[:, None]).sum(2)
        score = along.mean(1) + np.minimum(0.5 * maps.height / far - 1, 0)
        good = np.flatnonzero(((along > FIELD).sum(1) > SHARE * SAMPLES) & (score > 0))
        candidates += zip(score[good].tolist(), [i] * len(good), good.tolist())
    candidates.sort(key=lambda each: -each[0])
    result: list[tuple[int, int, float]] = []
    started, ended = set(), set()
    for value, i, j in candidates:
        if i not in started and j not in ended:
            result.append((i, j, value))
            started.add(i)
            ended.add(j)
    return result


def assemble(
    peaks: Sequence[Numpy], maps: Maps, limbs: Sequence[tuple[int, int]], fields: Sequence[int]
) -> list[tuple[dict[int, int], float]]:
    """People: {point: index of its peak}, and the sum of the scores of their points and limbs. The limbs from a shoulder to an
    ear, the last two of COCO's and of OpenPose's own, join what is there and begin no person."""
    redundant = 2 if len(limbs) > len(MPI_LIMBS) else 0
    people: list[tuple[dict[int, int], float]] = []
    for at, ((a, b), channel) in enumerate(zip(limbs, fields)):
        for i, j, score in limbs_of(peaks[a], peaks[b], maps, channel):
            near = [k for k, (members, _) in enumerate(people) if members.get(a) == i or members.get(b) == j]
            if len(near) == 1:
                members, total = people[near[0]]
                if members.get(b) != j:
                    people[near[0]] = ({**members, b: j}, total + score + peaks[b][j, 2])
            elif len(near) >= 2:
                (one, first), (two, second) = people[near[0]], people[near[1]]
                if not one.keys() & two.keys():
                    people[near[0]] = ({**one, **two}, first + second + score)
                    del people[near[1]]
                elif one.get(b) != j:
                    people[near[0]] = ({**one, b: j}, first + score + peaks[b][j, 2])
            elif at < len(limbs) - redundant:
                people.append(({a: i, b: j}, score + peaks[a][i, 2] + peaks[b][j, 2]))
    return [
        (members, total)
        for members, total in people
        if len(members) >= LEAST_PARTS and total / len(members) >= LEAST_SCORE
    ]
