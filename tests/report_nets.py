"""A net with blocks, for tests of reports."""

from __future__ import annotations

from boxpresso import Net
from boxpresso.proto import parse_net


def resnet(blocks: int = 8) -> Net:
    """Layers named as in ResNet: stages 2 and 3 of so many blocks, with one branch beside another in the first of each."""
    lines = ['layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 4 dim: 8 dim: 8 } } }']

    def conv(name: str, bottom: str) -> str:
        tail = name.removeprefix("res")
        lines.append(f'layer {{ name: "{name}" type: "Convolution" bottom: "{bottom}" top: "{name}" '
                     "convolution_param { num_output: 4 kernel_size: 1 } }")  # fmt: skip
        for kind, word in (("BatchNorm", "bn"), ("Scale", "scale")):
            lines.append(f'layer {{ name: "{word}{tail}" type: "{kind}" bottom: "{name}" top: "{name}" }}')
        return name

    lines.append(
        'layer { name: "pool1" type: "Pooling" bottom: "data" top: "pool1" pooling_param { kernel_size: 2 stride: 2 } }'
    )
    before = "pool1"
    for stage in (2, 3):
        for i in range(blocks):
            name = f"res{stage}{chr(97 + i) if i < 2 else f'b{i}'}"
            side = conv(f"{name}_branch1", before) if i == 0 else before
            inner = conv(f"{name}_branch2b", conv(f"{name}_branch2a", before))
            lines.append(f'layer {{ name: "{name}" type: "Eltwise" bottom: "{side}" bottom: "{inner}" top: "{name}" }}')
            lines.append(f'layer {{ name: "{name}_relu" type: "ReLU" bottom: "{name}" top: "{name}" }}')
            before = name
    lines.append(f'layer {{ name: "prob" type: "Softmax" bottom: "{before}" top: "prob" }}')
    return Net(parse_net('name: "res" ' + "\n".join(lines)), device="cpu", lazy=True)
