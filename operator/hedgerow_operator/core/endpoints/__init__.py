"""How inference endpoints and their providers stand: pure."""
