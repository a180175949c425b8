"""What makes a net fast: layouts, one arena of memory, programs for the CPU and for a GPU, chains of a training."""
