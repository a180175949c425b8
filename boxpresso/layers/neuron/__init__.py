"""Layers that work element by element: activations, dropout, arithmetic of several bottoms.

Read relu.py first; neuron_base.py is what most of them build on.
"""
