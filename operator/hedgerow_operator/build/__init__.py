"""What is built for a placement: pure functions from a TrainingJob to the objects of the place where it runs."""
