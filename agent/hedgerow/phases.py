"""Names of the phases of training: what a rank has to know of the wire format, whose classes take longer to import."""

from __future__ import annotations

PHASE_INIT = "init"
PHASE_STEP = "step"
PHASE_CHECKPOINT = "checkpoint"
PHASE_EVAL = "eval"
PHASE_ENDING = "ending"
# The first step of an attempt compiles, warms caches and refills pipelines: it is learned apart.
PHASE_FIRST_STEP = "first-step"
# Where a job has more phases than there is room for, the later ones are one.
PHASE_OTHER = "other"
