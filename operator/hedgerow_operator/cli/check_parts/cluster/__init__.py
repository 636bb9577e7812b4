"""What `hedgerow check --context` asks the cluster, one file each: from a site to findings."""
