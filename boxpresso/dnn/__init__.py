"""OpenCV's dnn for Caffe models: `from boxpresso import dnn` in place of `cv2.dnn`, which reads them no more since OpenCV 5.

    from boxpresso import dnn
    net = dnn.readNetFromCaffe("deploy.prototxt", "weights.caffemodel")
    net.setInput(dnn.blobFromImage(image, 1.0, (300, 300), (104, 177, 123)))
    detections = net.forward()

Names, argument order, shapes and results are those of OpenCV 4.12; cv2 is not needed. docs/from_opencv.md has what differs.
"""

from __future__ import annotations

from .blobs import (
    CV_8U,
    CV_32F,
    DNN_LAYOUT_NCHW,
    DNN_LAYOUT_NHWC,
    DNN_PMODE_CROP_CENTER,
    DNN_PMODE_LETTERBOX,
    DNN_PMODE_NULL,
    Image2BlobParams,
    blobFromImage,
    blobFromImages,
    blobFromImagesWithParams,
    blobFromImageWithParams,
    imagesFromBlob,
)
from .boxes import (
    SOFT_NMSMETHOD_SOFTNMS_GAUSSIAN,
    SOFT_NMSMETHOD_SOFTNMS_LINEAR,
    NMSBoxes,
    NMSBoxesBatched,
    NMSBoxesRotated,
    softNMSBoxes,
)
from .models import ClassificationModel, DetectionModel, Model
from .net import (
    DNN_BACKEND_CUDA,
    DNN_BACKEND_DEFAULT,
    DNN_BACKEND_INFERENCE_ENGINE,
    DNN_BACKEND_OPENCV,
    DNN_TARGET_CPU,
    DNN_TARGET_CUDA,
    DNN_TARGET_CUDA_FP16,
    DNN_TARGET_OPENCL,
    DNN_TARGET_OPENCL_FP16,
    LayerInfo,
    Net,
    readNet,
    readNetFromCaffe,
)

__all__ = [
    "CV_8U",
    "CV_32F",
    "DNN_BACKEND_CUDA",
    "DNN_BACKEND_DEFAULT",
    "DNN_BACKEND_INFERENCE_ENGINE",
    "DNN_BACKEND_OPENCV",
    "DNN_LAYOUT_NCHW",
    "DNN_LAYOUT_NHWC",
    "DNN_PMODE_CROP_CENTER",
    "DNN_PMODE_LETTERBOX",
    "DNN_PMODE_NULL",
    "DNN_TARGET_CPU",
    "DNN_TARGET_CUDA",
    "DNN_TARGET_CUDA_FP16",
    "DNN_TARGET_OPENCL",
    "DNN_TARGET_OPENCL_FP16",
    "SOFT_NMSMETHOD_SOFTNMS_GAUSSIAN",
    "SOFT_NMSMETHOD_SOFTNMS_LINEAR",
    "ClassificationModel",
    "DetectionModel",
    "Image2BlobParams",
    "LayerInfo",
    "Model",
    "NMSBoxes",
    "NMSBoxesBatched",
    "NMSBoxesRotated",
    "Net",
    "blobFromImage",
    "blobFromImageWithParams",
    "blobFromImages",
    "blobFromImagesWithParams",
    "imagesFromBlob",
    "readNet",
    "readNetFromCaffe",
    "softNMSBoxes",
]
