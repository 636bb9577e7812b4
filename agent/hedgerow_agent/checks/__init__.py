"""What is looked at on each GPU, one folder a check. Each asks the device and, apart from that, judges what it saw.

A check belongs to one GPU and keeps, in fields of fixed size, what it has to remember of earlier looks.
"""

from hedgerow_agent.checks.base import Check
from hedgerow_agent.checks.clocks.check import Clocks
from hedgerow_agent.checks.ecc.check import Ecc
from hedgerow_agent.checks.mig.check import Mig
from hedgerow_agent.checks.nvlink.check import Nvlink
from hedgerow_agent.checks.pcie.check import Pcie
from hedgerow_agent.checks.power.check import Power
from hedgerow_agent.checks.processes.check import Processes
from hedgerow_agent.checks.recovery.check import RecoveryAction
from hedgerow_agent.checks.remap.check import Remap
from hedgerow_agent.checks.temperature.check import Temperature
from hedgerow_agent.checks.utilisation.check import Utilisation


def gpu_checks() -> list[Check]:
    """Every check, new, for one GPU."""
    return [
        Utilisation(), Power(), Temperature(), Clocks(), Ecc(), Remap(), Nvlink(), Pcie(), Processes(), Mig(),
        RecoveryAction(),
    ]  # fmt: skip
