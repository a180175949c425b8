"""PoseCreate, PoseEvaluate, CreateGan: joints of people from maps of classes, and maps of joints."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait

# Which joint a class of a parsed person belongs to, by how many joints there are
JOINTS = {
    9: {1: 0, 2: 0, 4: 0, 13: 0, 5: 1, 7: 1, 11: 1, 9: 2, 12: 2, 14: 3, 15: 4, 16: 5, 17: 6, 18: 7, 19: 8},
    3: {4: 0, 3: 1, 2: 2},
    2: {1: 0, 2: 1},
}
CLASSES = 20


class Joints(Layer, traits=Trait.WRITES_ALL):
    """The base: layers without a gradient."""

    kernels: ClassVar[Kernels] = Kernels("joints.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True

    def allow_force_backward(self, index: int) -> bool:
        return False


class PoseEvaluate(Joints, type="PoseEvaluate", param="pose_evaluate_param", bottoms=1, tops=1):
    """The centres of joints: the means of the places of the classes that belong to each, without what is behind the point.

    Of 9 joints the classes are those of Look into Person: the head has 1, 2, 4 and 13, the upper body 5, 7 and 11, the lower
    9 and 12; arms, legs and shoes 14 to 19 each one. Of 3 they are 4, 3 and 2, of 2 they are 1 and 2.

    Parameters
    ----------
    bottom 0
        (N, 1, H, W), classes; their places count from 0.
    pose_evaluate_param
        `num_joint`: 9, 3 or 2.

    Returns
    -------
    top 0
        (N, 1, 1, 2 num_joint), x and y of each joint, 0 where none of its classes is seen.

    Raises
    ------
    LayerError
        For another number of joints, a bottom of other channels; a gradient is asked for.

    Source
    ------
    The program of Gong et al. 2017, Look into Person. There the sums of an image go on with those of the images before it;
    here each image has its own, which is the same for batches of 1.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "PoseEvaluate" pose_evaluate_param { num_joint: 2 }'
    >>> run_layer(text, [[[[0, 1, 1], [2, 1, 2]]]]).ravel().tolist()
    [1.0, 0.0, 1.0, 1.0]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        self.joints = self.param.pose_evaluate_param.num_joint
        self.need(self.joints in JOINTS, f"num_joint must be 9, 3 or 2, got {self.joints}")
        own = np.full(CLASSES, -1, np.int32)
        for number, joint in JOINTS[self.joints].items():
            own[number] = joint
        self.table = self.device.table(own, np.int32)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        self.need(len(shape) == 4 and shape[1] == 1, f"the bottom must be (N, 1, H, W), got shape {shape}")
        top[0].reshape(shape[0], 1, 1, 2 * self.joints)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        n, _, height, width = bottom[0].shape
        sizes = self.joints, height, width, CLASSES
        self.kernels.joint_centres(n * self.joints, bottom[0].data, self.table, top[0].data, *sizes)


class PoseCreate(Joints, type="PoseCreate", param="pose_create_param", bottoms=(1, 2), tops=(1, 2)):
    """Maps of joints from their centres (two bottoms), or the centres from maps (one bottom, two tops).

    A map is 4 / sqrt(2 pi) exp(-d^2 / 2), d the distance in pixels from the centre without what is behind its point, and 0
    for a centre at (0, 0). A centre is the place of a map's largest number, of equal ones the first by rows.

    Parameters
    ----------
    bottom 0
        Centres (N, ..., 2 num_joint), x and y; or maps (N, num_joint, H, W).
    bottom 1
        (N, C, H, W): only its shape is read.
    pose_create_param
        `num_joint`. `label_value` (0): 0 or 1, what the second top holds.

    Returns
    -------
    top 0
        Maps (N, num_joint, H, W); or centres (N, 1, 1, 2 num_joint).
    top 1
        Beside centres: (N, 1, 1, 1), label_value.

    Raises
    ------
    LayerError
        For bottoms that do not have num_joint joints, empty maps, another label_value, other tops; a gradient is asked for.

    Source
    ------
    The programs of Gong et al. 2017, Look into Person, where two layers have this name.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "PoseCreate" pose_create_param { num_joint: 1 }'
    >>> (100 * run_layer(text, [[[[1, 0]]]], [[[[0, 0, 0]]]])).astype(int).tolist()
    [[[[96, 159, 96]]]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        p = self.param.pose_create_param
        self.joints, self.label = p.num_joint, p.label_value
        self.need(self.joints > 0, "pose_create_param: num_joint must be given and at least 1")
        self.need(self.label in (0, 1), f"pose_create_param: label_value must be 0 or 1, got {self.label}")
        self.need(
            len(top) == 3 - len(bottom), f"of {len(bottom)} bottoms it makes {3 - len(bottom)} tops, got {len(top)}"
        )

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[-1].shape
        self.need(len(shape) == 4, f"bottom {len(bottom) - 1} must be (N, C, H, W), got shape {shape}")
        self.sizes = self.joints, *shape[2:]
        if len(bottom) == 1:
            self.need(shape[1] == self.joints, f"the bottom must have {self.joints} channels, its shape is {shape}")
            self.need(shape[2] * shape[3], f"the bottom's maps have no elements, its shape is {shape}")
            top[0].reshape(shape[0], 1, 1, 2 * self.joints)
            top[1].reshape(shape[0], 1, 1, 1)
        else:
            numbers = bottom[0].shape
            self.need(
                numbers[:1] == shape[:1] and bottom[0].count == shape[0] * 2 * self.joints,
                f"bottom 0 must have {2 * self.joints} numbers for each of {shape[0]} images, its shape is {numbers}",
            )
            top[0].reshape(shape[0], *self.sizes)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if len(bottom) == 2:
            self.kernels.joint_maps(top[0].count, bottom[0].data, top[0].data, *self.sizes[1:])
        else:
            n = top[0].shape[0] * self.joints
            self.kernels.joint_peaks(n, bottom[0].data, top[0].data, *self.sizes[1:])
            top[1].data.fill(self.label)


class CreateGan(Joints, type="CreateGan", param="create_gan_param", bottoms=1, tops=1):
    """A label for each image, the same for all: whether a net that tells real from made is shown real ones.

    Parameters
    ----------
    bottom 0
        (N, ...): only N is read.
    create_gan_param
        `gan_label` (0): 0 or 1.

    Returns
    -------
    top 0
        (N, 1, 1, 1).

    Raises
    ------
    LayerError
        For another label, a bottom without axes; a gradient is asked for.

    Source
    ------
    The program of Gong et al. 2017, Look into Person.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "CreateGan" create_gan_param { gan_label: 1 }', [[0, 0], [0, 0]]).ravel().tolist()
    [1.0, 1.0]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        self.label = self.param.create_gan_param.gan_label
        self.need(self.label in (0, 1), f"create_gan_param: gan_label must be 0 or 1, got {self.label}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.need(bottom[0].shape, "the bottom must be (N, ...), got a single number")
        top[0].reshape(bottom[0].shape[0], 1, 1, 1)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        top[0].data.fill(self.label)
