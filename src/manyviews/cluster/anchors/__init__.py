"""Methods on graphs between samples and a few anchors: nearly linear in the number of samples."""
