"""What is right to find in each labelled log, table of step times, gauge file and set of dumps."""

from collections.abc import Callable
from typing import Any

Found = dict[str, Any]
Check = Callable[[Found, dict[str, Any]], str]

# A person is to be told of a stall in which steps of 24 s stop within "a few tens of seconds".
SOON_MILLIS = 90_000
# Where worker_step_times/job_4 becomes slow, and how many samples later it must have been named.
STRAGGLERS_FROM, STRAGGLERS_WITHIN = 18_600, 400
FEW_FALSE = 2

HEALTHY = (
    "v41_dell_32gpu_llama2_run2_healthy.txt",
    "v41_dell_8gpu_sd_run8_healthy.txt",
    "v40_lenovo_8gpu_resnet_run2_healthy.txt",
)


def nothing(found: Found, truth: dict[str, Any]) -> str:
    """No incident at all."""
    return "" if not found["incidents"] else f"{len(found['incidents'])} incidents"


def silent(found: Found, truth: dict[str, Any]) -> str:
    """Neither incident nor alarm."""
    return nothing(found, truth) or ("" if not found["alarms"] else f"{len(found['alarms'])} alarms")


def warned(found: Found, truth: dict[str, Any]) -> str:
    """Exactly one alert, which closed by itself."""
    return at_most_warned(found, truth) or ("" if found["incidents"] else "nobody is told")


def at_most_warned(found: Found, truth: dict[str, Any]) -> str:
    """No more than one alert, which closed by itself."""
    if len(found["incidents"]) > 1:
        return f"{len(found['incidents'])} incidents"
    return not_restarted(found, truth)


def not_restarted(found: Found, truth: dict[str, Any]) -> str:
    """Alerts only, all of them closed."""
    for incident in found["incidents"]:
        if incident["action"] != "Alert" or incident["closedAtMillis"] is None:
            return f"{incident['kind']} with action {incident['action']}"
    return ""


def told_while_it_lasts(found: Found, truth: dict[str, Any]) -> str:
    """One alert, opened between the last progress and the recovery."""
    wrong = warned(found, truth)
    opened = found["incidents"][0]["openedAtMillis"] if found["incidents"] else 0
    inside = truth["last_progress_ms"] < opened < truth["recovered_ms"]
    return wrong or ("" if inside else "told at another time")


def two_stalls(found: Found, truth: dict[str, Any]) -> str:
    """Both are told of, the first one soon."""
    wrong = not_restarted(found, truth)
    if wrong or not found["incidents"]:
        return wrong or "nobody is told"
    first = found["incidents"][0]
    late = first["openedAtMillis"] - first["lastProgressMillis"]
    return "" if late <= SOON_MILLIS else f"told after {late / 1000:.0f} s"


def cancelled(found: Found, truth: dict[str, Any]) -> str:
    """Ended from outside, nobody blamed."""
    return nothing(found, truth) or ("" if found["outcome"] == "Cancelled" else str(found["outcome"]))


def program_error(found: Found, truth: dict[str, Any]) -> str:
    """Given up as the program's own fault, without blame of a rank."""
    said = [(entry["kind"], entry["class"], entry["action"], entry["ranks"]) for entry in found["incidents"]]
    return "" if said == [("Failure", "Application", "GiveUp", [])] else str(said)


def finished_by_itself(found: Found, truth: dict[str, Any]) -> str:
    """Success below the target."""
    ended = (found["outcome"], found["reason"])
    return nothing(found, truth) or ("" if ended == ("Succeeded", "TargetNotReached") else str(ended))


def device_crash(found: Found, truth: dict[str, Any]) -> str:
    """One process's device is suspected, a restart is right. The log tells its rank within an unknown node only."""
    said = [(entry["kind"], entry["class"], entry["action"], entry["ranks"], "[default3]" in entry["message"])
            for entry in found["incidents"]]
    return "" if said == [("Failure", "Hardware", "Restart", [], True)] else str(said)


def stragglers(found: Found, truth: dict[str, Any]) -> str:
    """Both workers named near where they became slow, with few incidents before."""
    named = {
        worker for incident in found["incidents"] for worker in incident["workers"]
        if STRAGGLERS_FROM <= incident["openedAtSample"] <= STRAGGLERS_FROM + STRAGGLERS_WITHIN
    }
    early = [incident for incident in found["incidents"] if incident["openedAtSample"] < STRAGGLERS_FROM]
    wanted = {int(worker) for worker in truth["workers"]}
    return "" if named == wanted and len(early) <= FEW_FALSE else f"named {sorted(named)}, {len(early)} false before"


def hanging(job_wide: bool) -> Check:
    """The gauge of a hang, on some ranks or on all."""

    def check(found: Found, truth: dict[str, Any]) -> str:
        stuck = [event for event in found["events"] if event["kind"] == "WatchdogStuck"]
        said = {event["details"]["jobWide"] for event in stuck}
        ranks = sorted(event["rank"] for event in stuck)
        wanted = list(range(8)) if truth["hang"] == "all" else truth["hang"]
        return "" if said == {job_wide} and ranks == wanted else f"ranks {ranks}, job-wide {said}"

    return check


def dumps(found: Found, truth: dict[str, Any]) -> str:
    """Guilty: what the reference found, and nobody beyond those that were made to hang; all others are victims."""
    guilty, injected = set(found["guilty"]), set(truth["injected_ranks"])
    others = set(range(16)) - guilty
    right = set(truth["nvidia_reference_analyser"]) <= guilty <= injected and set(found["victims"]) == others
    return "" if right else f"guilty {found['guilty']}, victims {found['victims']}"


LOGS: dict[str, Check] = {
    "L03": told_while_it_lasts, "L04": nothing, "L05": at_most_warned, "L06": warned, "L09": two_stalls,
    "L10": not_restarted, "L12": cancelled, "L16": program_error, "L18": finished_by_itself,
    "L19": finished_by_itself, "L21": at_most_warned, "L23": nothing, "L26": silent, "B03": nothing,
    "B04": device_crash, "D01": nothing,
}
WORKERS: dict[str, Check] = {"P02": nothing, "P04": stragglers}
GAUGES: dict[str, Check] = {"D02": hanging(False), "D03": hanging(True)}
