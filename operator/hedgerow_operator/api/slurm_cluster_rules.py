"""The rules about ``spec`` of a SlurmCluster."""

from __future__ import annotations

import re

from hedgerow_operator.api.rule import Rule
from hedgerow_operator.api.slurm_cluster import REST, SlurmClusterSpec

_URL = r"^(https?://[^@/\s?#]+/?|unix:/[^\s]+)$"
_REPORT_URL = r"^https?://[^@/\s?#]+/?$"
_NETWORK = "http"


def _rest_has_a_url(spec: SlurmClusterSpec) -> bool:
    return spec.driver != REST or spec.url != ""


def _only_rest_has_one(spec: SlurmClusterSpec) -> bool:
    return spec.driver == REST or (spec.url == "" and spec.token_secret_ref is None)


def _url_is_one(spec: SlurmClusterSpec) -> bool:
    return spec.url == "" or re.fullmatch(_URL, spec.url) is not None


def _token_goes_with_network(spec: SlurmClusterSpec) -> bool:
    return not spec.url.startswith(_NETWORK) or spec.token_secret_ref is not None


def _rest_has_a_user(spec: SlurmClusterSpec) -> bool:
    return spec.driver != REST or spec.user != ""


def _report_url_is_one(spec: SlurmClusterSpec) -> bool:
    return re.fullmatch(_REPORT_URL, spec.report_url) is not None


def _users_come_by_token(spec: SlurmClusterSpec) -> bool:
    return spec.token_secret_ref is not None or all(entry.user == "" for entry in spec.allowed_namespaces)


SLURM_CLUSTER_RULES = (
    Rule(
        at="spec",
        field="url",
        cel=f"self.driver != '{REST}' || (has(self.url) && self.url != '')",
        message="with driver REST, write where slurmrestd listens, such as https://slurm.example:6820",
        holds=_rest_has_a_url,
    ),
    Rule(
        at="spec",
        field="driver",
        cel=f"self.driver == '{REST}' || ((!has(self.url) || self.url == '') && !has(self.tokenSecretRef))",
        message="url and tokenSecretRef are for driver REST; write driver: REST, or take them out",
        holds=_only_rest_has_one,
    ),
    Rule(
        at="spec",
        field="url",
        cel=f"!has(self.url) || self.url == '' || self.url.matches(r'{_URL}')",
        message="write http://HOST:PORT, https://HOST:PORT or unix:/PATH, without user, path or question mark; secrets "
        "belong into tokenSecretRef",
        holds=_url_is_one,
    ),
    Rule(
        at="spec",
        field="tokenSecretRef",
        cel=f"!has(self.url) || !self.url.startsWith('{_NETWORK}') || has(self.tokenSecretRef)",
        message="over the network slurmrestd wants a token; write the name of the Secret that holds it",
        holds=_token_goes_with_network,
    ),
    Rule(
        at="spec",
        field="user",
        cel=f"self.driver != '{REST}' || (has(self.user) && self.user != '')",
        message="with driver REST, write the user of the token, whose jobs they will be",
        holds=_rest_has_a_user,
    ),
    Rule(
        at="spec",
        field="reportURL",
        cel=f"self.reportURL.matches(r'{_REPORT_URL}')",
        message="write http://HOST:PORT or https://HOST:PORT, at which the nodes reach the operator",
        holds=_report_url_is_one,
    ),
    Rule(
        at="spec",
        field="allowedNamespaces",
        cel="has(self.tokenSecretRef) || !has(self.allowedNamespaces)"
        " || self.allowedNamespaces.all(entry, !has(entry.user) || entry.user == '')",
        message="only a token can let us act as other users; take user out, or write tokenSecretRef",
        holds=_users_come_by_token,
    ),
)
