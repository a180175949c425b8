"""Further kinds of files: anchors, lists of pictures and windows, the folders of `boxpresso new`, HDF5 data, logs, uploads."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from mat_files import write_mat
from mutate import Draw, mutate_bytes, mutate_text
from PIL import Image

from boxpresso.data import coco, folders, hdf5, lines, mat, windows
from boxpresso.graph.anchors import read_anchors
from boxpresso.labels import read_labels
from boxpresso.recipes import folders as own_folders
from boxpresso.train.curves import read_curves

ANCHORS = "[[-84, -40, 99, 55],\n [-176, -88, 191, 103],\n [-360, -184, 375, 199]]\n"
LIST = "pictures/a 1.jpg 0\npictures/b.png 3\nc.jpg 12\n"
WINDOWS = (
    """# 0\npicture.png\n3\n12\n9\n2\n1 0.8 1 1 5 5\n0 0.1 0 0 8 11\n# 1\npicture.png\n3\n12\n9\n1\n2 1 0 0 4 4\n"""
)
VOC = """<annotation>\n<filename>a.png</filename>\n<size><width>9</width><height>12</height><depth>3</depth></size>
<object>\n<name>cat</name>\n<difficult>0</difficult>\n<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>6</xmax><ymax>9</ymax></bndbox>
</object>\n<object>\n<name>dog</name>\n<bndbox><xmin>2</xmin><ymin>2</ymin><xmax>8</xmax><ymax>9</ymax></bndbox>\n</object>
</annotation>\n"""
COCO = {
    "images": [{"id": 7, "file_name": "a.png", "width": 9, "height": 12}],
    "annotations": [
        {"id": 1, "image_id": 7, "category_id": 3, "bbox": [1, 2, 5, 7], "area": 35, "iscrowd": 0},
        {"id": 2, "image_id": 7, "category_id": 5, "bbox": [0, 0, 4, 4], "area": 16, "iscrowd": 1},
    ],
    "categories": [{"id": 3, "name": "cat"}, {"id": 5, "name": "dog"}],
}
YOLO = "0 0.5 0.5 0.4 0.6\n1 0.2 0.2 0.1 0.1\n1 0.1 0.1 0.3 0.1 0.3 0.4\n"
WIDER = "0--Parade/a.png\n2\n1 2 5 7 0 0 0 0 0 0\n2 2 4 4 2 0 0 1 0 0\na.png\n0\n0 0 0 0 0 0 0 0 0 0\n"
YAML = "path: .\ntrain: images\nnc: 2\nnames: [cat, dog]\n"
YAML_TABLE = "train: images\nnames:\n  0: cat\n  1: dog\n"
LOG = """I0101 10:00:00.000000  1 solver.cpp:218] Iteration 0 (1.5 iter/s, 2s/20 iters), loss = 3.5
I0101 10:00:01.000000  1 solver.cpp:237]     Train net output #0: loss = 3.5 (* 1 = 3.5 loss)
I0101 10:00:02.000000  1 sgd_solver.cpp:105] Iteration 0, lr = 0.001
I0101 10:00:03.000000  1 solver.cpp:330] Iteration 20, Testing net (#0)
I0101 10:00:04.000000  1 solver.cpp:397]     Test net output #0: detection_eval = 0.5\n"""
NAMES = [
    "face\nperson\n\n cat\n",
    "0 background\n1 cat\n",
    "{\n'0': 'cat',\n'1': 'dog'\n}\n",
    "n01440764 tench, Tinca tinca\nn1 x\n",
]
PLACES = [{"name": "cat", "id": 1}, {"name": "dog", "id": 2}]


def text(*seeds: str) -> Callable[[Draw], bytes]:
    """Mutated texts, by words or by bytes."""

    def make(draw: Draw) -> bytes:
        seed = seeds[int(draw.integers(len(seeds)))]
        if draw.integers(3) == 0:
            return mutate_bytes(seed.encode(), draw)
        return mutate_text(seed, list(seeds), draw).encode("utf-8", "surrogatepass")

    return make


def put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@cache
def picture() -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.zeros((12, 9, 3), np.uint8)).save(buffer, format="PNG")
    return buffer.getvalue()


@cache
def archive() -> bytes:
    import h5py

    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file["data"], file["label"] = np.ones((4, 2, 3), np.float32), np.arange(4, dtype=np.float32)
    return buffer.getvalue()


def of_anchors(data: bytes, folder: Path) -> None:
    read_anchors(put(folder, "anchors.json", data))


def of_list(data: bytes, folder: Path) -> None:
    folders.read_list(str(put(folder, "list.txt", data)))


def of_windows(data: bytes, folder: Path) -> None:
    windows.read_windows(str(put(folder, "windows.txt", data)))


