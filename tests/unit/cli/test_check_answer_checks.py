"""`hedgerow check` of an endpoint whose checks of answers make no sense."""

from pathlib import Path

from click.testing import CliRunner

from hedgerow_operator.cli.main import commands

_ENDPOINT = """apiVersion: hedgerow.dev/v1alpha1
kind: InferenceEndpoint
metadata: {name: chat}
spec:
  protocol: HTTP
  providers: [{name: sim, providerRef: {name: sim}}]
  validate:
  - {type: NonEmpty}
  - CHECK
---
apiVersion: hedgerow.dev/v1alpha1
kind: ServerlessProvider
metadata: {name: sim}
spec: {type: Simulated}
"""


def checked(folder: Path, check: str) -> tuple[int, str]:
    (folder / "chat.yaml").write_text(_ENDPOINT.replace("CHECK", check))
    done = CliRunner().invoke(commands, ["check", "-f", str(folder / "chat.yaml")])
    return done.exit_code, " ".join(done.output.split())


def test_a_schema_that_is_none_is_told_before_anything_is_served(tmp_path: Path) -> None:
    code, told = checked(tmp_path, "{type: JSONSchema, schema: {type: text}}")
    assert code != 0
    assert "spec.validate[1]: schema is no JSON Schema: 'text'" in told


def test_checks_that_make_sense_are_nothing_to_talk_of(tmp_path: Path) -> None:
    code, told = checked(tmp_path, "{type: WAV, at: output.audio}")
    assert code == 0
    assert "validate" not in told
