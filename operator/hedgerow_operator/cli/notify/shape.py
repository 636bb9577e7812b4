"""The bodies of messages: generic JSON, or what Slack and its likes take. Pure."""

from typing import Any
from urllib.parse import urlsplit

from hedgerow_operator.api.times import format_time
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli.notify.news import (
    DEGRADATION_CLOSED,
    DEGRADATION_OPENED,
    GAVE_UP,
    INCIDENT_CLOSED,
    INCIDENT_OPENED,
    RESTARTED,
    SUCCEEDED_NEWS,
    News,
)
from hedgerow_operator.cli.outcome import name_of

JSON, SLACK = "json", "slack"
FORMATS = (JSON, SLACK)
VERSION = 1
_SLACK_HOSTS = ("hooks.slack.com", "hooks.slack-gov.com")
_HEADS = {
    INCIDENT_OPENED: "is in trouble",
    INCIDENT_CLOSED: "is out of trouble",
    DEGRADATION_OPENED: "goes on, but not as it should",
    DEGRADATION_CLOSED: "goes on as it should again",
    RESTARTED: "is restarted",
    GAVE_UP: "failed and is given up",
    SUCCEEDED_NEWS: "succeeded",
}
# https://api.slack.com/reference/surfaces/formatting#escaping
_SLACK_ESCAPES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))


def format_of(url: str) -> str:
    """The shape that the host of this URL takes."""
    return SLACK if urlsplit(url).hostname in _SLACK_HOSTS else JSON


def sentence(job: TrainingJob, said: News, host: str) -> str:
    """One line for a person who sees nothing else."""
    reason = f" ({said.reason})" if said.reason else ""
    told = f": {said.sentence}" if said.sentence else ""
    return f"{name_of(job)} on {host} {_HEADS[said.kind]}{reason}{told}"


def body(shape: str, job: TrainingJob, said: News, host: str, now: float) -> dict[str, Any]:
    """The JSON object to send. host: the name of this machine; now: seconds since the epoch."""
    text = sentence(job, said, host)
    if shape == SLACK:
        for plain, escaped in _SLACK_ESCAPES:
            text = text.replace(plain, escaped)
        return {"text": text}
    status, checkpoint = job.status, job.status.checkpoint
    return {
        "version": VERSION,
        "event": said.kind,
        "time": format_time(now),
        "job": {"namespace": job.metadata.namespace, "name": job.metadata.name, "uid": job.metadata.uid},
        "host": host,
        "attempt": status.attempt,
        "restarts": status.restarts,
        "step": status.step,
        "checkpoint": {"step": checkpoint.step, "path": checkpoint.path} if checkpoint else None,
        "reason": said.reason,
        "message": said.sentence,
        "ranks": list(said.ranks),
        "evidence": list(said.evidence),
        "text": text,
    }
