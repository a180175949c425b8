"""Recipes: what `boxpresso new` makes of a folder of pictures, and the builders of nets that the examples use too.

`trunks` has the trunks of published nets, `ssd` SSD over them, `regions` Faster R-CNN and R-FCN, `folders` reads pictures and
annotations, `pretrained` says what of a .caffemodel fits, `schedule` chooses batches, rates and iterations, `texts` writes the
files with their comments, `options` reads what is asked for as TOML, and `project` puts a folder together.
"""
