"""Which version of the REST interface is spoken with which slurmrestd."""

from typing import Any

import pytest

from hedgerow_operator.adapters.slurm.rest.dialect import Dialect, choose
from hedgerow_operator.reconcile.ports import Unreachable


def document(*numbers: int, accounting: bool = False, node_post: bool = False) -> dict[str, Any]:
    paths: dict[str, Any] = {"/openapi": {}}
    for number in numbers:
        paths[f"/slurm/v0.0.{number}/jobs"] = {"get": {}}
        paths[f"/slurm/v0.0.{number}/node/{{node_name}}"] = {"get": {}} | ({"post": {}} if node_post else {})
        if accounting:
            paths[f"/slurmdb/v0.0.{number}/job/{{job_id}}"] = {"get": {}}
    return {"paths": paths}


SPOKEN = {
    "the only one": (document(38), Dialect(number=38)),
    "the newest of several": (document(38, 40, 41), Dialect(number=41)),
    "the newest that is known": (document(41, 999), Dialect(number=41)),
    "with a database beside it": (document(38, accounting=True), Dialect(number=38, accounting=True)),
    "one that can drain": (document(40, node_post=True), Dialect(number=40, updates_nodes=True)),
}


@pytest.mark.parametrize(("offered", "spoken"), SPOKEN.values(), ids=SPOKEN.keys())
def test_it_is(offered: dict[str, Any], spoken: Dialect) -> None:
    assert choose(offered, "http://h") == spoken


@pytest.mark.parametrize("offered", [document(35), document(999), {}, {"paths": []}], ids=str)
def test_where_none_is_known_both_sides_are_named(offered: dict[str, Any]) -> None:
    with pytest.raises(Unreachable, match=r"http://h offers .*; start slurmrestd with one of v0\.0\.36 to v0\.0\.44"):
        choose(offered, "http://h")
