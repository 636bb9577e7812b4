"""pyslurm as a driver, in a process of its own: it holds the interpreter's lock for as long as a call takes."""
