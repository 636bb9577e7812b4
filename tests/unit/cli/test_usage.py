"""What is said to somebody who mistypes the command line."""

import subprocess
import sys

import pytest

from hedgerow_operator.cli.main import BAD_INPUT, main

MISTYPED = {
    "no such command": (["lokal"], "hedgerow: No such command 'lokal'. Did you mean 'local'? See hedgerow --help"),
    "no such command inside a group": (["replay", "x"], "hedgerow: No such command 'x'. See hedgerow replay --help"),
    "nothing to run": (
        ["local"],
        "hedgerow: write either -f FILE_OR_DIR with TrainingJobs, or a command: hedgerow local -- python train.py",
    ),
    "a manifest and a command": (["local", "-f", "job.yaml", "--", "python"], "hedgerow: write either -f FILE_OR_DIR"),
    "an option of a command beside a manifest": (
        ["local", "-f", "job.yaml", "--nproc", "2"],
        "hedgerow: --nproc belongs to a command after --; with -f write it into the manifest",
    ),
    "a webhook that leads nowhere": (
        ["local", "--notify", "hooks.slack.com/services/T1/B2/secret", "--", "true"],
        "hedgerow: --notify: this is no address that messages can be sent to",
    ),
    "a view of what is not shown": (
        ["local", "--detach", "-o", "json", "--", "true"],
        "hedgerow: --detach shows nothing here; leave -o out",
    ),
    "a shape of what is not sent": (
        ["local", "--notify-format", "slack", "--", "true"],
        "hedgerow: --notify-format needs an address to notify",
    ),
    "a name that is no name": (["local", "--name", "A_b", "--", "true"], "hedgerow: command line: metadata.name: "),
    "a folder without jobs": (
        ["ps", "--state-dir", "/nowhere/at/all"],
        "hedgerow: there is no state directory /nowhere/at/all here; go to the folder where hedgerow local was started",
    ),
    "a search for a job in a folder without": (["attach", "--state-dir", "/nowhere"], "hedgerow: there is no state"),
    "a stop in a folder without": (["stop", "--state-dir", "/nowhere"], "hedgerow: there is no state directory"),
}


@pytest.mark.parametrize("case", MISTYPED)
def test_one_sentence_and_exit_code_2_for(
    case: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, sentence = MISTYPED[case]
    monkeypatch.setattr(sys, "argv", ["hedgerow", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert ended.value.code == BAD_INPUT
    assert said.startswith(sentence)
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [["local", "-f", "nowhere.yaml"], ["ps", "--state-dir", "nowhere"], ["stop", "--state-dir", "nowhere"]]
)
def test_bad_input_is_told_before_the_server_is_loaded(arguments: list[str]) -> None:
    program = (
        "import sys; from hedgerow_operator.cli.main import main\ntry: main()\nfinally: print('aiohttp' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (BAD_INPUT, "False\n"), done.stderr
