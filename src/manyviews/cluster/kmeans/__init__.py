"""k-means and its relatives over several views."""
