"""OutputDecay: nothing forward, and backward what draws outputs to 0, as weight decay does weights."""

from __future__ import annotations

from ...device import Kernels
from ..core import Trait
from .neuron_base import Neuron


class OutputDecay(
    Neuron,
    type="OutputDecay",
    param="output_decay_param",
    bottoms=1,
    tops=1,
    in_place=True,
    traits=Trait.ELEMENTWISE | Trait.VIEW,
):
    """top = x; the gradient of the bottom is that of the top plus decay * x, or with L1 plus decay * sign(x).

    So it is as if decay * sum of x^2 / 2, or of |x|, were added to the loss, whatever the batch and the weights of losses.

    Parameters
    ----------
    bottom 0
        x, any shape.
    output_decay_param
        `output_decay` (0): the decay. `regularization_type` ("L2"): L2 or L1.

    Returns
    -------
    top 0
        The bottom.

    Raises
    ------
    LayerError
        Another regularization_type; a decay that is not finite.

    Source
    ------
    A Caffe of boundary detection, whose layer works in place alone, and adds to what a later layer in place has made of x.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "OutputDecay" output_decay_param { output_decay: 0.1 }', [1, -2]).tolist()
    [1.0, -2.0]
    """

    kernels = Kernels("output_decay.cu")

    def read(self) -> tuple[float, ...]:
        p = self.param.output_decay_param
        self.need(
            p.regularization_type in ("L1", "L2"), f"regularization_type is L1 or L2, got {p.regularization_type!r}"
        )
        self.need(abs(p.output_decay) < float("inf"), f"output_decay must be finite, got {p.output_decay}")
        return p.output_decay, int(p.regularization_type == "L1")