def of_voc(data: bytes, folder: Path) -> None:
    put(folder, "JPEGImages/a.png", picture())
    put(folder, "ImageSets/Main/trainval.txt", b"a\n")
    put(folder, "Annotations/a.xml", data)
    own_folders.read(folder, own_folders.recognise(folder))


def of_voc_split(data: bytes, folder: Path) -> None:
    put(folder, "JPEGImages/a.png", picture())
    put(folder, "Annotations/a.xml", VOC.encode())
    put(folder, "ImageSets/Main/trainval.txt", data)
    own_folders.read(folder, "voc")


def of_coco(data: bytes, folder: Path) -> None:
    put(folder, "train/a.png", picture())
    path = put(folder, "annotations/instances_train.json", data)
    try:
        own_folders.read(folder, own_folders.recognise(folder))
    finally:
        coco.evaluate_coco(np.array([[0, 1, 0.5, 0.1, 0.1, 0.5, 0.5]]), coco.read_dataset(path, [0], {1: 1, 2: 2}))


def of_yolo(data: bytes, folder: Path) -> None:
    put(folder, "images/a.png", picture())
    put(folder, "classes.txt", b"cat\ndog\n")
    put(folder, "labels/a.txt", data)
    own_folders.read(folder, own_folders.recognise(folder))


def of_wider(data: bytes, folder: Path) -> None:
    put(folder, "WIDER_train/images/0--Parade/a.png", picture())
    put(folder, "wider_face_split/wider_face_train_bbx_gt.txt", data)
    own_folders.read(folder, own_folders.recognise(folder))


def of_mat(data: bytes, folder: Path) -> None:
    mat.read_mat(put(folder, "a.mat", data), "GTcls", "Segmentation")


@cache
def matlab(compress: bool) -> bytes:
    values = {"Boundaries": np.ones((3, 2)), "Segmentation": np.arange(6, dtype=np.uint8).reshape(3, 2)}
    with TemporaryDirectory() as folder:
        return write_mat(Path(folder) / "a.mat", compress, GTcls=values).read_bytes()


def of_yaml(data: bytes, folder: Path) -> None:
    put(folder, "images/a.png", picture())
    put(folder, "labels/a.txt", b"0 0.5 0.5 0.4 0.6\n")
    put(folder, "data.yaml", data)
    own_folders.read(folder, own_folders.recognise(folder))


def of_rows(data: bytes, folder: Path) -> None:
    path = put(folder, "data.h5", data)
    rows = hdf5.Rows(str(put(folder, "list.txt", f"{path}\n".encode())), ["data", "label"], False, 1, np.float32)
    rows.take(5)


def of_log(data: bytes, folder: Path) -> None:
    read_curves(lines.read_lines(str(put(folder, "log", data)), "the log", "be a log"))


def of_names(data: bytes, folder: Path) -> None:
    read_labels(put(folder, "names.txt", data), 3)


def of_names_json(data: bytes, folder: Path) -> None:
    read_labels(put(folder, "names.json", data))


def of_body(data: bytes, folder: Path) -> None:
    """An upload of the server's page, whose headers it brings along."""
    from boxpresso.serve.upload import file_of

    head, _, body = data.partition(b"\n")
    file_of(body, head.decode("latin-1"))


BODY = (
    "multipart/form-data; boundary=--x\n----x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.png\"\r\n"
    "Content-Type: image/png\r\n\r\nPNG\r\n----x--\r\n"
)  # fmt: skip
KINDS: dict[str, tuple[Callable[[Draw], bytes], Callable[[bytes, Path], None]]] = {
    "anchors.json": (text(ANCHORS, '{"anchors": [[1, 2, 3, 4]]}\n'), of_anchors),
    "list": (text(LIST), of_list),
    "windows": (text(WINDOWS), of_windows),
    "voc": (text(VOC), of_voc),
    "voc split": (text("a\na\n", "a 1\nb -1\n"), of_voc_split),
    "coco": (text(json.dumps(COCO, indent=1)), of_coco),
    "yolo": (text(YOLO), of_yolo),
    "yolo.yaml": (text(YAML, YAML_TABLE), of_yaml),
    "data.h5": (lambda draw: mutate_bytes(archive(), draw), of_rows),
    "log": (text(LOG), of_log),
    "names": (text(*NAMES), of_names),
    "names.json": (
        text(json.dumps(PLACES, indent=1), '{"0": "cat",\n "1": "dog"}\n', '["cat",\n "dog"]\n'),
        of_names_json,
    ),
    "upload": (text(BODY), of_body),
    "wider": (text(WIDER), of_wider),
    "mat": (lambda draw: mutate_bytes(matlab(bool(draw.integers(2))), draw), of_mat),
}
