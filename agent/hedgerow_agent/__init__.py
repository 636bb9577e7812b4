"""The node agent: what a node's GPUs, kernel and surroundings say, told to the operator. Standard library and NVML."""
