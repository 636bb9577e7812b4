"""Tells somebody elsewhere what happens to local jobs, through a webhook."""
