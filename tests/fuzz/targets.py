"""What is fuzzed: for each kind the whole inputs to start from, how one is mutated, and what is done with it."""

from __future__ import annotations

import io
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import lists
import numpy as np
import registry
import rooms
import sizes
from mutate import Draw, mutate_bytes, mutate_text
from PIL import Image

from boxpresso import Net
from boxpresso.data.picture import decode, encode
from boxpresso.data.records import boxes_of, make_annotated, make_datum, parse, picture_of
from boxpresso.image import read_image
from boxpresso.labels import read_labels
from boxpresso.net.weights import read_blob, read_weights, save_weights
from boxpresso.proto import AnnotatedDatum, BoxpressoError, Datum, SolverState, parse_net, parse_solver
from boxpresso.train.rates import Rates
from boxpresso.train.state import read_state

MEMORY = 64 * 2**20  # of a net that is run: more is the limit's error
LIMITED = ("prototxt", "layer", "size")  # kinds that run a net in that memory
NETS = (*LIMITED, *rooms.NETS)  # kinds that run nets
INPUT = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 4 dim: 6 dim: 6 } } }\n'
BODIES = [
    'type: "Convolution" bottom: "x" top: "y"\n convolution_param {\n num_output: 4\n kernel_size: 3\n stride: 1\n pad: 1\n group: 2 }',
    'type: "Deconvolution" bottom: "x" top: "y"\n convolution_param {\n num_output: 4\n kernel_size: 3\n stride: 2 }',
    'type: "Pooling" bottom: "x" top: "y"\n pooling_param {\n pool: AVE\n kernel_size: 3\n stride: 2\n pad: 1 }',
    'type: "InnerProduct" bottom: "x" top: "y"\n inner_product_param {\n num_output: 5\n axis: 1\n weight_filler {\n type: "xavier" } }',
    'type: "LRN" bottom: "x" top: "y"\n lrn_param {\n local_size: 3\n alpha: 1\n norm_region: ACROSS_CHANNELS }',
    'type: "Reshape" bottom: "x" top: "y"\n reshape_param {\n shape {\n dim: 0\n dim: -1\n dim: 3 }\n axis: 0 }',
    'type: "Permute" bottom: "x" top: "y"\n permute_param {\n order: 0\n order: 2\n order: 3\n order: 1 }',
    'type: "Slice" bottom: "x" top: "y" top: "z"\n slice_param {\n axis: 1\n slice_point: 1 }',
    'type: "Eltwise" bottom: "x" bottom: "x" top: "y"\n eltwise_param {\n operation: SUM\n coeff: 1\n coeff: -1 }',
    'type: "Concat" bottom: "x" bottom: "x" top: "y"\n concat_param {\n axis: 1 }',
    'type: "Scale" bottom: "x" top: "y"\n scale_param {\n axis: 1\n num_axes: 1\n bias_term: true }',
    'type: "BatchNorm" bottom: "x" top: "y"\n batch_norm_param {\n eps: 0.001\n use_global_stats: true }',
    'type: "Softmax" bottom: "x" top: "y"\n softmax_param {\n axis: 1 }',
    'type: "Power" bottom: "x" top: "y"\n power_param {\n power: 2\n scale: 0.5\n shift: 1 }',
    'type: "Crop" bottom: "x" bottom: "x" top: "y"\n crop_param {\n axis: 2\n offset: 0 }',
    'type: "Tile" bottom: "x" top: "y"\n tile_param {\n axis: 1\n tiles: 2 }',
    'type: "Reduction" bottom: "x" top: "y"\n reduction_param {\n operation: MEAN\n axis: 1\n coeff: 2 }',
    'type: "ArgMax" bottom: "x" top: "y"\n argmax_param {\n top_k: 2\n axis: 1\n out_max_val: true }',
    'type: "Interp" bottom: "x" top: "y"\n interp_param {\n height: 9\n width: 7\n pad_beg: 0\n pad_end: 0 }',
    'type: "SPP" bottom: "x" top: "y"\n spp_param {\n pyramid_height: 2\n pool: MAX }',
    'type: "PriorBox" bottom: "x" bottom: "x" top: "y"\n prior_box_param {\n min_size: 3\n max_size: 5\n aspect_ratio: 2\n variance: 0.1\n step: 2 }',
    'type: "ROIPooling" bottom: "x" bottom: "r" top: "y"\n roi_pooling_param {\n pooled_h: 3\n pooled_w: 3\n spatial_scale: 0.5 }',
    'type: "RoIAlign" bottom: "x" bottom: "r" top: "y"\n roi_align_param {\n pooled_h: 3\n pooled_w: 3\n spatial_scale: 0.5\n sampling_ratio: 2 }',
    'type: "DummyData" top: "y"\n dummy_data_param {\n shape {\n dim: 2\n dim: 3 }\n data_filler {\n type: "uniform"\n min: 0\n max: 1 } }',
    'type: "Embed" bottom: "x" top: "y"\n embed_param {\n num_output: 3\n input_dim: 9\n bias_term: false }',
    'type: "Upsample" bottom: "x" top: "y"\n upsample_param {\n scale: 2 }',
    'type: "ShuffleChannel" bottom: "x" top: "y"\n shuffle_channel_param {\n group: 2 }',
    'type: "Normalize" bottom: "x" top: "y"\n norm_param {\n across_spatial: false\n scale_filler {\n type: "constant"\n value: 20 } }',
    'type: "SoftmaxWithLoss" bottom: "x" bottom: "l" top: "y"\n loss_param {\n ignore_label: 1\n normalization: VALID }',
]  # fmt: skip
MORE = """layer { name: "r" type: "Input" top: "r" input_param { shape { dim: 3 dim: 5 } } }
layer { name: "l" type: "Input" top: "l" input_param { shape { dim: 2 dim: 1 dim: 6 dim: 6 } } }
"""


