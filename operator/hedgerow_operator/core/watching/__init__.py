"""What is watched from report to report while a job goes on: its pace, its memory, its numbers."""
