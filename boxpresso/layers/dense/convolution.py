"""Convolution (correlation, as in all of deep learning) along any number of axes."""

from __future__ import annotations

from .convolution_base import ConvolutionLayer


class Convolution(ConvolutionLayer, type="Convolution", param="convolution_param", bottoms=(1, None), tops=(1, None)):
    """top[n, m, y] = sum over c, k of W[m, c, k] * bottom[n, c, stride * y - pad + dilation * k], plus bias[m].

    convolution_param { num_output  kernel_size  pad: 0  stride: 1  dilation: 1  group: 1  bias_term: true  axis: 1 },
    see WindowLayer. Parameters: W (num_output, channels / group, *kernel), bias (num_output,). Bottom (N, C, *size),
    top (N, num_output, *(size + 2 pad - dilation (kernel - 1) - 1) / stride + 1), rounded down. Source: Caffe.
    """
