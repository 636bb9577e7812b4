"""What was prepared outside for the cluster inside: a folder of the run, programs and images."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.testbed.errors import ClusterError

VARIABLE = "HEDGEROW_TESTBED"
FILE = "prepared.json"


@dataclass(frozen=True)
class Prepared:
    """One run: its folder, the built programs, and the image store that the nodes share."""

    folder: Path
    programs: Path
    store: Path

    @property
    def cgroup(self) -> str:
        """The run's own group below every controller."""
        return cgroup_of(self.folder)

    def save(self) -> None:
        """Write it into the run's folder."""
        (self.folder / FILE).write_text(json.dumps({"programs": str(self.programs), "store": str(self.store)}))

    @staticmethod
    def load() -> "Prepared":
        """What the run that we are in has prepared; ClusterError when we are in none."""
        folder = os.environ.get(VARIABLE)
        if not folder:
            raise ClusterError(
                "The test cluster needs namespaces of its own: run `make test T=tests/cluster`, or"
                " `python -m tests.cluster.testbed run -- COMMAND`."
            )
        content = json.loads((Path(folder) / FILE).read_text())
        return Prepared(Path(folder), Path(content["programs"]), Path(content["store"]))


def cgroup_of(folder: Path) -> str:
    """The cgroup of the run in `folder`."""
    return f"/hedgerow-{folder.name}"
