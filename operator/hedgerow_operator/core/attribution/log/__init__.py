"""What a failing job's output says: lines to events, and events to suspects, victims and a class."""
