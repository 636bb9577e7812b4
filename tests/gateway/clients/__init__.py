"""The clients that people use, in an environment of their own."""
