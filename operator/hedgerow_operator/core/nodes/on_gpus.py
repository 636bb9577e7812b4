"""The GPUs of one job's ranks from report to report: where each rank is, and whose GPU has gone quiet."""

from collections.abc import Iterable, Mapping

from hedgerow.wire import Report
from hedgerow.wire_agent import AgentReport, GpuReport
from hedgerow_operator.core.nodes.gpu_pace import GPUPace, link_rate
from hedgerow_operator.core.nodes.places import GPUPlace, places_in

# A rank that progressed a moment ago needs no evidence; and what its GPU showed was no standstill yet.
STILL_SECONDS = 6.0
# What an agent saw longer ago than this may be of before the standstill.
FRESH_SECONDS = 5.0


class RanksOnGPUs:
    """places: by global number, where each was last seen: a GPU that is lost does not tell any more who used it. A rank
    that went elsewhere since has a place on another node than its own. quiet: as in Seen."""

    def __init__(self) -> None:
        self.places: dict[int, GPUPlace] = {}
        self.quiet: dict[int, str] = {}
        self._read: dict[str, AgentReport] = {}
        self._pace = GPUPace()

    def read(self, job: str, agents: Mapping[str, AgentReport], launchers: Iterable[Report]) -> None:
        """Take in what is new. job: its uid. agents: newest report by node; launchers: newest reports of all."""
        by_node: dict[str, list[Report]] = {}
        for launcher in launchers:
            by_node.setdefault(launcher.node, []).append(launcher)
        for node in self._read.keys() - agents.keys():
            self._forget_quiet(by_node.get(node, []))
        for node, report in agents.items():
            if self._read.get(node) is not report:
                here = by_node.get(node, [])
                self.places.update(places_in(report, job, here))
                self._take(report, here, self._read.get(node))
        self._read = dict(agents)

    def _take(self, agent: AgentReport, launchers: list[Report], before: AgentReport | None) -> None:
        self._forget_quiet(launchers)
        known = before is not None and before.agent == agent.agent
        earlier = {gpu.index: gpu for gpu in before.gpus} if before is not None and known else {}
        gpus = {gpu.index: gpu for gpu in agent.gpus if gpu.age <= FRESH_SECONDS}
        for rank in (rank for report in launchers for rank in report.ranks):
            place = self.places.get(rank.rank)
            if place is None or place.node != agent.node or place.index not in gpus:
                continue
            gpu, old = gpus[place.index], earlier.get(place.index)
            apart = 0.0 if before is None or old is None else _sampled(agent, gpu) - _sampled(before, old)
            self._pace.take(rank.rank, rank.step, place, {**gpu.values, **link_rate(old, gpu, apart)})
            if (rank.progress_age or 0.0) >= STILL_SECONDS and (words := self._pace.far_below(rank.rank)):
                self.quiet[rank.rank] = words

    def _forget_quiet(self, launchers: list[Report]) -> None:
        for report in launchers:
            for rank in report.ranks:
                self.quiet.pop(rank.rank, None)


def _sampled(agent: AgentReport, gpu: GpuReport) -> float:
    """When the agent looked at this GPU, by the agent's own clock."""
    return agent.sent_monotonic - gpu.age
