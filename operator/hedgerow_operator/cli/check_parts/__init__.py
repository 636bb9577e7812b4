"""What `hedgerow check` looks at, one file each: from a job to findings."""
