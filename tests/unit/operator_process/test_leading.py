"""A process that does not lead yet has heard nobody, and one that does not know its jobs yet answers nobody."""

from __future__ import annotations

from hedgerow_operator.leading import Leading


class Lease:
    """Ours or not, as the test says."""

    ours = False

    def holds(self) -> bool:
        return self.ours


def test_a_standby_has_been_listening_for_no_time() -> None:
    assert Leading(Lease()).seconds() == 0.0


def test_a_leader_has_been_listening_since_it_leads() -> None:
    leading = Leading(Lease())
    leading.begin()
    first = leading.seconds()
    assert 0.0 <= first <= leading.seconds() < 60.0


def test_reports_are_answered_only_by_a_leader_that_has_looked_at_every_job() -> None:
    lease = Lease()
    leading = Leading(lease)
    answers = []
    for lease.ours, leading.acquainted in ((False, False), (True, False), (True, True), (False, True)):
        answers.append(leading.holds())
    assert answers == [False, False, True, False]
