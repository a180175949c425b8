"""ONNX files: standard operators alone, one file for each family of layers.

graph.py holds the graph while it is written and the table of lowerings; writer.py goes through the steps of a net.
"""
