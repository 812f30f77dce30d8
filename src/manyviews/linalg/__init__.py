"""Linear algebra and scaling of plain arrays: eigenvectors, simplex problems, rotations, thresholds."""
