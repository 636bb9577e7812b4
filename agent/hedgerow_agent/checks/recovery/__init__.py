"""What the driver itself asks for."""
