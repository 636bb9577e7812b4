"""Training jobs on the real cluster: applied, harmed, and watched from outside."""
