"""Graphs between samples, and between samples and anchors, with their cuts. Arrays only."""
