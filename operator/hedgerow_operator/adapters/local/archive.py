"""The launcher as one archive in the state directory."""

import hashlib
import tempfile
from pathlib import Path

from hedgerow import pack
from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.files import write_whole
from hedgerow_operator.adapters.local.paths import StatePaths


def ensure_archive(paths: StatePaths) -> Path:
    """Path of the archive of the installed launcher; made when it is not there yet. Raises StateError."""
    try:
        return _packed(paths)
    except OSError as error:
        raise StateError(
            f"the launcher cannot be written ({error}); make room, or name another folder in TMPDIR or with --state-dir"
        ) from None


def _packed(paths: StatePaths) -> Path:
    with tempfile.TemporaryDirectory(prefix="hedgerow-") as folder:
        packed = Path(folder) / "hedgerow.pyz"
        pack.write(str(packed), compiled=True)
        data = packed.read_bytes()
    path = paths.launcher(hashlib.sha256(data).hexdigest()[:12])
    if not path.exists():
        write_whole(path, data)
    return path
