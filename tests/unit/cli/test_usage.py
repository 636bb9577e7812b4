"""What is said to somebody who mistypes the command line."""

import sys

import pytest

from hedgerow_operator.cli.main import BAD_INPUT, main

MISTYPED = {
    "no such command": (["lokal"], "hedgerow: No such command 'lokal'. Did you mean 'local'? See hedgerow --help"),
    "no such command inside a group": (["replay", "x"], "hedgerow: No such command 'x'. See hedgerow replay --help"),
    "an option that is missing": (["local"], "hedgerow: Missing option '-f' / '--filename'. See hedgerow local --help"),
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
