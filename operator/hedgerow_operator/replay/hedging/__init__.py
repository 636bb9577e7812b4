"""`hedgerow replay hedging`: recorded rounds of all providers, through the policies of the gateway."""
