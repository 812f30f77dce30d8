"""prototypes."""
