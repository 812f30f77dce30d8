"""The loops of iterative methods, and the record that each leaves."""
