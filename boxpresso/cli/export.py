"""The verb export: a net as a file of another program."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..proto.errors import ModelError
from ..proto.files import need_place
from . import arguments
from .model import load
from .output import size, warn

if TYPE_CHECKING:
    from ..exports import Preprocess
    from ..net import Net

NAME = "export"
SHORT = "write a net as ONNX or for torch"
TEXT = """\
Write a net with its weights as a file of another program:

  OUT.onnx         ONNX, of standard operators alone
  OUT.pt2          torch.export's file
  OUT.safetensors  the weights alone

BatchNorm and Scale go into the weights before them, priors become constants,
the layers of detection become TopK and NonMaxSuppression. The file is run,
where onnxruntime is installed, and compared with the net; it is written when no
output differs by more than 1e-4 (1e-2 with --fp16). What stands at OUT is
replaced by a whole file alone. Weights of `boxpresso quantize` give an ONNX
file in 8 bits.
"""
EPILOG: str | None = None
STEPS = ("mean", "scale", "swap")
TARGETS = ("onnxruntime", "openvino", "opencv5", "tensorrt")


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    arguments.model(parser, weights=True)
    add = parser.add_argument
    add("out", metavar="OUT", help="the file to write, .onnx, .pt2 or .safetensors")
    text = "the program that will read it: onnxruntime, openvino, opencv5 or tensorrt"
    add("--target", metavar="T", choices=TARGETS, default="onnxruntime", help=f"{text} (default: onnxruntime)")
    add(
        "--opset",
        metavar="N",
        type=arguments.positive,
        default=17,
        help="version of the operators, 16 to 21 (default: 17)",
    )
    add("--dynamic-batch", action="store_true", help="let any number of images be given at once")
    add("--fp16", action="store_true", help="store weights in 16 bits, in half the room")
    text = "what the file itself does to its pictures: mean,scale,swap with the numbers of --mean and --scale, or with its own"
    add("--preprocess", metavar="LIST", type=preprocess_steps, default={}, help=text)
    arguments.preparation(parser)
    add("--labels", metavar="FILE", help="names of the classes, written into the file")
    add("--output", metavar="BLOB", action="append", help="end at this blob, not at the net's outputs; may be repeated")
    add("--picture", metavar="FILE", action="append", default=[], help="compare on this picture too; may be repeated")
    add("--no-check", action="store_true", help="write the file without running it")


def preprocess_steps(text: str) -> dict[str, list[str]]:
    """The words of --preprocess, each with its numbers where they are given.

    >>> preprocess_steps("mean,swap"), preprocess_steps("mean=104,117,123,scale=1/255")
    ({'mean': [], 'swap': []}, {'mean': ['104', '117', '123'], 'scale': ['1/255']})
    """
    steps: dict[str, list[str]] = {}
    for word in filter(None, map(str.strip, text.split(","))):
        name, equals, value = word.partition("=")
        if name in STEPS and not (equals and name == "swap"):
            steps[name] = [value] if equals else []
        elif not equals and steps.get("mean") and list(steps)[-1] == "mean":
            steps["mean"].append(word)
        else:
            raise ArgumentTypeError(f"{word!r} is none of {', '.join(STEPS)}; write mean,scale or mean=104,117,123")
    if not steps:
        raise ArgumentTypeError(f"names no step of {', '.join(STEPS)}")
    return steps


def given_numbers(args: Namespace) -> None:
    """Takes the numbers that --preprocess itself gives as those of --mean and --scale."""
    if args.preprocess.get("mean"):
        args.mean = arguments.mean(",".join(args.preprocess["mean"]))
    if args.preprocess.get("scale"):
        args.scale = arguments.fraction(args.preprocess["scale"][0])
    args.scale = 1.0 if args.scale is None else args.scale


def run(args: Namespace) -> int:
    """Writes the file, and prints what it is and how far its outputs are from the net's."""
    kind = os.path.splitext(args.out)[1].lower()
    if kind not in (".onnx", ".pt2", ".safetensors"):
        raise ModelError(f"{args.out}: the name must end in .onnx, .pt2 or .safetensors, which says what to write")
    need_place(args.out)
    try:
        given_numbers(args)
    except ArgumentTypeError as error:
        raise ModelError(f"--preprocess: {error}") from None
    net = load(args.model, args.weights, device="cpu", python_layers=args.python_layers)
    if args.size is not None:
        from ..detection import picture_input

        name, channels, width, height = picture_input(net, args.size)
        net.blobs[name].reshape(net.blobs[name].shape[0], channels, height, width)
        net.reshape()
    if kind == ".onnx":
        return run_onnx(net, args)
    if args.preprocess or args.dynamic_batch or args.output or args.fp16:
        raise ModelError("--preprocess, --dynamic-batch, --fp16 and --output are for .onnx")
    if kind == ".pt2":
        from ..exports import export_torch

        largest = export_torch(net, args.out, check=not args.no_check)
        print(f"{args.out}: torch.export, {size(os.path.getsize(args.out))}")
        print("not compared" if largest is None else f"largest difference: {largest:.2g}")
        return 0
    from ..exports import rows_of_net, write_safetensors

    count = write_safetensors(args.out, rows_of_net(net), net.name)
    print(f"{args.out}: {count} layers, {size(os.path.getsize(args.out))}")
    return 0


