"""Spectral clustering of graphs between samples."""
