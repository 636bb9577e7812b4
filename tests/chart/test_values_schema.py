"""Wrong values are refused before anything is installed, by the name of what is wrong."""

from __future__ import annotations

import pytest

from tests.chart.rendering import HelmError, render

CASES = {
    "a misspelt value": ("replicsa=2", "replicsa"),
    "a misspelt value inside another": ("image.repo=x", "repo"),
    "a number of replicas that is none": ("replicas=two", "replicas"),
    "a negative number of replicas": ("replicas=-1", "replicas"),
    "an unknown pull policy": ("image.pullPolicy=Sometimes", "pullPolicy"),
    "an unknown log level": ("logLevel=LOUD", "logLevel"),
    "a port that is none": ("service.port=70000", "port"),
    "a report URL with a path": ("reportURL=http://here/path", "reportURL"),
    "a report URL without a scheme": ("reportURL=hedgerow:8080", "reportURL"),
    "one namespace where a list belongs": ("watchNamespaces=research", "watchNamespaces"),
    "a namespace that cannot exist": ("watchNamespaces={Research}", "watchNamespaces"),
    "a quantity that is none": ("inject.resources.memory=some", "memory"),
    "a quantity of storage that is none": ("inject.resources.ephemeralStorage=some", "ephemeralStorage"),
    "a digest that is none": ("image.digest=latest", "digest"),
    "devices of nowhere": ("agent.devices=rocm", "devices"),
    "a kernel log of nowhere": ("agent.kernelLog=/var/log/messages", "kernelLog"),
    "a checkpoint path that is none": ("agent.checkpointPaths={data}", "checkpointPaths"),
    "a silence shorter than two reports": ("agent.silentSeconds=5", "silentSeconds"),
    "a source that nobody knows": ("agent.source=NVML", "source"),
    "a misspelt value of exporters": ("agent.dcgmExporter.namespaces=x", "namespaces"),
    "exporters asked all the time": ("agent.dcgmExporter.scrapeSeconds=0", "scrapeSeconds"),
    "alert rules of nowhere": ("alerts.kind=Rules", "kind"),
    "an action that nobody knows": ("nodeAction=Drain", "nodeAction"),
    "a share of the fleet that is none": ("nodeActionMaxPercent=0", "nodeActionMaxPercent"),
    "a taint without an agent to tell of faults": ("nodeAction=Taint", "agent.enabled"),
    "all agents replaced at once": ("agent.maxUnavailable=100%", "maxUnavailable"),
    "a switch that is neither on nor off": ("crds.enabled=perhaps", "enabled"),
}


@pytest.mark.parametrize("case", CASES)
def test_wrong_values_are_refused(case: str) -> None:
    setting, named = CASES[case]
    with pytest.raises(HelmError, match=named):
        render(setting)
