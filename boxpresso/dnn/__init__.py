"""OpenCV's dnn for Caffe models: `from boxpresso import dnn` in place of `cv2.dnn`, which reads them no more since OpenCV 5.

    from boxpresso import dnn
    net = dnn.readNetFromCaffe("deploy.prototxt", "weights.caffemodel")
    net.setInput(dnn.blobFromImage(image, 1.0, (300, 300), (104, 177, 123)))
    detections = net.forward()

Names, argument order, shapes and results are those of OpenCV 4.12; cv2 is not needed. docs/from_opencv.md has what differs.
"""

from __future__ import annotations

from .blobs import (
    Image2BlobParams,
    blobFromImage,
    blobFromImages,
    blobFromImagesWithParams,
    blobFromImageWithParams,
    imagesFromBlob,
)
from .boxes import NMSBoxes, NMSBoxesBatched, NMSBoxesRotated, softNMSBoxes
from .constants import (
    CV_8U,
    CV_32F,
    DNN_BACKEND_CANN,
    DNN_BACKEND_CUDA,
    DNN_BACKEND_DEFAULT,
    DNN_BACKEND_HALIDE,
    DNN_BACKEND_INFERENCE_ENGINE,
    DNN_BACKEND_OPENCV,
    DNN_BACKEND_TIMVX,
    DNN_BACKEND_VKCOM,
    DNN_BACKEND_WEBNN,
    DNN_LAYOUT_NCDHW,
    DNN_LAYOUT_NCHW,
    DNN_LAYOUT_ND,
    DNN_LAYOUT_NDHWC,
    DNN_LAYOUT_NHWC,
    DNN_LAYOUT_PLANAR,
    DNN_LAYOUT_UNKNOWN,
    DNN_PMODE_CROP_CENTER,
    DNN_PMODE_LETTERBOX,
    DNN_PMODE_NULL,
    DNN_TARGET_CPU,
    DNN_TARGET_CPU_FP16,
    DNN_TARGET_CUDA,
    DNN_TARGET_CUDA_FP16,
    DNN_TARGET_FPGA,
    DNN_TARGET_HDDL,
    DNN_TARGET_MYRIAD,
    DNN_TARGET_NPU,
    DNN_TARGET_OPENCL,
    DNN_TARGET_OPENCL_FP16,
    DNN_TARGET_VULKAN,
    SOFT_NMSMETHOD_SOFTNMS_GAUSSIAN,
    SOFT_NMSMETHOD_SOFTNMS_LINEAR,
    SoftNMSMethod_SOFTNMS_GAUSSIAN,
    SoftNMSMethod_SOFTNMS_LINEAR,
)
from .models import ClassificationModel, DetectionModel, KeypointsModel, Model, SegmentationModel
from .net import LayerInfo, Net, getAvailableTargets, readNet, readNetFromCaffe
from .registered import registerLayer, unregisterLayer
from .restoring import restore
from .shrinking import shrinkCaffeModel

__all__ = [
    "CV_8U",
    "CV_32F",
    "DNN_BACKEND_CANN",
    "DNN_BACKEND_CUDA",
    "DNN_BACKEND_DEFAULT",
    "DNN_BACKEND_HALIDE",
    "DNN_BACKEND_INFERENCE_ENGINE",
    "DNN_BACKEND_OPENCV",
    "DNN_BACKEND_TIMVX",
    "DNN_BACKEND_VKCOM",
    "DNN_BACKEND_WEBNN",
    "DNN_LAYOUT_NCDHW",
    "DNN_LAYOUT_NCHW",
    "DNN_LAYOUT_ND",
    "DNN_LAYOUT_NDHWC",
    "DNN_LAYOUT_NHWC",
    "DNN_LAYOUT_PLANAR",
    "DNN_LAYOUT_UNKNOWN",
    "DNN_PMODE_CROP_CENTER",
    "DNN_PMODE_LETTERBOX",
    "DNN_PMODE_NULL",
    "DNN_TARGET_CPU",
    "DNN_TARGET_CPU_FP16",
    "DNN_TARGET_CUDA",
    "DNN_TARGET_CUDA_FP16",
    "DNN_TARGET_FPGA",
    "DNN_TARGET_HDDL",
    "DNN_TARGET_MYRIAD",
    "DNN_TARGET_NPU",
    "DNN_TARGET_OPENCL",
    "DNN_TARGET_OPENCL_FP16",
    "DNN_TARGET_VULKAN",
    "SOFT_NMSMETHOD_SOFTNMS_GAUSSIAN",
    "SOFT_NMSMETHOD_SOFTNMS_LINEAR",
    "ClassificationModel",
    "DetectionModel",
    "Image2BlobParams",
    "KeypointsModel",
    "LayerInfo",
    "Model",
    "NMSBoxes",
    "NMSBoxesBatched",
    "NMSBoxesRotated",
    "Net",
    "SegmentationModel",
    "SoftNMSMethod_SOFTNMS_GAUSSIAN",
    "SoftNMSMethod_SOFTNMS_LINEAR",
    "blobFromImage",
    "blobFromImageWithParams",
    "blobFromImages",
    "blobFromImagesWithParams",
    "getAvailableTargets",
    "imagesFromBlob",
    "readNet",
    "readNetFromCaffe",
    "registerLayer",
    "restore",
    "shrinkCaffeModel",
    "softNMSBoxes",
    "unregisterLayer",
]
