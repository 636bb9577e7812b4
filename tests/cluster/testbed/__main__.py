"""`python -m tests.cluster.testbed {packages,build,run,shell}`: what `make` calls."""

import argparse
import sys

from tests.cluster.testbed import isolated, requirements, shell
from tests.cluster.testbed.errors import ClusterError
from tests.slurm.testbed import requirements as slurm_requirements


def main(arguments: list[str]) -> int:
    """Do what the words say; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.testbed", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("packages", help="print the Debian packages that the cluster needs, and a Slurm beside it")
    verbs.add_parser("build", help="build everything that needs the network")
    verbs.add_parser("shell", help="open a shell in a cluster")
    verbs.add_parser("inside-shell")
    inside = verbs.add_parser("run", help="run a command where a cluster can be started")
    inside.add_argument("--no-operator", action="store_true", help="without Hedgerow's own images")
    inside.add_argument("command", nargs="+")
    options = parser.parse_args(arguments)
    try:
        return _do(options)
    except ClusterError as error:
        print(error, file=sys.stderr)
        return 2


def _do(options: argparse.Namespace) -> int:
    if options.verb == "packages":
        print(" ".join(sorted({*requirements.APT_PACKAGES, *slurm_requirements.APT_PACKAGES})))
    elif options.verb == "build":
        isolated.prepare()
    elif options.verb == "run":
        return isolated.run(options.command, operator=not options.no_operator)
    elif options.verb == "shell":
        return isolated.run([sys.executable, "-m", "tests.cluster.testbed", "inside-shell"])
    else:
        return shell.main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