def run_onnx(net: Net, args: Namespace) -> int:
    """Writes an ONNX file."""
    from ..exports import export_onnx
    from ..labels import read_labels

    labels = read_labels(args.labels) if args.labels else None
    written = export_onnx(
        net, args.out, target=args.target, opset=args.opset, dynamic_batch=args.dynamic_batch, half=args.fp16,
        outputs=args.output, preprocess=preprocessing(net, args), labels=labels, metadata=metadata(args),
        inputs=pictures(net, args),
        check=not args.no_check,
    )  # fmt: skip
    print(f"{args.out}: for {args.target}, opset {args.opset}, {written.nodes} nodes, {size(written.bytes)}")
    if written.differences is None:
        warn("not compared with the net" + ("" if args.no_check else ": onnxruntime is not installed"))
    else:
        print("largest difference of each output, relative to its largest number:")
        print("\n".join(f"  {one}" for one in written.differences))
    return 0


def preprocessing(net: Net, args: Namespace) -> Preprocess | None:
    """What the file does to its pictures."""
    if not args.preprocess:
        return None
    from ..detection import picture_input
    from ..exports import Preprocess
    from ..image import mean_array

    if "mean" in args.preprocess and args.mean is None:
        raise ModelError("--preprocess mean needs --mean, what to subtract")
    if "scale" in args.preprocess and args.scale == 1:
        raise ModelError("--preprocess scale needs --scale, by what to multiply")
    mean = None
    if "mean" in args.preprocess:
        values = mean_array(args.mean, *picture_input(net)[1:])
        mean = values.reshape(-1) if values.shape[1:] == (1, 1) else values
    scale = args.scale if "scale" in args.preprocess else 1.0
    return Preprocess(mean, scale, "swap" in args.preprocess)


def metadata(args: Namespace) -> dict[str, str]:
    """What the file says of its source and of the pictures that it wants."""
    result = {
        "boxpresso": __version__,
        "prototxt": os.path.basename(args.model),
        "caffemodel": os.path.basename(args.weights),
    }
    if args.mean is not None:
        result["mean"] = args.mean if isinstance(args.mean, str) else ",".join(f"{value:g}" for value in args.mean)
    if args.scale != 1:
        result["scale"] = f"{args.scale:.9g}"
    if args.swap_rb or "swap" in args.preprocess:
        result["swap_rb"] = "true"
    result["in_graph"] = json.dumps(list(args.preprocess))
    return result


def pictures(net: Net, args: Namespace) -> list[dict[str, Any]]:
    """The inputs of the net for each picture of --picture."""
    if not args.picture:
        return []
    from ..detection import picture_input
    from ..exports.onnx.verify import inputs_of
    from ..image import input_array

    name, channels, width, height = picture_input(net)
    result = []
    for path in args.picture:
        inputs = inputs_of(net, 0)
        swap = bool(args.swap_rb) or "swap" in args.preprocess
        array = input_array(path, channels, width, height, mean=args.mean, scale=args.scale, swap_rb=swap)
        inputs[name] = array.repeat(net.blobs[name].shape[0], 0)
        result.append(inputs)
    return result
