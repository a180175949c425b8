"""Traits: what other files want to know of a layer's type, said once, in its class statement.

    class ELU(Neuron, type="ELU", ..., traits=Trait.ELEMENTWISE): ...

No file outside `layers/` has a list of layer types: it asks `Trait.ELEMENTWISE in layer.traits`, or `traits_of("ELU")` of a
type in a prototxt. tests/layers/core/test_traits.py runs every type and checks each trait.
"""

from __future__ import annotations

from enum import Flag, auto


class Trait(Flag):
    """The fixed vocabulary. A trait holds at TEST with any parameters, unless `setup` takes it away from `self.traits`.

    Where an element goes and comes from

    - WRITES_ALL: every forward writes every element of all tops, and the next one needs nothing of them. What lay in the tops
      before does not matter, and other values may take their memory afterwards.
    - KEEPS_PLACES: what is at (y, x) of a top is made of what is there in the bottoms, or around it: coordinates stay the same.
    - BY_CHANNEL: channel c (axis 1) of the top is made of channel c of bottom 0 alone, which has as many.
    - POOLS: each element of the top is a maximum or a mean over a window of its channel. Implies BY_CHANNEL.
    - ELEMENTWISE: element i of the top is made of element i of the bottoms alone, by the same function for each i: it does not
      matter in which order the elements lie. Implies WRITES_ALL, KEEPS_PLACES and BY_CHANNEL.
    - REARRANGES: the top holds the elements of bottom 0, each once, in another order or shape.
    - VIEW: the tops hold the elements of bottom 0 in their order, mostly in its memory. Implies REARRANGES and WRITES_ALL.
    - JOINS: the top holds the bottoms beside one another along an axis: bottom i begins at `starts[i]` and its elements are
      `top_steps` apart, where it has more than one bottom.
    - PARTS: the tops are the parts of bottom 0 along an axis, in order: of what JOINS, the other way round.

    What the numbers are

    - WEIGHTED: a linear map whose parameter 0 holds the weights and 1, if there is one, the bias. It has as many `outputs`,
      along `output_axis`, and `scaled` multiplies them.
    - PROBABILITIES: the elements of the top lie from 0 to 1, as those of Softmax and Sigmoid do.
    - CONSTANT: the tops depend on the shapes of the bottoms and on parameters alone.
    - SIXTEEN_BITS: bottom 0 and the top may be float16 or bfloat16, forward and backward, and other bottoms are float32 then.
      Sums are made in float32, and what is stored is rounded.
    - FILLED: it has no bottoms and reads no file, such as Input and DummyData; other layers without bottoms read data.

    Losses and measures

    - LOSS: top 0 is a loss of the whole batch, of weight 1 unless the prototxt says otherwise, and may be left out there.
    - CLASS_LABELS: bottom 1 holds the number of a class for each place of bottom 0.
    - COMPARES: bottom 1 holds as many numbers as bottom 0, which it is compared with.
    - BINARY: bottom 1 holds 0 or 1.

    Regions and detections

    - ROWS_OF_1: row r (axis 0) of the top is made for row r of bottom 1.
    - REGIONS: bottom 1 holds regions, (R, 4), (R, 5) or (R, 6). Implies ROWS_OF_1.
    - IMAGE_INFO: bottom 2 holds height and width of the images, and mostly how they were scaled.
    - PROPOSES: top 0 holds regions that it chooses among its bottoms'.
    - CHOOSES_ROWS: a forward gives the tops other shapes than reshape did; `rows` says which where that is fixed.
    - DETECTS: top 0 holds rows of detections (1, 1, N, 7): image, class, score, corners.
    - RESTORES: multiplies offsets by the deviations of bbox_reg_param, where it gives them.

    Runs

    - RUNS_ONCE: a forward does more than to compute its tops, such as to write a file or to carry a state on.
    """

    NONE = 0
    WRITES_ALL = auto()
    KEEPS_PLACES = auto()
    BY_CHANNEL = auto()
    POOLS = auto()
    ELEMENTWISE = auto()
    REARRANGES = auto()
    VIEW = auto()
    JOINS = auto()
    PARTS = auto()
    WEIGHTED = auto()
    PROBABILITIES = auto()
    CONSTANT = auto()
    SIXTEEN_BITS = auto()
    FILLED = auto()
    LOSS = auto()
    CLASS_LABELS = auto()
    COMPARES = auto()
    BINARY = auto()
    ROWS_OF_1 = auto()
    REGIONS = auto()
    IMAGE_INFO = auto()
    PROPOSES = auto()
    CHOOSES_ROWS = auto()
    DETECTS = auto()
    RESTORES = auto()
    RUNS_ONCE = auto()


IMPLIED = {
    Trait.POOLS: Trait.BY_CHANNEL,
    Trait.ELEMENTWISE: Trait.WRITES_ALL | Trait.KEEPS_PLACES | Trait.BY_CHANNEL,
    Trait.VIEW: Trait.REARRANGES | Trait.WRITES_ALL,
    Trait.REGIONS: Trait.ROWS_OF_1,
    Trait.PROPOSES: Trait.CHOOSES_ROWS,
    Trait.DETECTS: Trait.CHOOSES_ROWS,
}


def with_implied(traits: Trait) -> Trait:
    """The traits, and those that follow from them.

    >>> Trait.WRITES_ALL in with_implied(Trait.VIEW)
    True
    """
    for trait, others in IMPLIED.items():
        if trait in traits:
            traits |= others
    return traits
