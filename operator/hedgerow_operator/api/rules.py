"""Every rule that a schema alone cannot say. Tests evaluate both forms of each over the same manifests."""

from __future__ import annotations

from hedgerow_operator.api.change_rules import CHANGE_RULES
from hedgerow_operator.api.slurm_rules import SLURM_RULES
from hedgerow_operator.api.spec_rules import NAME_RULES, SPEC_RULES
from hedgerow_operator.api.template_rules import TEMPLATE_RULES

RULES = (*NAME_RULES, *SPEC_RULES, *SLURM_RULES, *TEMPLATE_RULES)

__all__ = ["CHANGE_RULES", "RULES"]
