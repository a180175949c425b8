"""Data layers of forks whose files are not read here: their tops have the shapes that the fields give."""

from __future__ import annotations

from typing import ClassVar

from ...device import Blob
from ..core import Layer
from ..core.data_tops import data_tops

READERS = {  # layers of ours that read data of the same kind
    "RoIData, which reads VOC and COCO folders": ("FrcnnRoiData", "FrcnnVidData"),
    "AnnotatedData, which reads SSD's LMDBs and VOC and COCO folders": ("LaneData", "AnnotatedRData"),
    "ImageSegData, which reads images and maps of labels from a list,": ("SegData", "WindowSegData"),
    "ImageData, which reads images and one label each,": ("MultiImageData", "PairImageData", "VideoData", "RgbVideoData"),
}  # fmt: skip


def reader_of(kind: str) -> str:
    """Words that name the layer of ours that reads data of the same kind; empty where there is none.

    >>> reader_of("LaneData")
    "; AnnotatedData, which reads SSD's LMDBs and VOC and COCO folders, is the nearest layer that reads"
    """
    known = {name.lower(): words for words, names in READERS.items() for name in names}
    words = known.get(kind.lower(), "")
    return f"; {words.rstrip(',')}, is the nearest layer that reads" if words else ""


class ForkData(
    Layer,
    type=(
        "VideoData", "LaneData", "AnnotatedRData", "FrcnnVidData",
        "SegData", "WindowSegData", "MultiImageData", "PairImageData", "RotateRoIData", "FrcnnRoiData", "CPMData",
        "DatumData", "DriveData", "DataHeatmap", "BoxData", "FlowVideoData", "RgbVideoData",
        "VideoDataSeg",
    ),
    param=(
        "video_data_param", "data_param", "cpmdata_param", "cpm_transform_param",
        "annotated_data_param", "seg_data_param", "multi_image_data_param", "pair_image_data_param", "transform_param",
        "python_param", "window_data_param", "image_data_param", "dense_image_data_param",
        "datum_data_param", "drive_data_param", "heatmap_data_param",
    ),
    bottoms=0,
    tops=(1, None),
):  # fmt: skip
    """A data layer of a fork: a net with it builds, and can be looked at; its files are not read.

    The tops have the shapes that the layer's fields give: batch size, crop or resized size, strides of label maps. What
    no field tells is what `Net(..., data="shapes")` takes. A forward pass is an error, which says to give the tops:
    `Net(..., data="shapes")` makes each of them an input of the net, filled with random values, or with those that the
    caller assigns.

    Parameters
    ----------
    video_data_param
        `batch_size`; `new_height` and `new_width`; `new_length`, `num_segments` and `modality`, for the channels. Of
        VideoDataSeg, of volumes with a label for each voxel: `new_length` slices, which are an axis of their own.
    transform_param
        `crop_size`, `resize_param`, `force_gray`, and `mean_value` for the number of channels.
    cpmdata_param, cpm_transform_param
        Of CPMData: `batch_size`; `crop_size_x`, `crop_size_y`, `stride`, `num_parts`, which may stand in transform_param.
    datum_data_param
        Of DatumData, of patches that a list of files holds, with a mean and a deviation for each channel: `batch_size`.
    drive_data_param
        Of DriveData, of boxes around cars and signs: `cropped_height`, `cropped_width`, `tiling_height`, `tiling_width`,
        `label_resolution`, `catalog_resolution`.
    data_param
        Of BoxData, YOLO's true boxes in a grid: `batch_size`, `side` (7), one for each top of labels.
    image_data_param
        Of RgbVideoData and FlowVideoData: `batch_size`, `new_height`, `new_width`; the latter's channels are `frame_num` (10) *
        `pair_size_sub` (1).
    heatmap_data_param
        Of DataHeatmap, of joints: `batchsize`, `outsize`, `num_channels`, `label_height`, `label_width`.

    Returns
    -------
    top 0, ...
        The images, then what belongs to them: labels (N), maps of labels, true boxes (G, 5), sizes (1, 3).

    Raises
    ------
    LayerError
        When it is to run, and for more tops than the layer has.

    Source
    ------
    yjxiong's Caffe (VideoData, SegData), DeconvNet (WindowSegData), MobileNet-YOLO (LaneData), makefile/frcnn (FrcnnRoiData,
    AnnotatedRData, FrcnnVidData), RRPN (RotateRoIData, its rotation.rlayer), Convolutional Pose Machines and OpenPose
    (CPMData), tpfister/caffe-heatmap (DataHeatmap), nets of sea ice (DatumData), Huval et al. 2015 and
    Tsinghua-Tencent 100K (DriveData), yeahkun/caffe-yolo (BoxData), xiaolonw/lisa-caffe-lstm (FlowVideoData, RgbVideoData),
    ljpadam/Caffe-3D (VideoDataSeg).

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> text = '''layer { name: "data" type: "VideoData" top: "data" top: "label" transform_param { crop_size: 224 }
    ...     video_data_param { source: "list.txt" batch_size: 2 new_length: 5 modality: FLOW } }'''
    >>> net = Net(parse_net(text), device="cpu")
    >>> net.blobs["data"].shape, net.blobs["label"].shape
    ((2, 10, 224, 224), (2,))
    >>> Net(parse_net(text), device="cpu", data="shapes").forward()["label"].shape
    (2,)
    """

    replaces = ("rotation.rlayer.RoIDataLayer",)
    read: ClassVar[tuple[str, ...]] = (  # by data_tops
        "video_data_param", "data_param", "cpmdata_param", "cpm_transform_param",
        "annotated_data_param", "seg_data_param", "multi_image_data_param", "pair_image_data_param", "transform_param",
        "python_param", "window_data_param", "image_data_param", "dense_image_data_param",
        "datum_data_param", "drive_data_param", "heatmap_data_param",
    )  # fmt: skip

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        self.need(
            len(self.param.top) in (0, len(top)), f"has {len(top)} tops, the prototxt names {len(self.param.top)}"
        )
        shapes = data_tops(self.param)
        self.need(len(shapes) == len(top), f"has {len(shapes)} tops, the prototxt gives {len(top)}")
        for blob, known in zip(top, shapes):
            blob.reshape(*known.shape)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        """The fields gave the shapes."""

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.need(
            False,
            f'files of {self.param.type} are not read here; build the net with Net(..., data="shapes"), which makes '
            f"inputs of its tops, and assign them{reader_of(self.param.type)}",
        )
