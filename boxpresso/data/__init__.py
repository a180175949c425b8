"""Data sets: from pictures, records (LMDB, HDF5) and folders (VOC, COCO, YOLO) to arrays for a net.

Plain functions on numpy arrays. A picture is uint8 (height, width, channels), blue, green, red, as OpenCV gives it to Caffe;
boxes are rows of `BOX`, corners as fractions of the picture's width and height. Read picture.py and boxes.py first.
"""
