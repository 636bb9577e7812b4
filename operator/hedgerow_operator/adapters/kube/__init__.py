"""Kubernetes: where TrainingJobs are stored and placements run as Indexed Jobs."""
