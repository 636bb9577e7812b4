"""Where everything lies below the state directory."""

from pathlib import Path

from hedgerow_operator.api.labels import TRAINING_JOB_KIND
from hedgerow_operator.reconcile.ports import JobKey

# Files beside the folders of the namespaces.
_LOCK, _ADDRESS, _GATEWAY_ADDRESS = "lock", "address", "gateway-address"
RESERVED_NAMES = (_LOCK, _ADDRESS, _GATEWAY_ADDRESS)


class StatePaths:
    """Names of all files of one state directory."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self.lock = self.root / _LOCK
        self.address = self.root / _ADDRESS
        self.gateway_address = self.root / _GATEWAY_ADDRESS
        # No name of a namespace has a dot.
        self.session = self.root / "session.json"
        self.live = self.root / "live.json"
        self.journal = self.root / "gateway.sqlite"
        self.news = self.root / "hedgerow.log"
        # What node agents prove themselves with.
        self.agents_token = self.root / "agents.token"

    def object(self, key: JobKey) -> Path:
        """The whole job object, as YAML."""
        return self.root / key.namespace / TRAINING_JOB_KIND / f"{key.name}.yaml"

    def other(self, kind: str, namespace: str, name: str) -> Path:
        """The whole object of another kind, as YAML."""
        return self.root / namespace / kind / f"{name}.yaml"

    def objects(self) -> list[Path]:
        """The objects that are there, sorted by name."""
        return sorted(self.root.glob(f"*/{TRAINING_JOB_KIND}/*.yaml"))

    def job(self, key: JobKey) -> Path:
        """Directory of a job's token, records and logs."""
        return self.root / key.namespace / key.name

    def token(self, key: JobKey) -> Path:
        """What the job's launchers prove themselves with."""
        return self.job(key) / "token"

    def stop_request(self, key: JobKey) -> Path:
        """Made by whoever wants the controller to stop the job."""
        return self.job(key) / "stop"

    def placement(self, key: JobKey, attempt: int) -> Path:
        """Directory of one placement."""
        return self.job(key) / f"placement-{attempt}"

    def record(self, key: JobKey, attempt: int) -> Path:
        """Which processes the placement was started as."""
        return self.placement(key, attempt) / "placement.json"

    def records(self, key: JobKey) -> list[Path]:
        """The records that are there."""
        return sorted(self.job(key).glob("placement-*/placement.json"))

    def log(self, key: JobKey, attempt: int, worker: int) -> Path:
        """What the ranks of one worker print."""
        return self.placement(key, attempt) / f"worker-{worker}.log"

    def exit_code(self, key: JobKey, attempt: int, worker: int) -> Path:
        """Exit code of a launcher that has ended."""
        return self.placement(key, attempt) / f"worker-{worker}.exit"

    def launcher(self, digest: str) -> Path:
        """The launcher as one archive; named by its content, because running launchers go on reading theirs."""
        return self.root / f"hedgerow-{digest}.pyz"
