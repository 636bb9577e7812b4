"""The Hedgerow control plane."""
