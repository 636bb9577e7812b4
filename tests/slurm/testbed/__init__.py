"""A real Slurm on this machine: munged, slurmctld, four slurmds n1..n4 with eight fake GPUs each, and slurmrestd.

Everything lies below one folder and runs in a process namespace of its own, which ends with the test run.
"""
