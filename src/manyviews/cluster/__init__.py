"""The methods: one file each, a pure solver and a thin estimator."""
