"""Consensus of many clusterings of every view."""