@dataclass(frozen=True)
class Target:
    """A kind of input."""

    make: Callable[[Draw], bytes]  # a mutated input
    run: Callable[[bytes, Path], None]  # what reads it; the folder is empty
    seconds: float = 10.0


def net_text(draw: Draw) -> bytes:
    body = BODIES[int(draw.integers(len(BODIES)))]
    more = MORE if 'bottom: "r"' in body or 'bottom: "l"' in body else ""
    if draw.integers(8) == 0:
        return mutate_text(f'{INPUT}{more}layer {{\n name: "y"\n {body}\n}}', BODIES, draw).encode(
            "utf-8", "surrogatepass"
        )
    return f'{INPUT}{more}layer {{\n name: "y"\n {mutate_text(body, BODIES, draw)}\n}}'.encode("utf-8", "surrogatepass")


def run_net(data: bytes, folder: Path) -> None:
    net = Net(parse_net(data), device="cpu", memory_limit=MEMORY, seed=1)
    draw = np.random.default_rng(0)
    for name in net.inputs:
        shape = net.blobs[name].shape
        if net.blobs[name].count < 10**6:
            values = draw.normal(size=shape) * 3
            net.blobs[name].data[...] = np.abs(values.round()) % 4 if name == "l" else values
    net.forward()


@cache
def small_net() -> Net:
    second = BODIES[3].replace('"x"', '"c"', 1).replace('top: "y"', 'top: "f"')
    first = BODIES[0].replace('top: "y"', 'top: "c"')
    return Net(
        parse_net(f'{INPUT}layer {{ name: "conv" {first} }} layer {{ name: "fc" {second} }}'), device="cpu", seed=1
    )


