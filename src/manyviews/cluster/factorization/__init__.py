"""Common directions and factors of several views."""
