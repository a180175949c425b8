"""What a net is before anything runs: rules of phases, splits, dialects, sizes of data, steps over values and passes."""
