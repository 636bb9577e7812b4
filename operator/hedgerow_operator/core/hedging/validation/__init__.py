"""Whether an answer is one: pure looks at bytes, which may take a while and are made in a process of their own."""
