"""Specs of InferenceEndpoints and ServerlessProviders: good ones, and bad ones with a part of what is said of each."""

from __future__ import annotations

from typing import Any

RUNPOD = {"name": "runpod", "providerRef": {"name": "runpod-4090"}}
MODAL = {"name": "modal", "providerRef": {"name": "modal-l40s"}}
LEAST = {"protocol": "Job", "providers": [RUNPOD]}
OPENAI = {"protocol": "OpenAI", "providers": [{**RUNPOD, "model": "org/model"}, MODAL]}


def hedged(**hedge: Any) -> dict[str, Any]:
    return {**LEAST, "hedge": hedge}


def checked(**check: Any) -> dict[str, Any]:
    return {**LEAST, "validate": [check]}


GOOD_ENDPOINTS: dict[str, dict[str, Any]] = {
    "the least": LEAST,
    "models that are called differently": OPENAI,
    "weights": {**LEAST, "providers": [{**RUNPOD, "weight": 3}, {**MODAL, "weight": 1}]},
    "a fixed time": hedged(policy="Fixed", afterMillis=10000),
    "no hedging": hedged(policy="None"),
    "a policy of somebody else's": hedged(policy="Plugin", plugin="mine"),
    "all that a cascade reads": hedged(policy="Cascade", cutoverMillis=1, safetyMillis=2, escalateMillis=3),
    "every kind of check": {**LEAST, "validate": [
        {"type": "JSONSchema", "schema": {"type": "object", "required": ["a"]}, "at": "output"},
        {"type": "ContentType", "contentTypes": ["audio/wav"]}, {"type": "MinBytes", "minBytes": 100},
        {"type": "Regex", "pattern": "^ok", "at": "output.text"}, {"type": "NonEmpty"},
        {"type": "WAV", "at": "output.wav", "minMillis": 500, "maxMillis": 9000, "minRMS": "0.0001"},
        {"type": "Image", "minWidth": 512, "minHeight": 512}, {"type": "Video", "minMillis": 1000},
        {"type": "FinishReason", "finishReasons": ["stop"]}, {"type": "Expression", "expression": "output != `null`"},
        {"type": "Plugin", "plugin": "mine", "options": {"deep": {"er": [1]}}}]},
    "everything else": {**LEAST, "slo": {"latencyMillis": 60000}, "affinity": {"header": "X-Session"},
                        "budget": {"hourlyUSD": "5", "dailyUSD": "60.50"}, "maxBodyMiB": 1, "resultSeconds": 60,
                        "auth": {"apiKeySecretRef": {"name": "keys"}}},
}  # fmt: skip

