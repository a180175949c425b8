"""The files of a new folder as texts with comments: prototxts of nets, the solver prototxt, README.md and train.sh."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Mapping

from ..proto import NetParameter, to_text
from .schedule import Schedule

DETECTS = 0.5  # the score from which on detect shows an object


def quoted(text: str) -> str:
    """A text as a string of a prototxt."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def comment(text: str) -> str:
    """Lines of a comment, wrapped."""
    return "".join(f"# {line}\n" for part in text.splitlines() for line in textwrap.wrap(part, 110))


def commented(net: NetParameter, head: str, notes: Mapping[str, str], fields: Mapping[str, str] | None = None) -> str:
    """A net as a prototxt with comments.

    Parameters
    ----------
    net
        The net.
    head
        The comment at the top.
    notes
        {name of a layer: the comment before it}.
    fields
        {name of a field: the comment behind its first line in the first layer}.

    Examples
    --------
    >>> from boxpresso.proto import parse_net
    >>> net = parse_net('name: "n" layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 } } }')
    >>> print(commented(net, "A net.", {"x": "The input."}, {"dim": "pictures"}), end="")
    # A net.
    name: "n"
    <BLANKLINE>
    # The input.
    layer {
      name: "x"
      type: "Input"
      top: "x"
      input_param {
        shape {
          dim: 1  # pictures
        }
      }
    }
    """
    text = comment(head)
    rest = NetParameter()
    rest.CopyFrom(net)
    rest.ClearField("layer")
    text += to_text(rest)
    for number, layer in enumerate(net.layer):
        one = to_text(NetParameter(layer=[layer]))
        for field, said in (fields or {}).items() if number == 0 else ():
            if match := re.search(rf"^ *{field}[: ].*$", one, re.M):
                one = f"{one[: match.end()]}  # {said}{one[match.end() :]}"
        if layer.name in notes:
            text += "\n" + comment(notes[layer.name])
        text += one
    return text


def solver_text(folder: str, backbone: str, plan: Schedule, pictures: tuple[int, int], seed: int, start: bool) -> str:
    """The solver prototxt; start: whether start.caffemodel lies in the folder."""
    together = plan.batch * plan.iter_size
    epochs = plan.iterations * together / pictures[0]
    method = {
        "Adam": 'type: "Adam"\nmomentum: 0.9\nmomentum2: 0.999\n',
        "SGD": 'type: "SGD"\nmomentum: 0.9\n',
    }[plan.method]
    summed = (
        f"iter_size: {plan.iter_size}  # batches whose gradients are summed before an update\n"
        if plan.iter_size > 1
        else ""
    )
    weights = f"weights: {quoted(f'{folder}/start.caffemodel')}  # what fits of the given weights\n" if start else ""
    return f"""\
# boxpresso train --solver {shlex.quote(f"{folder}/solver.prototxt")}    (from the folder in which `boxpresso new` ran)
train_net: {quoted(f"{folder}/train.prototxt")}
test_net: {quoted(f"{folder}/test.prototxt")}
{weights}
# The tests: mean average precision (mAP) on the {pictures[1]} pictures of test_lmdb, each once.
test_iter: {plan.test_iter}  # batches of {plan.test_batch}
test_interval: {plan.test_interval}
test_initialization: false
eval_type: "detection"
ap_version: "MaxIntegral"  # VOC's since 2010; "11point" is VOC2007's
show_per_class_result: true  # class1 is label 1 of labelmap.prototxt

# How it learns. If the loss does not fall, or becomes nan, divide base_lr by 3 to 10.
{method}{summed}base_lr: {plan.rate:g}
lr_policy: "poly"  # falls to 0 in a straight line
power: 1
max_iter: {plan.iterations}  # {epochs:.0f} times all {pictures[0]} pictures of train_lmdb, in batches of {together}
weight_decay: {plan.decay:g}
random_seed: {seed}

# What it writes: a line of the log every `display` iterations, weights every `snapshot`.
display: {plan.display}
average_loss: {plan.display}
snapshot: {plan.snapshot}
snapshot_prefix: {quoted(f"{folder}/snapshots/{backbone}")}
"""


def train_script(folder: str, back: str) -> str:
    """train.sh: training with a log, from wherever it is called. back: the way from the folder to where `new` ran."""
    inner = re.sub(r'(["$`\\])', r"\\\1", back)  # it stands in double quotes
    return f"""\
#!/bin/sh
# Trains, and keeps the log in train.log for `boxpresso plot LOG --follow`.
# More words, such as --web or --resume auto, are passed on.
cd "$(dirname "$0")/{inner}" || exit 1
exec boxpresso train --solver {shlex.quote(f"{folder}/solver.prototxt")} --log {shlex.quote(f"{folder}/train.log")} "$@"
"""


def readme(
    folder: str, subject: str, classes: list[str], plan: Schedule, weights: str, options: str, about: str
) -> str:
    """README.md: what is in the folder, and the next commands."""
    names = ("solver.prototxt", "train.log", "test.prototxt", "deploy.prototxt", "labelmap.prototxt")
    solver, log, test, deploy, labels = (shlex.quote(f"{folder}/{name}") for name in names)
    weights = shlex.quote(weights)
    return f"""\
# {subject}

Written by `boxpresso new`. {about}

Classes, label 1 first: {", ".join(classes)}.

Train, from the folder in which `boxpresso new` ran ({plan.iterations} iterations, mAP every {plan.test_interval}):

    boxpresso train --solver {solver} --log {log}

Watch it from a second terminal, or in a browser by adding `--web` to the line above:

    boxpresso plot {log} --follow

Continue after an interruption:

    boxpresso train --solver {solver} --log {log} --resume auto

Average precision by class, and detection in a picture:

    boxpresso test {test} {weights} --labels {labels} --iterations {plan.test_iter}
    boxpresso detect {deploy} {weights} PICTURE --labels {labels}{options}

| file | what it is |
|---|---|
| solver.prototxt | how it learns: learning rate, iterations, tests, snapshots |
| train.prototxt, test.prototxt | the net with its data and its loss, or its evaluation |
| deploy.prototxt | the net for detection |
| options.toml | what was chosen, for `boxpresso new --options`, after changes too |
| train.sh | the line that trains, from wherever it is called |
| train_lmdb, test_lmdb | the pictures and their boxes |
| train.txt, test.txt | which pictures these are, a path in each line; `boxpresso test` takes them as `--set` |
| labelmap.prototxt, labels.txt | the names of the classes |
| start.caffemodel | what fits of the weights that were given, if any were |
| snapshots | where weights are written; those of the best test end in _best |
"""
