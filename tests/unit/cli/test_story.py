"""The words of the demo."""

from pathlib import Path

from hedgerow.logs import launcher_lines as lines
from hedgerow_operator.api.status import Incident
from hedgerow_operator.cli.views.story import Story
from hedgerow_operator.cli.views.story_text import verdict as story_verdict
from hedgerow_operator.core.plan import Event
from tests.unit.cli.builders import condition, job


def test_the_story_names_nobody_when_nobody_is_guilty() -> None:
    incident = Incident(kind="NoProgress", opened_at="", attempt=1, reason="NoProgress", action="attempt 2 starts")
    assert "Guilty: no single rank" in story_verdict(incident)


class Told:
    """A story of a job whose ranks print nothing, on a clock that stands."""

    def __init__(self, folder: Path) -> None:
        self.texts: list[str] = []
        self.story = Story(self.texts.append, lambda: 0.0, folder / "worker-0.log", folder / "job.yaml", folder)

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())


def test_paths_are_shown_as_the_script_writes_them(tmp_path: Path) -> None:
    told = Told(tmp_path)
    told.story.happened(job(), Event(reason="CheckpointChosen", message=f"resume from {tmp_path}/checkpoints/step-20"))
    assert told.text == "0.0 s resume from checkpoints/step-20"


def test_success_is_told_once_and_then_what_it_cost(tmp_path: Path) -> None:
    told, done = Told(tmp_path), job(conditions=(condition("Succeeded"),), step=60, restarts=1, goodput_percent=49)
    told.story.changed(done)
    told.story.happened(done, Event(reason="AllRanksFinished", message="all ranks 0 to 3 finished"))
    told.story.note("default/run succeeded: step 60 reached")
    told.story.close()
    assert told.text.startswith("0.0 s FINISHED: all ranks 0 to 3 finished with exit code 0, at step 60 restarts 1 ")
    assert "time that went into new steps (goodput) 49 %" in told.text
    assert "step 60 reached" not in told.text


def test_a_demo_that_does_not_succeed_says_how_it_ended(tmp_path: Path) -> None:
    told = Told(tmp_path)
    told.story.changed(job(step=12))
    told.story.note("default/run is stopped at step 12")
    told.story.close()
    assert told.text == "0.0 s default/run is stopped at step 12"


def test_what_ranks_print_while_they_are_stopped_is_no_part_of_the_story(tmp_path: Path) -> None:
    told = Told(tmp_path)
    said = [lines.STARTS % (1, ""), lines.STOPPED % (1, ": NoProgress"), lines.RANK_ENDED % (2, 143),
            lines.STARTS % (2, " from step-20")]
    started, stopped, ended, again = [lines.PREFIX + words for words in said]
    log = [started, "step 30: loss 0.3", stopped, "Traceback (most recent call last):", ended,
           "ConnectionResetError: peer", again, "step 40: loss 0.2"]
    (tmp_path / "worker-0.log").write_text("".join(f"{line}\n" for line in log))
    told.story.tick()
    assert told.text == "0.0 s step 30: loss 0.3 0.0 s step 40: loss 0.2"