BAD_ENDPOINTS: dict[str, tuple[dict[str, Any], str]] = {
    "no provider": ({**LEAST, "providers": []}, "should have at least 1 items"),
    "no protocol": ({"providers": [RUNPOD]}, "spec.protocol: Required value. Job: /run"),
    "a protocol that is none": ({**LEAST, "protocol": "openai"}, 'did you mean "OpenAI"?'),
    "a field that is none": ({**LEAST, "hedging": {}}, 'unknown field "spec.hedging"; did you mean "hedge"?'),
    "a warm pool, which nobody keeps yet": ({**LEAST, "warmPool": {}}, 'unknown field "spec.warmPool"'),
    "two providers of one name": ({**LEAST, "providers": [RUNPOD, RUNPOD]}, "two have the same name"),
    "a name that is no label": ({**LEAST, "providers": [{**RUNPOD, "name": "A b"}]}, "should match"),
    "a model without OpenAI": ({**OPENAI, "protocol": "HTTP"}, "model is read with protocol OpenAI"),
    "one weight": ({**LEAST, "providers": [{**RUNPOD, "weight": 3}, MODAL]}, "one weight alone shares nothing"),
    "a request that is no JMESPath": ({**LEAST, "providers": [{**RUNPOD, "request": "a["}]}, "is no JMESPath"),
    "an answer that is no JMESPath": ({**LEAST, "providers": [{**RUNPOD, "response": "]"}]}, "providers[0].response"),
    "results of what is no job": ({**OPENAI, "resultSeconds": 60}, "only jobs have results"),
    "a policy that is none": (hedged(policy="adaptive"), 'did you mean "Adaptive"?'),
    "a delay of another policy": (hedged(afterMillis=1), "spec.hedge.afterMillis: is read with policy Fixed"),
    "a cutover of another policy": (hedged(policy="Fixed", cutoverMillis=1), "Adaptive, QueueCutover or Cascade"),
    "a safety time of another policy": (hedged(policy="Race", safetyMillis=1), "spec.hedge.safetyMillis"),
    "an escalation of another policy": (hedged(policy="None", escalateMillis=1), "Adaptive or Cascade"),
    "a plugin of another policy": (hedged(plugin="mine"), "is read with policy Plugin"),
    "a plugin without a name": (hedged(policy="Plugin"), "needs the name of an entry point"),
    "no live attempt": (hedged(maxLive=0), "should be greater than or equal to 1"),
    "a share that is no number": (hedged(maxExtraLoadPercent="20%"), 'got text "20%"; write 20'),
    "seconds for milliseconds": (hedged(cutoverMillis="2s"), 'got text "2s"; write 2000'),
    "a part of a second for milliseconds": (hedged(cutoverMillis="2.5s"), 'got text "2.5s"; write 2500'),
    "milliseconds with their unit": (hedged(cutoverMillis="250ms"), 'got text "250ms"; write 250'),
    "a size with its unit": ({**LEAST, "maxBodyMiB": "1Gi"}, 'got text "1Gi"; write 1024'),
    "a path that goes up": ({**LEAST, "providers": [{**RUNPOD, "path": "/v1/../admin"}]}, "stays below the provider's"),
    "a path that goes up in disguise": ({**LEAST, "providers": [{**RUNPOD, "path": "%2e./x"}]}, "take the .. out"),
    "an objective of all": ({**LEAST, "slo": {"latencyMillis": 1, "objectivePercent": 100}}, "or equal to 99"),
    "a header that is none": ({**LEAST, "affinity": {"header": "X Session"}}, "should match"),
    "a budget of nothing": ({**LEAST, "budget": {}}, "write hourlyUSD, dailyUSD or both"),
    "a budget that is a number": ({**LEAST, "budget": {"hourlyUSD": 5}}, 'write "5"'),
    "a budget by the hour that is no money": ({**LEAST, "budget": {"hourlyUSD": "5$"}}, "spec.budget.hourlyUSD: write"),
    "a budget by the day that is no money": ({**LEAST, "budget": {"dailyUSD": "-1"}}, "spec.budget.dailyUSD: write"),
    "keys in the manifest": (
        {**LEAST, "auth": {"apiKeySecretRef": {"name": "s"}, "apiKey": "k"}}, 'unknown field "spec.auth.apiKey"'),
    "a check that is none": (checked(type="Wav"), 'did you mean "WAV"?'),
    "a check without what it needs: schema": (checked(type="JSONSchema"), "type JSONSchema needs schema"),
    "a check without what it needs: types": (checked(type="ContentType"), "type ContentType needs contentTypes"),
    "a check without what it needs: bytes": (checked(type="MinBytes"), "type MinBytes needs minBytes"),
    "a check without what it needs: pattern": (checked(type="Regex"), "type Regex needs pattern"),
    "a check without what it needs: expression": (checked(type="Expression"), "type Expression needs expression"),
    "a check without what it needs: plugin": (checked(type="Plugin"), "type Plugin needs plugin"),
    "a place for what is whole": (checked(type="FinishReason", at="a"), "at is read with type"),
    "a schema elsewhere": (checked(type="NonEmpty", schema={}), "schema is read with type JSONSchema"),
    "content types elsewhere": (checked(type="NonEmpty", contentTypes=["a/b"]), "contentTypes is read with"),
    "bytes elsewhere": (checked(type="NonEmpty", minBytes=1), "minBytes is read with type MinBytes or Video"),
    "a pattern elsewhere": (checked(type="NonEmpty", pattern="a"), "pattern is read with type Regex"),
    "a least duration elsewhere": (checked(type="Image", minMillis=1), "minMillis is read with type WAV or Video"),
    "a longest duration elsewhere": (checked(type="Image", maxMillis=1), "maxMillis is read with"),
    "loudness elsewhere": (checked(type="Image", minRMS="0.1"), "minRMS is read with type WAV"),
    "clipping elsewhere": (checked(type="Image", maxClippedPercent=1), "maxClippedPercent is read with"),
    "a width elsewhere": (checked(type="WAV", minWidth=1), "minWidth is read with type Image or Video"),
    "a height elsewhere": (checked(type="WAV", minHeight=1), "minHeight is read with"),
    "reasons elsewhere": (checked(type="WAV", finishReasons=["stop"]), "finishReasons is read with"),
    "an expression elsewhere": (checked(type="WAV", expression="a"), "expression is read with type Expression"),
    "a plugin elsewhere": (checked(type="WAV", plugin="a"), "plugin is read with type Plugin"),
    "options elsewhere": (checked(type="WAV", options={}), "options is read with type Plugin"),
    "durations the wrong way round": (checked(type="WAV", minMillis=2, maxMillis=1), "minMillis is more than"),
    "loudness beyond full": (checked(type="WAV", minRMS="1.5"), "write a number from 0 to 1"),
    "a pattern that is none": (checked(type="Regex", pattern="("), "is no regular expression"),
    "an expression that is none": (checked(type="Expression", expression="=="), "spec.validate[0].expression"),
    "a place that is none": (checked(type="WAV", at="a."), "spec.validate[0].at"),
}  # fmt: skip

