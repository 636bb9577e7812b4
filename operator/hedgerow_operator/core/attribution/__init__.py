"""Who is guilty and of what: flight-recorder dumps and the words of a failing job, read without guessing."""
