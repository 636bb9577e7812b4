"""The rank library: ``hedgerow.beat(step=…, phase=…)`` tells the launcher that this rank made progress."""
