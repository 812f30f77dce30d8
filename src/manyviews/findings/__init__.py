"""What can be said of a result, as plain data: trust, typical samples, features, views; figures and pages show it."""
