"""OpenPose: people as points of heat maps, joined by fields that point along limbs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.inputs import Numpy, resize
from ..net import Net
from ..proto.errors import ModelError
from .base import OneNet, Settings, picture_input, prepare, shape_of, single
from .detections import Detections

STRIDE = 8
PEAK, FIELD, SAMPLES, SHARE = (
    0.1,
    0.05,
    10,
    0.8,
)  # least peak; least field at a sample; samples of a limb; share of good ones
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
}
CHANNELS = tuple(FORMS)


class OpenPose(OneNet):
    """One output (1, C, H, W) at a stride of 8: heat maps of the points, that of the background, and fields of the limbs, two
    channels each. C is 57 for COCO's 18 points, 44 for MPI's 15, 78 for OpenPose's own 25.

    The maps are enlarged to the picture and smoothed; a point is a peak of its map. For each limb the pairs of points whose
    line its field follows best are joined, and what hangs together is a person: one detection, with `links` for the limbs.

    Source
    ------
    Cao et al. 2017, and their demo (testing/python).
    """

    NAME = "openpose"
    TITLE = "OpenPose: heat maps and fields of limbs, 57, 44 or 78 channels at a stride of 8"
    SETTINGS = Settings(mean=128.0, scale=1 / 256, threshold=LEAST_SCORE)
    NAMES = {1: "person"}

    def __init__(self, net: Net, top: str) -> None:
        super().__init__(net, [top])
        self.points, self.limbs, self.fields = FORMS[shape_of(net, top)[1]]

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
            "one output of 57, 44 or 78 channels": top is not None and len(net.outputs) == 1,
            "at a stride of 8": top is not None
            and len(source) == 4
            and all(abs(a - STRIDE * b) < STRIDE for a, b in zip(source[2:], shape_of(net, top)[2:])),
        }

    @classmethod
    def build(cls, nets: Sequence[Net]) -> OpenPose:
        net = single(nets, cls.NAME)
        if (top := cls.find(net)) is None:
            raise ModelError(f"net {net.name!r} has no output of 57, 44 or 78 channels, as OpenPose's nets do")
        return cls(net, top)

    @property
    def classes(self) -> int | None:
        return 2

    def inputs(self, pixels: Numpy, settings: Settings) -> dict[str, Numpy]:
        name, channels, width, height = picture_input(self.net, settings.size or (368, 368))
        if settings.size is None:  # the height of 368 pixels, the width that goes with it in whole strides
            width = max(STRIDE, round(pixels.shape[1] * height / pixels.shape[0] / STRIDE) * STRIDE)
        return {name: prepare(pixels, channels, width, height, settings)}

    def read(self, values: dict[str, Numpy], shape: tuple[int, int], settings: Settings) -> Detections:
        maps = values[self.blobs[0]][0].transpose(1, 2, 0)
        maps = resize(maps, shape[1], shape[0])
        peaks = [find_peaks(maps[:, :, k]) for k in range(self.points)]
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


def find_peaks(heat: Numpy) -> Numpy:
    """Rows (x, y, score) of the places of a smoothed map that are no lower than their four neighbours; scores of the map."""
    smooth = blurred(heat, 3.0)
    edge = np.pad(smooth, 1)
    around = (edge[:-2, 1:-1], edge[2:, 1:-1], edge[1:-1, :-2], edge[1:-1, 2:])
    peak = (smooth > PEAK) & np.all([smooth >= each for each in around], axis=0)
    y, x = np.nonzero(peak)
    return np.stack([x, y, heat[y, x]], 1).astype(np.float64)


def blurred(values: Numpy, sigma: float) -> Numpy:
    """A map smoothed by a Gaussian of so many pixels, cut off at four of them; mirrored at the edges."""
    reach = int(4 * sigma + 0.5)
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    weights /= weights.sum()
    result = values.astype(np.float64)
    for axis in (0, 1):
        padded = np.pad(result, [(reach, reach) if a == axis else (0, 0) for a in (0, 1)], mode="symmetric")
        count = result.shape[axis]
        result = sum(w * padded.take(range(i, i + count), axis) for i, w in enumerate(weights))
    return np.asarray(result)


def limbs_of(starts: Numpy, ends: Numpy, field: Numpy, height: int) -> list[tuple[int, int, float]]:
    """Pairs (start, end, score) of points that a field (H, W, 2) joins, best first; a point is in one pair alone."""
    candidates = []
    for i, a in enumerate(starts):
        for j, b in enumerate(ends):
            line = b[:2] - a[:2]
            length = max(1e-3, float(np.linalg.norm(line)))
            steps = a[:2] + np.linspace(0, 1, SAMPLES)[:, None] * line
            x, y = np.rint(steps).astype(int).T
            along = field[y, x] @ (line / length)
            score = float(along.mean()) + min(0.5 * height / length - 1, 0)
            if (along > FIELD).sum() > SHARE * SAMPLES and score > 0:
                candidates.append((score, i, j))
    candidates.sort(key=lambda each: -each[0])
    result: list[tuple[int, int, float]] = []
    for score, i, j in candidates:
        if all(i != other and j != another for other, another, _ in result):
            result.append((i, j, score))
    return result


def assemble(
    peaks: Sequence[Numpy], maps: Numpy, limbs: Sequence[tuple[int, int]], fields: Sequence[int]
) -> list[tuple[dict[int, int], float]]:
    """People: {point: index of its peak}, and the sum of the scores of their points and limbs. The limbs from a shoulder to an
    ear, the last two of COCO's and of OpenPose's own, join what is there and begin no person."""
    redundant = 2 if len(limbs) > len(MPI_LIMBS) else 0
    people: list[tuple[dict[int, int], float]] = []
    for at, ((a, b), channel) in enumerate(zip(limbs, fields)):
        field = maps[:, :, channel : channel + 2]
        for i, j, score in limbs_of(peaks[a], peaks[b], field, maps.shape[0]):
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
