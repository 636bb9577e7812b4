/* libnvidia-ml.so.1 for tests: the C calls that pynvml makes, answered with values out of a file.
 *
 * A line of the file is `NAME = VALUE`. NAME is a C function, with the GPU's index and, where there are any, further
 * arguments after it (nvmlDeviceGetPowerUsage.0, nvmlDeviceGetClockInfo.0.1, field.0.91). VALUE is a number, a text, or
 * `error N` for the code N; a call without a line is not supported. `hang` never comes back. The file is read anew for
 * each call, so that a test can change it while the agent runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNINITIALIZED 1
#define NOT_SUPPORTED 3
#define INSUFFICIENT_SIZE 7

typedef struct { unsigned gpu, memory; } utilization_t;
typedef struct { unsigned long long total, free, used; } memory_t;
typedef struct {
    char legacy[16]; unsigned domain, bus, device, device_id, sub_system_id; char bus_id[32];
} pci_t;
typedef struct { unsigned pid; unsigned long long memory; unsigned gpu_instance, compute_instance; } process_t;
typedef struct {
    unsigned id, scope; long long timestamp, latency; int type, result;
    union { double d; unsigned ui; unsigned long ul; unsigned long long ull; } value;
} field_t;

typedef struct { unsigned id; int result; double value; const char *names[3]; } metric_t;
typedef struct { unsigned version, count; void *before, *after; metric_t metrics[1]; } metrics_t;
typedef struct { long about, instance; } sample_t;

static int look(const char *name, char *value, size_t size) {
    char line[512];
    const char *path = getenv("NVML_STUB");
    FILE *file = path ? fopen(path, "r") : NULL;
    int found = NOT_SUPPORTED;
    size_t length = strlen(name);
    if (!file) return 9;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, name, length) || strncmp(line + length, " = ", 3)) continue;
        snprintf(value, size, "%s", line + length + 3);
        found = 0;
    }
    fclose(file);
    if (!found && !strcmp(value, "hang")) for (;;) sleep(1000);
    if (!found && !strncmp(value, "error ", 6)) found = atoi(value + 6);
    return found;
}

/* Handles are 1 + index, and 1001 + index for MIG devices, of one initialisation: those of another are refused. */
static long initialisation;

static void *handle(long index) { return (void *)(initialisation * 10000 + 1 + index); }

static int about(const char *name, void *device, int first, int second, char *value, size_t size) {
    char full[128];
    long index = (long)device % 10000 - 1;
    int length = snprintf(full, sizeof full, "%s.%ld", name, index);
    if ((long)device / 10000 != initialisation) return UNINITIALIZED;
    if (first >= 0) length += snprintf(full + length, sizeof full - length, ".%d", first);
    if (second >= 0) snprintf(full + length, sizeof full - length, ".%d", second);
    return look(full, value, size);
}

static int number(const char *name, void *device, int first, int second, unsigned long long *to) {
    char value[256];
    int result = about(name, device, first, second, value, sizeof value);
    if (!result) *to = strtoull(value, NULL, 0);
    return result;
}

static int whole(const char *name, void *device, int first, unsigned *to) {
    unsigned long long found;
    int result = number(name, device, first, -1, &found);
    if (!result) *to = (unsigned)found;
    return result;
}

#define TEXT(NAME) int NAME(void *device, char *to, unsigned size) { return about(#NAME, device, -1, -1, to, size); }
#define WHOLE(NAME) int NAME(void *device, unsigned *to) { return whole(#NAME, device, -1, to); }
#define WHOLE_OF(NAME) int NAME(void *device, int what, unsigned *to) { return whole(#NAME, device, what, to); }

