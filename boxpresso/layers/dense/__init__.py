"""Layers that sum over neighbours or over all inputs: convolutions, inner products, pooling and recurrent layers.

Read convolution_base.py first, then inner_product.py.
"""
