"""Caffe's messages: `from caffe.proto import caffe_pb2`."""
