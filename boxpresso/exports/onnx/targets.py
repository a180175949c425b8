"""What the programs that read an ONNX file have, as far as the writer must know."""

from __future__ import annotations

from dataclasses import dataclass

from ...proto.errors import ModelError, nearest

NEWEST, OLDEST, DEFAULT = 21, 16, 17  # of opsets


@dataclass(frozen=True)
class Target:
    """A program: its name, and the operators that it lacks or computes otherwise.

    reached: whether its NonMaxSuppression takes a box away that overlaps a better one by the threshold itself; the standard
    says by more. pads_points: whether its convolution with a kernel of one pixel minds the padding. computed:
    whether it runs loops, and lists as long as a computed number says.
    """

    name: str
    lacks: frozenset[str] = frozenset()
    reached: bool = False
    pads_points: bool = True
    computed: bool = True

    def has(self, operator: str, opset: int) -> bool:
        """Whether an operator of the standard may be written for this program, in a file of this opset."""
        first = {"DeformConv": 19, "GridSample": 16, "RoiAlign": 10}.get(operator, 1)
        return operator not in self.lacks and opset >= first


TARGETS = {
    target.name: target
    for target in (
        Target("onnxruntime"),
        Target(
            "openvino", frozenset({"DeformConv", "MaxRoiPool"}), reached=True
        ),  # its bins of MaxRoiPool are other ones
        Target(
            "opencv5",
            frozenset({"DeformConv", "MaxRoiPool", "RoiAlign", "MeanVarianceNormalization"}),
            pads_points=False,
            computed=False,
        ),
        Target("tensorrt", frozenset({"DeformConv", "MaxRoiPool"})),
    )
}


def target_named(name: str) -> Target:
    """The Target of a name. Raises ModelError with the nearest known one."""
    if name not in TARGETS:
        raise ModelError(f"unknown target {name!r}; the targets are {', '.join(TARGETS)}{nearest(name, TARGETS)}")
    return TARGETS[name]