SECRET = {"credentialsSecretRef": {"name": "s"}}
POOL = {"type": "RunPod", "endpoint": "abc", **SECRET}
URL = {"type": "HTTP", "endpoint": "https://gpu.example/v1"}
SIMULATED: dict[str, Any] = {"type": "Simulated"}
JOBS = {"submit": {"path": "/submit"}, "status": {"path": "/jobs/{id}"}, "states": {"DONE": "Valid"}}
MACHINES = {"instanceType": "gpu_1x_a10", "region": "us-west-1", "sshKey": "k"}

GOOD_PROVIDERS: dict[str, dict[str, Any]] = {
    "RunPod": {**POOL, "price": {"perSecondUSD": "0.000306", "idleBilledSeconds": 60}, "limits": {"concurrent": 5},
               "runpod": {"mode": "LoadBalancer"}},
    "Modal": {"type": "Modal", "endpoint": "https://ml--tts.modal.run", "modal": {"mode": "Wrapper"}, **SECRET},
    "Vast": {"type": "Vast", "endpoint": "tts", "vast": {"path": "/generate", "cost": 200}, **SECRET},
    "Lambda": {"type": "Lambda", "lambda": MACHINES, **SECRET},
    "Cerebrium": {"type": "Cerebrium", "endpoint": "https://api.cerebrium.ai/v4/p-1/tts/run"},
    "HTTP by a number and a port": {**URL, "endpoint": "http://[fd00::1]:65535/v1.0..2/x"},
    "HTTP as it is": {**URL, "stopsOnDisconnect": True, "http": {"healthPath": "/up"}},
    "HTTP as declared": {**URL, **SECRET, "http": {**JOBS, "headers": {"Authorization": "Key ${apiKey}"},
                         "result": {"path": "/jobs/{id}/result"}, "cancel": {"method": "PUT", "path": "/stop/{id}"}}},
    "Kubernetes": {"type": "Kubernetes", "endpoint": "vllm.models", "kubernetes": {"port": 8000}},
    "Simulated": {**SIMULATED, "simulated": {"courses": [{"queueMillis": 1300, "runMillis": 4200}], "timeScale": 100,
                  "faults": [{"fault": "Die", "first": 3, "last": 3}]}},
    "Plugin": {"type": "Plugin", "plugin": {"name": "mine", "options": {"a": "1"}}},
}  # fmt: skip

