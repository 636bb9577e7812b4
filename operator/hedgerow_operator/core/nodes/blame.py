"""A GPU that failed under a rank: what it says of a standstill, and of a rank that ended."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from hedgerow.wire_agent import AgentReport, Finding
from hedgerow_operator.api import reasons
from hedgerow_operator.core import phrases
from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.gang import Gang, RankView
from hedgerow_operator.core.nodes.findings import about, fatal, worst
from hedgerow_operator.core.nodes.places import GPUPlace, place_of
from hedgerow_operator.core.trouble import Trouble
from hedgerow_operator.core.verdict import Kind, Verdict


class Blame(Struct, frozen=True, kw_only=True):
    """A fault of a node, and the ranks of the job that it hits. gpu: None where it is about the node as a whole.

    sure: they are known to be on this GPU; else they are on its node, and which of them uses it is not known.
    word: what is said of it.
    """

    node: str
    finding: Finding
    ranks: tuple[RankView, ...]
    gpu: GPUPlace | None = None
    sure: bool = True
    word: str = "failed"

    def __str__(self) -> str:
        where = str(self.gpu) if self.gpu else f"node {self.node}"
        who = phrases.ranks([rank.rank for rank in self.ranks])
        used = f"which {who} use" + ("s" if len(self.ranks) == 1 else "")
        whom = used if self.sure else f"where {who} run" + ("s" if len(self.ranks) == 1 else "")
        return f"{where}, {whom}, {self.word}: {self.finding.message}"


def blames(gang: Gang, sick: Mapping[str, AgentReport], places: Mapping[int, GPUPlace]) -> tuple[Blame, ...]:
    """What failed under the gang. sick: reports of nodes with a fatal finding. A GPU that others use is none of it."""
    if not sick:
        return ()
    by_node: dict[str, list[RankView]] = {}
    for rank in gang.ranks:
        if rank.node in sick:
            by_node.setdefault(rank.node, []).append(rank)
    return tuple(found for node, ranks in by_node.items() for found in _on_node(sick[node], node, ranks, places))


def _on_node(
    report: AgentReport, node: str, ranks: Sequence[RankView], places: Mapping[int, GPUPlace]
) -> Iterator[Blame]:
    findings = fatal(report)
    gpus = {gpu.index: gpu for gpu in report.gpus}
    for index in sorted({entry.gpu for entry in findings if entry.gpu is not None}):
        finding = worst(about(findings, index))
        known = {rank.rank: place for rank in ranks if (place := places.get(rank.rank)) and place.node == node}
        users = tuple(rank for rank in ranks if rank.rank in known and known[rank.rank].index == index)
        strangers = tuple(rank for rank in ranks if rank.rank not in known)
        place = place_of(node, gpus[index]) if index in gpus else GPUPlace(node=node, index=index)
        if finding is not None and (users or strangers):
            yield Blame(node=node, finding=finding, ranks=users or strangers, gpu=place, sure=bool(users))
    whole = worst(about(findings, None))
    if whole is not None:
        yield Blame(node=node, finding=whole, ranks=tuple(ranks), sure=False)


def standing(found: Iterable[Blame], limits: Mapping[str, float], deadlines: Mapping[str, float]) -> Blame | None:
    """The fault under a rank that makes no progress either: two evidences, of which one is decisive. limits: seconds
    by phase from which a standstill is watched; where lines come in bursts the deadline has to pass."""
    return next((one for one in found if any(_stands(rank, limits, deadlines) for rank in one.ranks)), None)


def _stands(rank: RankView, limits: Mapping[str, float], deadlines: Mapping[str, float]) -> bool:
    told = rank.progress
    limit = (deadlines if told.bursty else limits).get(told.phase)
    return not rank.exited and told.progress_age is not None and limit is not None and told.progress_age > limit


def verdict_of(blame: Blame) -> Verdict:
    """What it says of a standstill."""
    still = max(blame.ranks, key=lambda rank: rank.progress.progress_age or 0.0).progress
    step = f" at step {still.step}" if still.step is not None else ""
    stands = f"no progress for {phrases.seconds(still.progress_age or 0.0)} in phase {still.phase}{step}"
    return Verdict(
        kind=Kind.STALLED,
        reason=reasons.HARDWARE_FAULT,
        message=f"{blame}; {stands}",
        ranks=tuple(rank.rank for rank in blame.ranks),
        evidence=(str(blame), stands),
        decisive=True,
        fault_class=FaultClass.HARDWARE,
        phase=still.phase,
        still_seconds=still.progress_age or 0.0,
    )


def trouble_of(blame: Blame, verdict: Verdict) -> Trouble:
    """What it is to the recovery ladder. The node is avoided as long as its quarantine lasts, by every job."""
    return Trouble(
        reason=verdict.reason,
        message=verdict.message,
        ranks=verdict.ranks,
        node=blame.node,
        gpu=blame.gpu,
        fault_class=verdict.fault_class,
    )


def behind(found: Iterable[Blame], trouble: Trouble) -> Trouble:
    """The trouble as it is where a GPU failed under the rank that ended first: no fault of the program."""
    if trouble.reason != reasons.RANK_EXITED or not trouble.ranks:
        return trouble
    guilty = frozenset(trouble.ranks)
    for one in found:
        # An exception of the program may be its own, unless its rank is known to use what failed.
        if guilty & {rank.rank for rank in one.ranks} and (one.sure or trouble.fault is None):
            return msgspec.structs.replace(
                trouble,
                message=f"{trouble.message}; {one}",
                node=one.node,
                gpu=one.gpu,
                in_place=False,
                fault=None,
                hopeless=False,
                fault_class=FaultClass.HARDWARE,
            )
    return trouble
