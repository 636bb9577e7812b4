"""A real Kubernetes cluster for the tests: real control plane, real nodes, all in namespaces of its own.

Run anything inside with `python -m tests.cluster.testbed run -- COMMAND`; there, `Cluster.start()` gives the cluster.
"""