BAD_PROVIDERS: dict[str, tuple[dict[str, Any], str]] = {
    "no type": ({"endpoint": "a"}, "spec.type: Required value"),
    "a type that is none": ({**POOL, "type": "Runpod"}, 'did you mean "RunPod"?'),
    "a key in the manifest": ({**POOL, "apiKey": "k"}, 'unknown field "spec.apiKey"'),
    "no endpoint": ({"type": "RunPod", **SECRET}, "spec.endpoint: write which one"),
    "an endpoint of what has none": ({**SIMULATED, "endpoint": "a"}, "Lambda, Simulated and Plugin have none"),
    "an address that is none": ({**URL, "endpoint": "gpu.example"}, "write https://HOST/PATH"),
    "a secret in the address": ({**URL, "endpoint": "https://u:p@h"}, "secrets belong into credentialsSecretRef"),
    "a key behind the address": ({**URL, "endpoint": "https://h/a?key=1"}, "without user or question mark"),
    "a port that is none": ({**URL, "endpoint": "http://gpu.example:99999/v1"}, "a port from 1 to 65535"),
    "the port zero": ({**URL, "endpoint": "http://gpu.example:0"}, "a port from 1 to 65535"),
    "a port in words": ({**URL, "endpoint": "http://gpu.example:http"}, "a port from 1 to 65535"),
    "an address in brackets that is none": ({**URL, "endpoint": "http://[:::::]/v1"}, "after // is no host; write"),
    "a host that is no text": ({**URL, "endpoint": "http://a\x00b/v1"}, "after // is no host; write"),
    "a host that would become another": (
        {**POOL, "runpod": {"apiURL": "http://a\u2100b.example"}}, "spec.runpod.apiURL: what comes after // is"),
    "RunPod at what is no address": ({**POOL, "runpod": {"apiURL": "api.example"}}, "spec.runpod.apiURL: write https"),
    "RunPod's management at a port that is none": (
        {**POOL, "runpod": {"managementURL": "https://h:65536"}}, "spec.runpod.managementURL: write"),
    "Vast's route at what is no address": (
        {"type": "Vast", "endpoint": "a", "vast": {"routeURL": "file:///x"}, **SECRET}, "spec.vast.routeURL: write"),
    "Cerebrium at what is no address": (
        {"type": "Cerebrium", "endpoint": "https://h", "cerebrium": {"restURL": "https://h/?k=1"}}, "restURL: write"),
    "Lambda at what is no address": (
        {"type": "Lambda", "lambda": {**MACHINES, "apiURL": "http://a b"}, **SECRET}, "spec.lambda.apiURL: write"),
    "a header of two lines": ({**URL, "http": {"headers": {"X-A": "a\r\nX-B: b"}}}, "no header can hold a line break"),
    "a header with an end of line": ({**URL, "http": {"headers": {"X-A": "a\n"}}}, "write each value as one line"),
    "a header whose name is none": ({**URL, "http": {"headers": {"X A": "a"}}}, "'X A' is no name of a header"),
    "a submit that goes up": ({**URL, "http": {**JOBS, "submit": {"path": "/../s"}}}, "spec.http.submit.path: a path"),
    "a status that goes up": ({**URL, "http": {**JOBS, "status": {"path": "/..?{id}"}}}, "spec.http.status.path: a"),
    "a result that goes up": ({**URL, "http": {**JOBS, "result": {"path": "/{id}/.."}}}, "spec.http.result.path: a"),
    "a cancel that goes up": ({**URL, "http": {**JOBS, "cancel": {"path": "/%2E%2e/{id}"}}}, "http.cancel.path: a"),
    "health that goes up": ({**URL, "http": {"healthPath": "/a/../b"}}, "spec.http.healthPath: a path stays below"),
    "a Service's health that goes up": (
        {"type": "Kubernetes", "endpoint": "a", "kubernetes": {"healthPath": "/.."}}, "kubernetes.healthPath: a path"),
    "workers of Vast asked upwards": (
        {"type": "Vast", "endpoint": "a", "vast": {"path": "/.."}, **SECRET}, "spec.vast.path: a path stays below"),
    "a Service with its port": ({"type": "Kubernetes", "endpoint": "vllm:8000"}, "its port belongs into"),
    "no credentials": ({"type": "RunPod", "endpoint": "a"}, "want a key"),
    "credentials for nobody": ({**SIMULATED, **SECRET}, "has no credentials and no limits"),
    "a price that is none": ({**POOL, "price": {"perSecondUSD": "cheap"}}, "spec.price.perSecondUSD: write"),
    "a price that is a number": ({**POOL, "price": {"perSecondUSD": 0.1}}, "must be of type string"),
    "an end by disconnecting elsewhere": ({**POOL, "stopsOnDisconnect": True}, "types HTTP and Kubernetes"),
    "RunPod's section elsewhere": ({**URL, "runpod": {}}, "is read with type RunPod"),
    "Modal's section elsewhere": ({**URL, "modal": {}}, "is read with type Modal"),
    "Vast's section elsewhere": ({**URL, "vast": {}}, "is read with type Vast"),
    "Lambda's section elsewhere": ({**URL, "lambda": MACHINES}, "is read with type Lambda"),
    "Cerebrium's section elsewhere": ({**URL, "cerebrium": {}}, "is read with type Cerebrium"),
    "HTTP's section elsewhere": ({**POOL, "http": {}}, "is read with type HTTP"),
    "a Service's section elsewhere": ({**URL, "kubernetes": {}}, "is read with type Kubernetes"),
    "a simulation elsewhere": ({**URL, "simulated": {}}, "is read with type Simulated"),
    "a plugin elsewhere": ({**URL, "plugin": {"name": "a"}}, "is read with type Plugin"),
    "Lambda without its section": ({"type": "Lambda", **SECRET}, "spec.lambda: type Lambda needs it"),
    "Plugin without its section": ({"type": "Plugin"}, "spec.plugin: type Plugin needs it"),
    "jobs that are never done": ({**URL, "http": {**JOBS, "states": {"DONE": "Failed"}}}, "such as COMPLETED: Valid"),
    "a status without jobs": ({**URL, "http": {"status": JOBS["status"], "states": JOBS["states"]}}, "are about jobs"),
    "states that nobody asks for": ({**URL, "http": {"states": {}}}, "are read with status"),
    "a status of no job": ({**URL, "http": {**JOBS, "status": {"path": "/jobs"}}}, "put {id} into each"),
    "a Secret outside of its folder": ({**POOL, "credentialsSecretRef": {"name": "../x"}}, "should match"),
    "a state that is none": ({**URL, "http": {**JOBS, "states": {"DONE": "Done"}}}, '"Done" is not supported'),
    "an id that is no JMESPath": ({**URL, "http": {**JOBS, "submit": {"path": "/s", "id": "["}}}, "http.submit.id"),
    "a path that is relative": ({**URL, "http": {**JOBS, "submit": {"path": "s"}}}, "should match '^/'"),
    "a fault that is none": ({**SIMULATED, "simulated": {"faults": [{"fault": "Explode"}]}}, "supported values"),
    "faults that end before they begin": (
        {**SIMULATED, "simulated": {"faults": [{"fault": "Die", "first": 2, "last": 1}]}}, "first comes after last"),
}  # fmt: skip
