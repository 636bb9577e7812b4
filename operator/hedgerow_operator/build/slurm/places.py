"""Where the batch job of a placement finds what it needs."""

from collections.abc import Mapping

from msgspec import Struct


class Places(Struct, frozen=True, kw_only=True):
    """Paths as the nodes see them, all on a file system that they share.

    directory: of this placement; made by the batch script where it is missing. archive: the launcher. token_file: what
    it proves itself with. report_url, address_file: where it reports; a file that holds the address is read again at
    each try. runs: a file whose line N is the number of the attempt that the Nth run of the batch job begins with, for
    one that may be requeued; "": there is one run, or, with runs_in_comment, the comment of the batch job tells it from
    the second run on. output: of the batch script; "": where Slurm puts it. logs: whether the ranks' output
    goes to files in ``directory``, one a worker; else to that of the batch script. carried: files that the batch script
    writes first, for whoever submits it cannot.
    """

    directory: str
    archive: str
    token_file: str
    report_url: str = ""
    address_file: str = ""
    runs: str = ""
    runs_in_comment: bool = False
    output: str = ""
    logs: bool = False
    carried: Mapping[str, bytes] = {}
