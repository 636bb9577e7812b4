"""The data path of inference endpoints: requests in, hedged attempts out, the first valid answer back."""
