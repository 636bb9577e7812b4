"""One job object as a YAML file."""

from pathlib import Path

from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.files import read_text, write_whole
from hedgerow_operator.api.times import parse_optional_time
from hedgerow_operator.api.training_job import TrainingJob, training_job, training_job_fields
from hedgerow_operator.api.yaml_text import YAMLTextError, read_documents
from hedgerow_operator.api.yaml_writing import yaml_text


def read_job(path: Path) -> TrainingJob | None:
    """The job in a state file, None when there is no file. Raises StateError for one that hedgerow did not write."""
    try:
        text = read_text(path)
    except UnicodeDecodeError as error:
        raise _corrupt(path, f"byte {error.start} is not UTF-8") from None
    except OSError as error:
        raise StateError(f"{path} cannot be read: {error.strerror}; give another --state-dir") from None
    if text is None:
        return None
    try:
        documents = list(read_documents(text))
        if len(documents) != 1:
            raise ValueError(f"it holds {len(documents)} objects instead of one")
        job = training_job(documents[0].fields)
        parse_optional_time(job.metadata.creation_timestamp)
        return job
    except YAMLTextError as error:
        raise _corrupt(path, f"line {error.line}: {error}") from None
    except ValueError as error:
        raise _corrupt(path, str(error)) from None


def write_job(path: Path, job: TrainingJob) -> None:
    """Store the whole object."""
    write_whole(path, yaml_text(training_job_fields(job)).encode())


def _corrupt(path: Path, why: str) -> StateError:
    return StateError(
        f"{path} is damaged ({why}); it was left as it is: put it right, or, to begin the job anew, "
        "stop its ranks first and then delete the file"
    )
