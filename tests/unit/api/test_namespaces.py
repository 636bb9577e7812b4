"""A namespace is a folder's name too, whatever the kind."""

import pytest

from hedgerow_operator.api.validate import namespace_problems


@pytest.mark.parametrize("namespace", ["../../evil", "A/B", "", ".", "a" * 64])
def test_what_is_no_namespace_is_refused(namespace: str) -> None:
    assert [problem.at for problem in namespace_problems(namespace)] == ["metadata.namespace"]
