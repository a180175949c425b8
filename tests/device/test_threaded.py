"""Every kernel gives the plain build's results in blocks of real threads, whatever the launch, and without a race.

A reduced set; `python tests/threaded/full.py` does the same with all layer tests and recorded cases.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from harness import Rig
from places import TESTS
from threaded import ALONE, SANITIZE, Threaded, all_kernels, can_sanitize, companions, library, races, threaded

from boxpresso import Net
from boxpresso.device import Blob, open_device
from boxpresso.device.cast import CAST
from boxpresso.device.kernel import Kernels
from boxpresso.device.pictures import KERNELS as PICTURES
from boxpresso.layers.core import discover
from boxpresso.layers.core.doubt import kernels as DOUBT
from boxpresso.layers.detection import order
from boxpresso.layers.detection.soften import matrix_decay, overlaps, soft_suppress
from boxpresso.layers.detection.suppress import BITS, TILE, overlaps_of_rotated, suppress_boxes
from boxpresso.layers.detection.suppress import kernels as SUPPRESS
from boxpresso.layers.neuron.eltwise import Eltwise
from boxpresso.layers.regions import levels, listed, psroi_base, region_base
from boxpresso.layers.regions.paste import paste
from boxpresso.layers.regions.roi_pooling import ROIPooling
from boxpresso.ops.suppression import KERNELS as OPS_NMS
from boxpresso.proto import SolverParameter, parse_net
from boxpresso.train.updates import METHODS, Parameters, UpdateStep

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fibres and their libraries are for Linux")
discover()
RNG = np.random.default_rng(0)
MAPS = RNG.standard_normal((2, 5, 9, 10))
ROWS = RNG.standard_normal((9, 40))
LABELS = np.arange(9) % 40
REGIONS = np.array([[0, 1, 1, 7, 6], [1, 2, 0, 9, 8], [0, 0, 0, 9, 9], [1, 3, 3, 4, 4], [7, 0, 0, 3, 3]])
FIRST = [True, False, False, False]  # the bottoms that get a gradient
BOTH = [True, True, False, False]
# Boxes 0 to 19 do not touch; the rest, less likely, lie over two of them each, so that many threads find that at once.
ROW = np.array([[x / 20, 0.1, (x + 0.9) / 20, 0.5] for x in range(20)])
BOXES = np.concatenate([ROW, ROW[:12] + np.array([0, 0.01, 0.45, 0.1])])
PRIORS = np.stack([BOXES, np.tile([0.1, 0.1, 0.2, 0.2], (32, 1))]).reshape(1, 2, -1)
OFFSETS = 0.1 * RNG.standard_normal((1, 128))
SCORES = np.stack([1 - np.linspace(0.9, 0.1, 32), np.linspace(0.9, 0.1, 32)], 1).reshape(1, 64)
TRUTH = np.array([[0, 1, 0, *ROW[3], 0], [0, 1, 0, *BOXES[25], 0]]).reshape(1, 1, 2, 8)


def unlike(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(MAPS.shape)


def convolution(text: str, bottom: np.ndarray = MAPS, type: str = "Convolution") -> tuple:
    filler = 'weight_filler { type: "gaussian" }'
    return f'type: "{type}" convolution_param {{ kernel_size: 3 pad: 1 {text} {filler} }}', [bottom]


# A case: the layer's text, its bottoms, which of them get a gradient (all), options of Rig. The author of a layer adds to
# these, or to a list LAUNCHES in the layer's own test file.
CASES: list[tuple] = [
    ('type: "ReLU" relu_param { negative_slope: 0.1 }', [MAPS]),
    ('type: "Sigmoid"', [MAPS]),
    ('type: "TanH"', [MAPS]),
    ('type: "Power" power_param { power: 3 scale: 0.5 shift: 1 }', [MAPS]),
    ('type: "PReLU"', [MAPS]),
    ('type: "Dropout"', [MAPS], None, {"phase": "TRAIN"}),
    ('type: "Dropout" dropout_param { scale_train: false }', [MAPS]),
    ('type: "Eltwise" eltwise_param { coeff: 2 coeff: -1 coeff: 1 }', [MAPS, unlike(1), unlike(2)]),
    ('type: "Eltwise" eltwise_param { operation: PROD }', [MAPS, unlike(1), unlike(2)]),
    ('type: "Eltwise" eltwise_param { operation: PROD stable_prod_grad: false }', [MAPS, unlike(1)]),
    ('type: "Eltwise" eltwise_param { operation: MAX }', [MAPS, unlike(1), unlike(2)]),
    ('type: "Split"', [MAPS], None, {"tops": 3}),
    ('type: "Permute" permute_param { order: 0 order: 2 order: 3 order: 1 }', [MAPS]),
    ('type: "Permute" permute_param { order: 1 order: 0 }', [MAPS]),
    ('type: "Concat"', [MAPS, unlike(1)]),
    ('type: "Upsample" upsample_param { scale: 2 }', [MAPS]),
    ('type: "Upsample"', [MAPS, np.arange(900).reshape(MAPS.shape) % 90 // 3], FIRST),  # three go to each place
    ('type: "BatchNorm"', [MAPS], None, {"phase": "TRAIN"}),
    ('type: "BatchNorm"', [MAPS]),
    ('type: "Scale" scale_param { bias_term: true }', [MAPS]),
    ('type: "Scale"', [ROWS, ROWS[0]]),
    ('type: "LRN"', [MAPS]),
    ('type: "LRN" lrn_param { norm_region: WITHIN_CHANNEL }', [MAPS]),
    ('type: "Normalize" norm_param { across_spatial: true }', [MAPS]),
    ('type: "Normalize" norm_param { across_spatial: false channel_shared: false }', [MAPS]),
    ('type: "Pooling" pooling_param { kernel_size: 3 stride: 2 pad: 1 }', [MAPS], None, {"tops": 2}),
    ('type: "Pooling" pooling_param { kernel_size: 3 stride: 1 pool: AVE }', [MAPS]),
    ('type: "Pooling" pooling_param { kernel_size: 3 stride: 3 pool: STOCHASTIC }', [abs(MAPS)], None, {"phase": "TRAIN"}),
    ('type: "Pooling" pooling_param { global_pooling: true }', [MAPS]),
    ('type: "Pooling" pooling_param { global_pooling: true pool: AVE }', [MAPS]),
    convolution("num_output: 4"),
    convolution("num_output: 5 group: 5 stride: 2"),
    convolution("num_output: 1", np.tile(MAPS[:, :1], (1, 1, 10, 10))),  # the bias' gradient in two parts: of few images,
    convolution("num_output: 1", np.tile(MAPS[:, :1, :4, :4], (600, 1, 1, 1))),  # and of many
    convolution("num_output: 2", MAPS.reshape(2, 5, 3, 3, 10)),
    convolution("num_output: 3 stride: 2", type="Deconvolution"),
    ('type: "InnerProduct" inner_product_param { num_output: 7 weight_filler { type: "xavier" } }', [MAPS]),
    ('type: "Softmax"', [MAPS]),
    ('type: "Softmax"', [ROWS]),
    ('type: "Softmax"', [np.tile(ROWS, (1, 8))]),
    ('type: "SoftmaxWithLoss"', [ROWS, LABELS], FIRST),
    ('type: "SoftmaxWithLoss"', [MAPS, np.arange(180).reshape(2, 9, 10) % 5], FIRST),
    ('type: "SoftmaxWithLoss" loss_param { weight_by_label_freqs: true class_weighting: [1, 2, 1, 3, 1] }',
     [MAPS, np.arange(180).reshape(2, 9, 10) % 5], FIRST),
    ('type: "SmoothL1Loss"', [MAPS, unlike(1)]),
    ('type: "SmoothL1LossOHEM"', [MAPS, unlike(1)], None, {"tops": 2}),
    ('type: "SoftmaxWithLossOHEM"', [MAPS, np.arange(180).reshape(2, 1, 9, 10) % 5], FIRST, {"tops": 3}),
    ('type: "EuclideanLoss"', [MAPS, unlike(1)]),
    ('type: "PriorBox" prior_box_param { min_size: 4 max_size: 9 aspect_ratio: 2 }', [MAPS, MAPS], []),
    ('type: "DetectionOutput" detection_output_param { num_classes: 2 code_type: CENTER_SIZE nms_param '
     "{ nms_threshold: 0.01 } }", [0 * OFFSETS, SCORES, PRIORS], []),
    ('type: "MultiBoxLoss" multibox_loss_param { num_classes: 2 }', [OFFSETS, SCORES, PRIORS, TRUTH], BOTH),
    ('type: "MultiBoxLoss" multibox_loss_param { num_classes: 2 conf_loss_type: LOGISTIC '
     "mining_type: HARD_EXAMPLE nms_param { nms_threshold: 0.5 } }",
     [OFFSETS, SCORES, PRIORS, TRUTH], BOTH),
    ('type: "MultiBoxLoss" multibox_loss_param { num_classes: 2 code_type: CENTER_SIZE }',
     [OFFSETS, SCORES, PRIORS, TRUTH, abs(SCORES), 0.1 * OFFSETS], [*BOTH, False, False]),
    ('type: "ROIPooling" roi_pooling_param { pooled_h: 3 pooled_w: 2 }', [MAPS, REGIONS], FIRST),
    ('type: "ROIPooling" roi_pooling_param { pooled_h: 1 pooled_w: 3 }', [abs(MAPS), REGIONS], FIRST, {"tops": 2}),
    ('type: "ROIAlign" roi_align_param { pooled_h: 3 pooled_w: 2 sampling_ratio: 2 }', [MAPS, REGIONS], FIRST),
    ('type: "DeformROIPooling" deform_roi_pooling_param { pooled_h: 3 pooled_w: 2 }',
     [MAPS, REGIONS, RNG.standard_normal((5, 2, 3, 2))], [True, False, True]),
    ('type: "DeformableConvolution" deformable_convolution_param { num_output: 4 kernel_size: 3 pad: 1 '
     'deformable_group: 1 weight_filler { type: "gaussian" } }', [MAPS, RNG.standard_normal((2, 18, 9, 10))]),
]  # fmt: skip


def update_weights() -> None:
    """The kernels of the solvers."""
    device = open_device("cpu")
    for name in METHODS:
        blob = Blob(MAPS.shape, np.float32, device)
        blob.data[...], blob.diff[...] = MAPS, unlike(1)
        momentum = 0.0 if name in ("AdaGrad", "RMSProp") else 0.9
        parameters = Parameters(SolverParameter(type=name, momentum=momentum, rms_decay=0.9), [blob])
        parameters.update(UpdateStep(0.5, 0, 0, [0.1], [0.01]))
        parameters.norm()


def pack_slabs() -> None:
    """The region layers that make all slabs first on a GPU, and on the CPU one after another."""
    from test_slabs import CUT, LAYERS

    region_base.PACKED["cpu"] = psroi_base.ONE_BY_ONE["cpu"] = True
    try:
        run(*CUT["PSROIAlign"][:3])
        psroi_base.ONE_BY_ONE["cpu"] = False
        for text in (
            'type: "PrROIPooling" prroi_pooling_param { pooled_h: 3 pooled_w: 2 }',
            'type: "ROIAlign" roi_align_param { pooled_h: 3 pooled_w: 2 pool_mode: MAX }',
            'type: "ROIAlign" roi_align_param { pooled_h: 3 pooled_w: 2 }',
        ):
            run(text, [MAPS, REGIONS], [])
        for text, bottoms, down, options in (*LAYERS.values(), *CUT.values()):
            with np.errstate(all="ignore"):
                run(text, bottoms, down if "PSROI" in text else [], options)
        channels_last()
    finally:
        region_base.PACKED["cpu"] = psroi_base.ONE_BY_ONE["cpu"] = False
    channels_last()


def channels_last() -> None:
    """ROIPooling of arrays whose channels are last: some of a slab, and whole slabs."""
    ROIPooling.last = True
    try:
        for maps in (MAPS, np.tile(MAPS, (1, 4, 1, 1))[:, :16]):
            text = 'type: "ROIPooling" roi_pooling_param { pooled_h: 3 pooled_w: 2 }'
            run(text, [maps.transpose(0, 2, 3, 1), REGIONS], FIRST)
    finally:
        ROIPooling.last = False


def train_chains() -> None:
    """BatchNorm, Scale and ReLU as one, with and without a place of their own, and what a look inside makes of them."""
    for top, field in (("b", ""), ("x", ""), ("b", "batch_norm_param { use_global_stats: true }")):
        net = Net(parse_net(f"""force_backward: true
            layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: 2 dim: 5 dim: 9 dim: 10 }} }} }}
            layer {{ name: "b" type: "BatchNorm" bottom: "x" top: "{top}" {field} }}
            layer {{ name: "s" type: "Scale" bottom: "{top}" top: "{'s' if top == 'b' else top}" scale_param {{ bias_term: true }} }}
            layer {{ name: "r" type: "ReLU" bottom: "{'s' if top == 'b' else top}" top: "{'s' if top == 'b' else top}" }}
            layer {{ name: "end" type: "Power" bottom: "{'s' if top == 'b' else top}" top: "y" }}"""), phase="TRAIN", device="cpu")  # fmt: skip
        for _ in range(2):
            net.forward(x=MAPS)
            net.backward(y=MAPS)
            assert len(net._layers.chains) == 3
            np.asarray(net.blobs[top].data)


def compare_blobs() -> None:
    """The maxima of a plan, which needs no winner."""
    kernels, top = Eltwise.kernels.on(open_device("cpu")), np.zeros(MAPS.shape, np.float32)
    one, other = MAPS.astype(np.float32), unlike(1).astype(np.float32)
    kernels.eltwise_larger(one.size, one, other, top)
    kernels.eltwise_next(one.size, other, one, top)


def pool_levels() -> None:
    """All levels of a pyramid at once, as on a GPU."""
    from test_pyramid import TEXT, pyramid, regions

    levels.AT_ONCE["cpu"] = True
    try:
        with np.errstate(all="ignore"):
            run(TEXT, [*pyramid(np.random.default_rng(0)), regions(np.random.default_rng(1))], [])
    finally:
        levels.AT_ONCE["cpu"] = False


def make_tiles() -> None:
    """Gradients of maps in tiles, as on a GPU: every layer of test_tiles.py. Its other gradients have sums whose order
    depends on the vectors of the machine, and launches of their own."""
    from test_tiles import LAYERS

    region_base.TILED["cpu"], most = True, listed.MOST_ENTRIES
    few = [("ROIAlignRotated", 2000), ("PrROIPooling", 3000), ("ModulatedDeformROIPooling", 1000), ("ROIAlign", 0)]
    both = "PrROI", "Deform", "Modulated"  # whose other sums are in an order that no machine changes
    jobs = [*((name, most) for name in LAYERS), *few, ("ROIWarping", 0)]  # of the last some tiles' lists have no room
    try:
        for name, listed.MOST_ENTRIES in jobs:
            text, bottoms, down = LAYERS[name]
            with np.errstate(all="ignore"):
                run(text, bottoms, [True, *(False for _ in down[1:])], {"phase": "TRAIN"})
                if name.startswith(both):
                    run(text, bottoms, down, {"phase": "TRAIN"})
    finally:
        region_base.TILED["cpu"], listed.MOST_ENTRIES = False, most


def suppress() -> None:
    """Boxes that lie over two others each, upright and turned."""
    device, pixels = open_device("cpu"), np.float32(100 * BOXES)
    low, high = pixels[:, :2], pixels[:, 2:]
    turned = np.concatenate([(low + high) / 2, high - low, np.linspace(0, 0.2, 32, dtype=np.float32)[:, None]], 1)
    for bits in (False, True):
        BITS["cpu"] = bits
        suppress_boxes(device, pixels, 0.02, starts=np.array([0, 32, 32]))
        suppress_boxes(device, turned, 0.05, starts=np.array([0, 20, 20, 32]))
    tile, TILE["cpu"] = TILE["cpu"], 2  # words, of the ten of these boxes
    suppress_boxes(device, np.tile(pixels, (10, 1)), 0.02, 30, np.array([0, 300, 300, 320]))
    TILE["cpu"] = tile
    order, indices = np.arange(32, dtype=np.int32)[::-1].copy(), np.zeros(64, np.int32)
    OPS_NMS.on(device).nms_boxes(160, turned, order, np.zeros_like(turned), 5, -1.0)
    OPS_NMS.on(device).nms_indices(32, order, order, indices)
    starts, survivors = np.array([0, 9, 9, 320], np.int32), np.zeros(320, np.int32)
    many = np.tile(pixels, (10, 1)) + np.repeat(np.float32([0, 1, 2, 3, 5, 8, 9, 11, 12, 14]), 32)[:, None]
    SUPPRESS.on(device).suppress_chunks(3, many, starts, survivors, None, 290, 0, 0.3, 0)
    BITS["cpu"] = False
    overlaps_of_rotated(device, turned[:9], turned[9:])
    scores, starts = np.linspace(1, 0.1, 32), np.array([0, 20, 32], np.int32)
    soft_suppress(device, pixels, scores, starts, method="gaussian", threshold=0.02, sigma=0.5, least=1e-3)
    matrix_decay(device, pixels, np.arange(32) % 2, method="linear", sigma=2)
    overlaps(device, turned[:9], turned[9:], aligned=False, foreground=True, boxes=True)
    overlaps(device, pixels.reshape(-1, 8)[:4], pixels.reshape(-1, 8)[4:8], aligned=True, foreground=False, boxes=False)


def detect() -> None:
    """DetectionOutput and proposals, sorted in tiles as on a GPU and as on a CPU: candidates in several tiles, images that keep few, polygons, refined priors,
    rotated boxes, levels of a pyramid."""
    from test_choices import choose_regions

    many = [np.tile(a, 20) for a in (OFFSETS, SCORES)]
    priors = np.tile(PRIORS.reshape(2, -1), (1, 20)).reshape(1, 2, -1)
    more = np.repeat(many[1], 2, 0) + np.linspace(0, 0.01, 1280)
    head = 'type: "DetectionOutput" detection_output_param { num_classes: 2 background_label_id: -1 code_type: CENTER_SIZE '
    for order.IN_TILES["cpu"] in (True, False):
        run(head + "keep_top_k: 9 nms_param { top_k: 40 } }", [np.repeat(many[0], 2, 0), more, priors], [])
        run(head + "confidence_threshold: 2 }", [OFFSETS, SCORES, PRIORS], [])
        run(head + "keep_top_k: 5 }", [np.tile(OFFSETS, 3), SCORES, PRIORS], [])
        run(head + "nms_param { eta: 0.9 } }", [OFFSETS, SCORES, PRIORS, SCORES, OFFSETS], [])
        offsets, info = 0.1 * RNG.standard_normal((2, 36, 7, 9)), [[112, 144, 1], [90, 90, 1]]
        scores = RNG.random((2, 18, 7, 9))
        run('type: "Proposal" proposal_param { post_nms_topn: 30 }', [scores, offsets, info], [], {"tops": 2})
        text = 'param_str: "{scales: [2], ratios: [1, 2], angles: [0, 45], rpn_min_size: 1, rpn_post_nms_top_n: 40}"'
        few, by = scores[:, :8], 0.1 * RNG.standard_normal((2, 20, 7, 9))
        run(f'type: "RotateProposal" python_param {{ {text} }}', [few, by, info], [], {"tops": 2})
        text = 'param_str: "{feat_strides: [8, 16], scales: [2, 6], ratios: [1, 2], rpn_min_size: 1}"'
        parts = [info[:1], offsets[:1, :16], offsets[:1, :16, :4, :5], scores[:1, :8], scores[:1, :8, :4, :5]]
        run(f'type: "FPNProposal" python_param {{ {text} }}', parts, [], {"tops": 4})
        run('type: "ScaleRoute" scale_route_param { low_scale: 8 high_scale: 12 }', [20 * BOXES[:, [0, 0, 1, 2, 3]], SCORES[0, :32]], [],
            {"tops": 2})  # fmt: skip
        choose_regions(run)
        run('type: "ScaleRoute" scale_route_param { low_scale: 900 }', [20 * RNG.random((600, 5))], [])
        text, few = 'param_str: "heights: [11, 16]"', [scores[:1, :4], offsets[:1, :4], info[:1]]
        run(f'type: "TextProposal" python_param {{ {text} }}', few, [], {"tops": 2})
        text, few = 'param_str: "{scales: [1], ratios: [1, 2]}"', [scores[:1, :4], offsets[:1, :8], info[:1]]
        run(f'type: "SSHProposal" python_param {{ {text} }}', few, [], {"tops": 2})
        text, maps = "num_classes: 4 num_box: 1 biases: 2 biases: 3", [RNG.standard_normal((2, 9, 7, 9))]
        run(f'type: "YoloDetectionOutput" yolo_detection_output_param {{ {text} }}', maps, [])
        text += " mask_group_num: 1 mask: 0 anchors_scale: 2"
        run(f'type: "Yolov3DetectionOutput" yolov3_detection_output_param {{ {text} }}', maps, [])
    seen = np.zeros(2, np.int32)
    DOUBT.on(open_device("cpu")).nan_seen(2, np.append(np.zeros(20000, np.float32), np.float32(np.nan)), seen, 20001)
    assert seen.tolist() == [0, 1]


def paste_masks() -> None:
    """Masks in their boxes, by both rules."""
    device, boxes = open_device("cpu"), np.float32([[1, 2, 9, 7], [-3, -2, 5, 4], [4, 4, 4, 9]])
    for whole in (False, True):
        paste(device, np.float32(MAPS[0, :3]), boxes, device.empty((3, 11, 12), np.float32), whole=whole)


def change_types() -> None:
    """What turns arrays of one type into another."""
    device = open_device("cpu")
    x, y, wide = MAPS.astype(np.float32), np.zeros(MAPS.shape, np.float32), np.zeros(MAPS.shape)
    kernels = CAST.on(device)
    kernels.from_store(x.size, x, y)
    kernels.to_store(x.size, x, y)
    kernels.widen(x.size, x, wide)
    kernels.narrow(x.size, wide, y)
    words, means = np.arange(MAPS.size // 4 + 1, dtype=np.uint32) * 0x01030507, np.arange(5, dtype=np.float32)
    numbers = {"channels": 5, "height": 9, "width": 10, "scale": 0.5}
    for last, reverse in ((1, 0), (0, 1)):
        picture = PICTURES.struct("Pictures", last=last, reversed=reverse, **numbers)
        PICTURES.on(device).pictures(x.size, words, means if last else None, y, picture)


def lie_channels_last() -> None:
    """What a plan on a GPU does to arrays whose channels are last."""
    from test_channels_last import launch

    launch()


def check_input() -> None:
    """What looks for regions and labels that are refused, on a GPU."""
    from test_cuda_checks import launch

    launch()


def launch_all() -> None:
    """Every case, and what no layer launches."""
    made, of_regions = list(CASES), [case for case in CASES if "ROI" in case[0]]
    for path in sorted(TESTS.rglob("test_*.py")):
        if "\nLAUNCHES" in path.read_text(encoding="utf-8"):
            cases = importlib.import_module(path.stem).LAUNCHES
            made += cases
            of_regions += cases if path.parent.name == "regions" else []
    device, workers = open_device("cpu"), open_device("cpu").workers
    try:
        # Layers of regions take more at once where fewer share the work, as on a machine of one processor.
        for device.workers, cases in ((max(workers, 2), made), (1, of_regions)):
            for case in cases:
                run(*case)
    finally:
        device.workers = workers
    update_weights()
    pack_slabs()
    train_chains()
    compare_blobs()
    make_tiles()
    pool_levels()
    suppress()
    detect()
    paste_masks()
    change_types()
    lie_channels_last()
    check_input()


def run(text: str, bottoms: list, down: list | None = None, options: dict | None = None) -> None:
    """Forward, then backward with a random gradient, unless no bottom gets one."""
    rig = Rig(text, bottoms, **(options or {}))
    tops = rig.forward()
    if down != []:
        diffs = [np.random.default_rng(5).standard_normal(t.shape) for t in tops]
        rig.backward(diffs, None if down is None else down[: len(bottoms)])


def in_pairs(do: Callable, jobs: Iterable[tuple]) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda job: do(*job), jobs))


def firsts() -> list[Kernels]:
    """A file of each library."""
    return [Kernels(group[0]) for group in dict.fromkeys(companions().values())]


@pytest.mark.later
def test_every_kernel_is_right_for_every_launch():
    with threaded() as device:
        in_pairs(lambda k: (library(k, "float"), device.build(k, np.dtype(np.float32))), ((k,) for k in firsts()))
        launch_all()
    missing = all_kernels() - device.kernels
    assert not missing, f"no case here and no LAUNCHES of a test file launches {sorted(missing)}: add one"
    assert device.runs > 10 * device.launches > 10 * len(device.kernels)


@pytest.mark.slow
def test_no_kernel_has_a_race(tmp_path):
    if not can_sanitize():
        pytest.skip("the C++ compiler has no ThreadSanitizer")
    flags = [SANITIZE, (*SANITIZE, ALONE)]
    in_pairs(lambda k, f: library(k, "float", *f), ((k, f) for k in firsts() for f in flags))
    records = tmp_path / "records"
    with threaded(threads=(), records=records, recorded=2) as device:
        in_pairs(lambda k: device.build(k, np.dtype(np.float32)), ((k,) for k in firsts()))
        launch_all()
    assert device.written
    assert races(records) == []


PLANTED = """
#include "kernel.h"
KERNEL without_barrier(int n, const Real* x, Real* y) {
  BLOCK_LOOP(b, n) {
    SHARED Real row[64];
    THREAD_LOOP(t, 64) row[t] = x[64 * b + t];
    THREAD_LOOP(t, 64) y[64 * b + t] = row[63 - t];
    BARRIER();
  }
}
KERNEL unguarded(int n, const Real* x, Real* y) {
  BLOCK_LOOP(b, n) THREAD_LOOP(t, 64) y[b] += x[64 * b + t];
}
KERNEL across_blocks(int n, const Real* x, Real* y) {
  BLOCK_LOOP(b, n) THREAD_LOOP(t, 1) y[0] += x[64 * b];
}
KERNEL not_set(int n, const Real* x, Real* y) {
  SHARED Real seen[64];
  BLOCK_LOOP(b, n) {
    THREAD_LOOP(t, 64) seen[t] = max(seen[t], x[64 * b + t]);
    THREAD_LOOP(t, 64) y[64 * b + t] = seen[t];
  }
}
template <class Value>
DEVICE void fill(int n, Real* y, Value value) {
  SHARED Real seen[64];
  BLOCK_LOOP(b, n) {
    THREAD_LOOP(t, 64) seen[t] += value(64 * b + t);
    THREAD_LOOP(t, 64) y[64 * b + t] = seen[t];
  }
}
KERNEL not_set_in_a_template(int n, const Real* x, Real* y) {
  fill(n, y, [=](int i) { return x[i]; });
}
KERNEL divergent(int n, const Real* x, Real* y) {
  BLOCK_LOOP(b, n) THREAD_LOOP(t, 64) {
    y[64 * b + t] = x[64 * b + t];
    BARRIER();
  }
}
KERNEL right(int n, const Real* x, Real* y) {
  BLOCK_LOOP(b, n) {
    SHARED Real row[64];
    SHARED int most;
    THREAD_LOOP(t, 64) row[t] = x[64 * b + t];
    THREAD_LOOP(t, 1) most = 0;
    BARRIER();
    THREAD_LOOP(t, 64) raise_to(&most, t);
    BARRIER();
    THREAD_LOOP(t, 64) y[64 * b + t] = row[most - t];
    BARRIER();
  }
}
"""


@pytest.fixture
def planted(tmp_path) -> Kernels:
    """Kernels with a fault each, and one without, as a user's own layer would have them beside it."""
    (tmp_path / "planted.cu").write_text(PLANTED)
    return Kernels(str(tmp_path / "planted.cu"))


