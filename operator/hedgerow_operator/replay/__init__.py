"""Replays what a job left behind through the decisions of the running operator, at the log's own clock."""
