"""Kernels of views, exact or through landmarks, and their leading eigenvectors. Arrays only."""