int nvmlInitWithFlags(unsigned flags) {
    char value[256];
    int result = look("nvmlInitWithFlags", value, sizeof value);
    (void)flags;
    if (result == NOT_SUPPORTED) result = 0;
    if (!result) initialisation++;
    return result;
}
int nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(int code) {
    switch (code) {
    case 9: return "Driver Not Loaded";
    case 15: return "GPU is lost";
    case 18: return "Driver/library version mismatch";
    case 999: return "Unknown Error";
    default: return "Some Error";
    }
}
int nvmlSystemGetDriverVersion(char *to, unsigned size) { return look("nvmlSystemGetDriverVersion", to, size); }
int nvmlSystemGetNVMLVersion(char *to, unsigned size) { return look("nvmlSystemGetNVMLVersion", to, size); }
int nvmlDeviceGetCount_v2(unsigned *to) {
    char value[256];
    int result = look("nvmlDeviceGetCount", value, sizeof value);
    if (!result) *to = (unsigned)atoi(value);
    return result;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **to) {
    char value[256];
    int result;
    *to = handle(index);
    result = about("nvmlDeviceGetHandleByIndex", *to, -1, -1, value, sizeof value);
    return result == NOT_SUPPORTED ? 0 : result;
}
int nvmlDeviceGetPciInfo_v3(void *device, pci_t *to) {
    memset(to, 0, sizeof *to);
    return about("nvmlDeviceGetPciInfo", device, -1, -1, to->bus_id, sizeof to->bus_id);
}
TEXT(nvmlDeviceGetUUID)
TEXT(nvmlDeviceGetName)
TEXT(nvmlDeviceGetSerial)
WHOLE(nvmlDeviceGetPowerUsage)
WHOLE(nvmlDeviceGetEnforcedPowerLimit)
WHOLE(nvmlDeviceGetPowerManagementDefaultLimit)
WHOLE(nvmlDeviceGetRetiredPagesPendingStatus)
WHOLE(nvmlDeviceGetPcieReplayCounter)
WHOLE(nvmlDeviceGetCurrPcieLinkGeneration)
WHOLE(nvmlDeviceGetCurrPcieLinkWidth)
WHOLE(nvmlDeviceGetMaxPcieLinkGeneration)
WHOLE(nvmlDeviceGetMaxPcieLinkWidth)
WHOLE(nvmlDeviceGetMaxMigDeviceCount)
WHOLE(nvmlDeviceGetGpuInstanceId)
WHOLE(nvmlDeviceGetComputeInstanceId)
WHOLE_OF(nvmlDeviceGetTemperature)
WHOLE_OF(nvmlDeviceGetTemperatureThreshold)
WHOLE_OF(nvmlDeviceGetClockInfo)
WHOLE_OF(nvmlDeviceGetMaxClockInfo)
WHOLE_OF(nvmlDeviceGetPcieThroughput)
WHOLE_OF(nvmlDeviceGetNvLinkState)
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *to) {
    return number("nvmlDeviceGetCurrentClocksThrottleReasons", device, -1, -1, to);
}
int nvmlDeviceGetTotalEccErrors(void *device, int kind, int when, unsigned long long *to) {
    return number("nvmlDeviceGetTotalEccErrors", device, kind, when, to);
}
int nvmlDeviceGetUtilizationRates(void *device, utilization_t *to) {
    int result = whole("nvmlDeviceGetUtilizationRates", device, 0, &to->gpu);
    return result ? result : whole("nvmlDeviceGetUtilizationRates", device, 1, &to->memory);
}
int nvmlDeviceGetMemoryInfo(void *device, memory_t *to) {
    int result = number("nvmlDeviceGetMemoryInfo", device, 0, -1, &to->total);
    to->free = 0;
    return result ? result : number("nvmlDeviceGetMemoryInfo", device, 1, -1, &to->used);
}
int nvmlDeviceGetRemappedRows(void *device, unsigned *corrected, unsigned *uncorrected, unsigned *pending,
                              unsigned *failed) {
    char value[256];
    int result = about("nvmlDeviceGetRemappedRows", device, -1, -1, value, sizeof value);
    if (!result) sscanf(value, "%u %u %u %u", corrected, uncorrected, pending, failed);
    return result;
}
int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *later) {
    int result = whole("nvmlDeviceGetMigMode", device, 0, now);
    return result ? result : whole("nvmlDeviceGetMigMode", device, 1, later);
}
int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **to) {
    (void)device;
    *to = handle(1000 + index);
    return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, process_t *to) {
    char value[256], *rest = value;
    int result = about("nvmlDeviceGetComputeRunningProcesses", device, -1, -1, value, sizeof value);
    unsigned room = *count, place = 0;
    if (result) return result;
    for (char *word = strtok(rest, " "); word; word = strtok(NULL, " "), place++)
        if (place < room) {
            char *memory = strchr(word, ':');
            to[place].pid = (unsigned)atoi(word);
            to[place].memory = memory ? strtoull(memory + 1, NULL, 0) : ~0ULL;
            to[place].gpu_instance = to[place].compute_instance = 0xFFFFFFFFu;
        }
    *count = place;
    return place > room ? INSUFFICIENT_SIZE : 0;
}
int nvmlDeviceGetFieldValues(void *device, int count, field_t *fields) {
    for (int place = 0; place < count; place++) {
        unsigned long long found = 0;
        int scope = fields[place].scope && fields[place].scope != 0xFFFFFFFFu ? (int)fields[place].scope : -1;
        fields[place].result = number("field", device, (int)fields[place].id, scope, &found);
        fields[place].type = 3;
        fields[place].value.ull = found;
    }
    return 0;
}

/* GPM. Of samples at most two a GPU or instance are alive; a test that leaks them runs out of them here. */
static int samples;

int nvmlGpmQueryDeviceSupport(void *device, unsigned *version_and_support) {
    return whole("nvmlGpmQueryDeviceSupport", device, -1, version_and_support + 1);
}
int nvmlGpmSampleAlloc(sample_t **to) {
    if (samples >= 16) return 20;
    samples++;
    *to = malloc(sizeof **to);
    return 0;
}
int nvmlGpmSampleFree(sample_t *sample) {
    samples--;
    free(sample);
    return 0;
}
int nvmlGpmSampleGet(void *device, sample_t *to) {
    to->about = (long)device;
    to->instance = -1;
    return 0;
}
int nvmlGpmMigSampleGet(void *device, unsigned instance, sample_t *to) {
    to->about = (long)device;
    to->instance = instance;
    return 0;
}
int nvmlGpmMetricsGet(metrics_t *all) {
    sample_t *before = all->before, *after = all->after;
    if (all->version != 1 || before->about != after->about || before->instance != after->instance) return 2;
    for (unsigned place = 0; place < all->count; place++) {
        char value[256];
        metric_t *metric = &all->metrics[place];
        metric->result =
            about("gpm", (void *)after->about, (int)metric->id, (int)after->instance, value, sizeof value);
        if (!metric->result) metric->value = atof(value);
    }
    return 0;
}
