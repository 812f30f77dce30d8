"""What the report finds out about a result, as plain data: trust, typical samples, features, views."""
