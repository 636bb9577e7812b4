"""The quickstart's endpoint is the one that its tool writes, and keeps every rule."""

import importlib.util
from pathlib import Path

from hedgerow_operator.api.manifests import load_manifests
from hedgerow_operator.cli.serving.comparison import unhedged
from hedgerow_operator.cli.serving.comparison_text import Arm, table

ROOT = Path(__file__).parents[3]
FILE = ROOT / "examples" / "quickstart" / "inferenceendpoint.yaml"


def test_the_file_is_what_the_tool_writes() -> None:
    spec = importlib.util.spec_from_file_location("quickstart_courses", ROOT / "tools" / "quickstart_courses.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert FILE.read_text(encoding="utf-8") == tool.text()


def test_it_keeps_the_rules_also_without_hedging() -> None:
    found = load_manifests(str(FILE))
    assert found.errors == ()
    (endpoint,) = found.endpoints
    assert len(found.providers) == len(endpoint.endpoint.spec.providers) == 3
    other = unhedged(endpoint.endpoint)
    assert (other.metadata.name, other.spec.hedge.policy) == ("speech-unhedged", "None")


def test_the_table_has_a_row_for_each_way() -> None:
    rows = table((Arm("slow", [1.0, 2.0, 61.0], 3), Arm("quick", [1.0, 1.0, 1.0], 4)), 60.0).split("\n")
    assert rows[2].split() == ["slow", "2.0", "s", "61.0", "s", "61.0", "s", "1", "of", "3", "3"]
    assert rows[3].split()[-4:] == ["0", "of", "3", "4"]
