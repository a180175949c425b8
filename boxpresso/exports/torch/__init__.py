"""Nets as torch modules: plain operators of torch, for regions ours, under Caffe's layer names.

table.py holds the functions, one for each layer type; module.py makes a module of a net.
"""
