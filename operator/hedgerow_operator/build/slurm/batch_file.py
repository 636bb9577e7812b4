"""A submission as one file that sbatch takes: what people are shown of it."""

from hedgerow_operator.core.slurm.seen import Submission


def batch_file(submission: Submission) -> str:
    """Its options as ``#SBATCH`` lines below the first line of its script."""
    first, _, rest = submission.script.partition("\n")
    options = {"job-name": submission.name, "comment": submission.comment, "chdir": submission.directory,
               **submission.options}  # fmt: skip
    lines = [f"#SBATCH --{name}" + (f"={_quoted(value)}" if value else "") for name, value in options.items()]
    return "\n".join([first, *lines, rest])


def _quoted(value: str) -> str:
    """sbatch ends a word at a blank and a line at a #, and takes \\ for the beginning of a character as it is."""
    if not any(letter in value for letter in " \t#\"'\\"):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
