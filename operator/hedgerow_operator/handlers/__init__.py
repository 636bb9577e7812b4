"""kopf: watches, and nothing else. Every event only says which job to look at."""