@cache
def seed_file(suffix: str) -> bytes:
    """A whole file of a kind."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"seed{suffix}"
        rows = [
            ("conv", "Convolution", ["x"], ["y"], [np.ones((4, 2, 3, 3)), np.ones(4)]),
            ("fc", "InnerProduct", ["y"], ["f"], [np.ones((5, 144)), np.ones(5)]),
        ]
        if suffix in (".caffemodel", ".h5"):
            save_weights(path, rows)
        elif suffix == ".npy":
            np.save(path, np.zeros((3, 4, 4), np.float32))
        elif suffix == ".solverstate":
            state = SolverState(iter=7, learned_net="w", current_step=1)
            for _ in range(2):
                blob = state.history.add()
                blob.shape.dim.extend([2, 3])
                blob.data.extend(range(6))
            path.write_bytes(state.SerializeToString())
        else:
            import h5py

            with h5py.File(path, "w") as file:
                file["iter"], file["learned_net"], file["current_step"] = np.int32(7), "w", np.int32(1)
                for i in range(2):
                    file[f"history/{i}"] = np.ones((2, 3), np.float32)
        return path.read_bytes()


def of_file(suffix: str, read: Callable[[Path], object]) -> Target:
    def run(data: bytes, folder: Path) -> None:
        path = folder / f"case{suffix}"
        path.write_bytes(data)
        read(path)

    return Target(lambda draw: mutate_bytes(seed_file(suffix), draw), run)


PICTURE = np.random.default_rng(3).integers(0, 256, (12, 9, 3), np.uint8)


def picture_bytes(draw: Draw) -> bytes:
    format = str(draw.choice(["PNG", "JPEG", "BMP", "GIF", "PPM", "TIFF", "WEBP", "TGA"]))
    buffer = io.BytesIO()
    Image.fromarray(PICTURE).save(buffer, format=format)
    return mutate_bytes(buffer.getvalue(), draw)


def read_picture(data: bytes, folder: Path) -> None:
    (folder / "case").write_bytes(data)
    try:
        read_image(folder / "case")
    finally:
        decode(data)


def datum_bytes(draw: Draw) -> bytes:
    datum = make_datum(encode(PICTURE, "PNG") if draw.integers(2) else PICTURE, 3)
    boxes = np.array([[1, 0, 0.1, 0.1, 0.5, 0.5, 0]], np.float32)
    message = make_annotated(datum, boxes) if draw.integers(2) else datum
    return mutate_bytes(message.SerializeToString(), draw)


def read_datum(data: bytes, folder: Path) -> None:
    with suppress(BoxpressoError):
        annotated = parse(AnnotatedDatum(), data, "it")
        boxes_of(annotated)
        picture_of(annotated.datum, None, "it")
    picture_of(parse(Datum(), data, "it"), None, "it")


LABELS = 'item {\n name: "none"\n label: 0\n display_name: "background"\n}\nitem {\n name: "n1"\n label: 1\n display_name: "cat"\n}\n'
SOLVER = """net: "net.prototxt"\nbase_lr: 0.01\nlr_policy: "step"\ngamma: 0.1\nstepsize: 100\nmax_iter: 1000\nmomentum: 0.9
weight_decay: 0.0005\nsnapshot: 100\nsnapshot_prefix: "s"\nsolver_mode: CPU\ntype: "SGD"\nrandom_seed: 1\n"""


def read_labels_of(data: bytes, folder: Path) -> None:
    (folder / "case").write_bytes(data)
    read_labels(folder / "case", 3)


def read_solver_of(data: bytes, folder: Path) -> None:
    Rates(parse_solver(data)).at(0, 1.0)


TARGETS = {
    "prototxt": Target(net_text, run_net),
    "solver": Target(lambda draw: mutate_text(SOLVER, [SOLVER], draw).encode("utf-8", "surrogatepass"), read_solver_of),
    "labels": Target(lambda draw: mutate_text(LABELS, [LABELS], draw).encode("utf-8", "surrogatepass"), read_labels_of),
    "caffemodel": of_file(".caffemodel", lambda path: (read_weights(path), small_net().copy_from(path))),
    "weights.h5": of_file(".h5", lambda path: (read_weights(path), small_net().copy_from(path))),
    "solverstate": of_file(".solverstate", read_state),
    "solverstate.h5": of_file(".solverstate.h5", read_state),
    "npy": of_file(".npy", read_blob),
    "binaryproto": of_file(".caffemodel", read_blob),
    "picture": Target(picture_bytes, read_picture),
    "record": Target(datum_bytes, read_datum),
}
MORE_TARGETS = {
    **{kind: Target(*parts) for kind, parts in lists.KINDS.items()},
    "layer": Target(registry.layer_case, registry.run_case),
    **{kind: Target(*parts) for kind, parts in rooms.KINDS.items()},
    "size": Target(sizes.size_case, sizes.run_case),
}
ORDER = {kind: i for i, kind in enumerate((*sorted(TARGETS), *MORE_TARGETS))}  # a case stays what it is
TARGETS.update(MORE_TARGETS)


def one(kind: str, number: int, seed: int) -> bytes:
    """The input of a case."""
    return TARGETS[kind].make(np.random.default_rng([seed, number, ORDER[kind]]))


def run_one(kind: str, data: bytes, folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        TARGETS[kind].run(data, folder)
