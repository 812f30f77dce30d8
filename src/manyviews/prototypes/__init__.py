"""Points that stand for samples: k-means in its forms, its starts, anchors. Arrays only."""