def launch(kernels: Kernels, name: str, device: Threaded) -> str:
    """What the threaded run says of a planted kernel."""
    x = np.random.default_rng(0).standard_normal((4, 64)).astype(np.float32)
    try:
        getattr(kernels.on(device), name)(4, x, np.zeros_like(x))
    except AssertionError as error:
        return str(error)
    return ""


@pytest.mark.later
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("without_barrier", "y differs from the plain run in"),
        ("not_set", "y differs from the plain run in"),
        ("not_set_in_a_template", "y differs from the plain run in"),
        ("divergent", "not all threads reach one barrier"),
        ("right", ""),
    ],
)
def test_a_planted_fault_changes_the_result(name, words, planted):
    with threaded() as device:
        assert words in launch(planted, name, device)
        assert device.runs == 12 if name == "right" else 0 < device.runs < 12


@pytest.mark.later
def test_planted_races_are_found(planted, tmp_path):
    if not can_sanitize():
        pytest.skip("the C++ compiler has no ThreadSanitizer")
    names = ("right", "without_barrier", "unguarded", "across_blocks")
    with threaded(threads=(), records=tmp_path / "records") as device:
        for name in names:
            assert launch(planted, name, device) == ""
    reported = {report.split()[0] for report in races(tmp_path / "records")}
    assert reported == set(names[1:])


@pytest.mark.later
def test_a_launch_is_tried_once_for_each_kind():
    with threaded() as device:
        for _ in range(3):
            run('type: "ReLU"', [MAPS])
        assert device.kernels == {("relu.cu", "relu_forward"), ("relu.cu", "relu_backward")}
        assert (device.launches, device.runs) == (2, 24)
