"""The layers: one `.py` and one `.cu` each. They register themselves; see core/layer.py for how to write one."""
