"""The plan of a net on a GPU: captured graphs, layouts that are measured, memory that values share."""
