"""Placements as steps of one batch job, which the sruns of its script start and start again."""
