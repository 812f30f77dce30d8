"""The methods: what all share, then one folder per family with one file per method."""
