"""The gateway's data path: races, streams, jobs, what clients and providers do wrong."""
