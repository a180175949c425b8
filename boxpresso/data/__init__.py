"""Data sets: pictures, records (LMDB, HDF5) and folders (VOC, COCO, YOLO) in, arrays for a net out.

Plain functions on numpy arrays. A picture is uint8 (height, width, channels), blue, green, red, as OpenCV gives it to Caffe;
boxes are rows of `BOX`, corners as parts of the picture's width and height.
"""
