"""Methods that combine one kernel per view."""
