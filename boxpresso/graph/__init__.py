"""What a net is before anything runs: prepare (phase rules, splits), dialects, sizes of its data, steps over values, and passes over them."""
