"""What a GPU's multiprocessors do (NVML GPM, Hopper and later): unlike utilisation it tells waiting from work."""

from typing import Any

from hedgerow_agent.devices.base import Values

# nvmlGpmMetricId_t
_METRICS = {1: "graphics_activity_percent", 2: "sm_activity_percent", 5: "tensor_activity_percent"}


class Activity:
    """Activity of one GPU and of its MIG instances, each between the last look and this one."""

    def __init__(self, nvml: Any, handle: Any) -> None:
        self._nvml = nvml
        self._handle = handle
        self._supported: bool | None = None
        self._before: dict[int | None, Any] = {}

    def whole(self) -> Values:
        """Of the whole GPU; nothing at the first look, and where it is not supported."""
        return self._look(None)

    def instance(self, gpu_instance: int) -> Values:
        """Of one MIG instance."""
        return self._look(gpu_instance)

    def forget_all_but(self, instances: set[int | None]) -> None:
        """Free what is kept of instances that are no more."""
        for gone in set(self._before) - instances - {None}:
            self._free(self._before.pop(gone))

    def _look(self, instance: int | None) -> Values:
        if not self._is_supported():
            return {}
        nvml, sample = self._nvml, None
        try:
            sample = nvml.nvmlGpmSampleAlloc()
            if instance is None:
                nvml.nvmlGpmSampleGet(self._handle, sample)
            else:
                nvml.nvmlGpmMigSampleGet(self._handle, instance, sample)
        except nvml.NVMLError:
            if sample is not None:
                self._free(sample)
            return {}
        before, self._before[instance] = self._before.get(instance), sample
        if before is None:
            return {}
        found = self._metrics(before, sample)
        self._free(before)
        return found

    def _metrics(self, before: Any, after: Any) -> Values:
        nvml = self._nvml
        wanted = nvml.c_nvmlGpmMetricsGet_t()
        wanted.version = nvml.NVML_GPM_METRICS_GET_VERSION
        wanted.numMetrics = len(_METRICS)
        wanted.sample1, wanted.sample2 = before, after
        for place, metric in enumerate(_METRICS):
            wanted.metrics[place].metricId = metric
        try:
            nvml.nvmlGpmMetricsGet(wanted)
        except nvml.NVMLError:
            return {}
        found = [wanted.metrics[place] for place in range(len(_METRICS))]
        return {_METRICS[one.metricId]: one.value for one in found if one.nvmlReturn == 0}

    def _is_supported(self) -> bool:
        if self._supported is None:
            try:
                self._supported = bool(self._nvml.nvmlGpmQueryDeviceSupport(self._handle).isSupportedDevice)
            except (self._nvml.NVMLError, AttributeError):
                self._supported = False
        return self._supported

    def _free(self, sample: Any) -> None:
        try:
            self._nvml.nvmlGpmSampleFree(sample)
        except self._nvml.NVMLError:
            return
