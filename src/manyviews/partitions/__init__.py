"""Label vectors and soft partitions: one clustering made into labels, many made into one. Arrays only."""
