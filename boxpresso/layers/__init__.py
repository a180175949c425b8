"""The layers: a folder a family, one `.py` and one `.cu` each. core/layer.py shows how to write one."""
