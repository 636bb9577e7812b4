"""Runs on this machine: job objects are files, placements are processes."""
