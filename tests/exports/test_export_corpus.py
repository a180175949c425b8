"""Real deploy prototxts as ONNX and as torch modules; docs/export.md counts all of them."""

from __future__ import annotations

import corpus
import numpy as np
import pytest
from shared import cases

from boxpresso import Net
from boxpresso.proto import read_net

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.filterwarnings("ignore::UserWarning")]
FILES = (
    "imistyrain+ssd-models/MobileNetSSD/Face/MobileNetSSD_deploy.prototxt",
    "imistyrain+MTCNN/model/fast/det3.prototxt",
    "rbgirshick+py-faster-rcnn/models/pascal_voc/ZF/faster_rcnn_end2end/test.prototxt",
    "DeepScale+SqueezeNet/SqueezeNet_v1.0/deploy.prototxt",
    "mahyarnajibi+SSH/SSH/models/test_ssh.prototxt",
)


def net_of(file: str) -> tuple[Net, dict[str, np.ndarray]]:
    """A net with random weights that keep values where they are, and what feeds it."""
    net = corpus.built(corpus.fed(read_net(corpus.CORPUS / file), file), "TEST")
    corpus.feed(net)
    corpus.forward(net)
    return net, {name: np.array(net.blobs[name].data) for name in net.inputs}


@pytest.mark.slow
@pytest.mark.parametrize("file", cases(FILES, "corpus/manifest.json"))
@pytest.mark.parametrize("target", ["onnxruntime", "openvino"])
def test_onnx(file, target):
    pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip(target, reason=f"{target} is not installed")
    from boxpresso.exports import onnx_model
    from boxpresso.exports.onnx import verify

    net, inputs = net_of(file)
    differences = verify.compare(net, verify.runner_of(onnx_model(net, target=target), target), inputs)
    assert all(one.fine for one in differences), list(map(str, differences))


@pytest.mark.slow
@pytest.mark.parametrize("file", cases(FILES, "corpus/manifest.json"))
def test_torch(file):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from boxpresso import to_torch
    from boxpresso.exports.onnx import verify

    net, inputs = net_of(file)
    module = to_torch(net).eval()

    def run(inputs):
        with torch.no_grad():
            tensors = {name: torch.tensor(np.asarray(values, np.float32)) for name, values in inputs.items()}
            return {name: value.numpy() for name, value in module(**tensors).items()}

    differences = verify.compare(net, run, inputs)
    assert all(one.fine for one in differences), list(map(str, differences))
