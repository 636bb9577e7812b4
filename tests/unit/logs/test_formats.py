"""One line of every format that is known, as its trainer prints it, and what it says."""

from typing import Any

import pytest

from hedgerow.logs import observation as says
from hedgerow.logs.observation import Observation
from hedgerow.logs.reader import AutoReader


def read(text: str, **options: str) -> list[Observation]:
    """What a reader that has seen nothing before makes of ``text``."""
    reader = AutoReader(**options)
    return reader.feed(text.encode()) + reader.finish()


STEPS: dict[str, tuple[str, str, int, dict[str, float]]] = {
    "megatron with seconds": (
        "[default7]: iteration    31214/  115311 | consumed samples:     47768496 | elapsed time per iteration (s): "
        "106.46 | learning rate: 5.279E-05 | global batch size:  2048 | lm loss: 2.198845E+00 | grad norm: 0.242 |",
        "megatron", 31214,
        {"loss": 2.198845, "grad_norm": 0.242, "learning_rate": 5.279e-05, "batch_size": 2048, "step_seconds": 106.46,
         "samples": 47768496, "total_steps": 115311}),
    "megatron with milliseconds and a time": (
        " [2024-06-05 10:20:30] iteration       10/     100 | elapsed time per iteration (ms): 512.3 | lm loss: 7.1 |",
        "megatron", 10, {"step_seconds": 0.5123, "loss": 7.1}),
    "deepspeed's step line": (
        "[2023-06-01 12:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=0, lr=[9.65e-06], mom=[]",
        "deepspeed", 10, {"learning_rate": 9.65e-06}),
    "deepspeed's timer line": (
        "[INFO] [timer.py:197:stop] epoch=0/micro_step=20/global_step=20, RunningAvgSamplesPerSec=30.1, "
        "CurrSamplesPerSec=31.5, MemAllocated=1.2GB, MaxMemAllocated=2.0GB", "deepspeed", 20,
        {"samples_per_second": 31.5}),
    "deepspeed's pipeline line": (
        "steps: 30 loss: 2.3451 iter time (s): 0.512 samples/sec: 62.5", "deepspeed", 30,
        {"loss": 2.3451, "step_seconds": 0.512, "samples_per_second": 62.5}),
    "hugging face's dict": (
        "{'loss': 2.31, 'grad_norm': 1.25, 'learning_rate': 4.9e-05, 'epoch': 0.02}", "huggingface", 1,
        {"loss": 2.31, "grad_norm": 1.25, "learning_rate": 4.9e-05}),
    "hugging face's dict of text": (
        "{'loss': '2.31', 'learning_rate': '4.9e-05', 'epoch': '0.02'}", "huggingface", 1, {"loss": 2.31}),
    "hugging face's dict with nan": ("{'loss': nan, 'epoch': 0.02}", "huggingface", 1, {}),
    "nemo": (
        "[NeMo I 2025-10-08 00:30:16 nemo_logging:393] Training epoch 0, iteration 10/999 | lr: 1e-05 | "
        "global_batch_size: 4 | global_step: 10 | reduced_train_loss: 11.03 | train_step_timing in s: 0.5",
        "nemo", 10, {"loss": 11.03, "batch_size": 4, "step_seconds": 0.5, "total_steps": 1000}),
    "torchtitan in colours": (
        "[rank0]:[titan] 2025-01-01 00:00:00,123 - root - INFO - \x1b[31mstep: 10  \x1b[32mloss:  4.2012  "
        "\x1b[34mgrad_norm:  1.2  \x1b[33mmemory: 40.00GiB(42.1%)  \x1b[34mtps: 5,000  \x1b[36mtflops: 200\x1b[39m",
        "torchtitan", 10,
        {"loss": 4.2012, "grad_norm": 1.2, "memory_bytes": 40 * 2.0**30, "tokens_per_second": 5000.0}),
    "nanogpt": ("iter 100: loss 3.1234, time 250.12ms, mfu 35.20%", "nanogpt", 100,
                {"loss": 3.1234, "step_seconds": 0.25012}),
    "a relative of nanogpt": (
        "step  250 | loss: 3.05 | lr 6.0e-04 | norm: 0.3 | dt: 120.5ms | tok/sec: 51234", "nanogpt", 250,
        {"loss": 3.05, "step_seconds": 0.1205}),
    "mlperf's loss": (
        ' 0: :::MLLOG {"namespace": "", "time_ms": 1728567484562, "event_type": "POINT_IN_TIME", "key": "train_loss", '
        '"value": 2.167, "metadata": {"file": "a.py", "lineno": 223, "samples_count": 80}}', "mlperf", 80,
        {"loss": 2.167}),
    "dlrover's end of a step": (
        '[2025-04-21T23:53:35.596206] [426] [22b7ca89] [AtorchTrainerV2] [#step] [END] {"global_step": 177019}',
        "dlrover", 177019, {}),
    "dllogger": (
        "0: DLL 2025-10-03 22:01:47.524852 - Iteration 1 | train_acc : 0.1899 % | iteration_time : 71.55 ms | "
        "train_loss : 7.4336  | last_iter_used_cuda_graph : True ", "dllogger", 1,
        {"loss": 7.4336, "step_seconds": 0.07155}),
    "json": ('{"step": 7, "loss": 2.5, "lr": 0.001, "time": 1700000000.5}', "json", 7,
             {"loss": 2.5, "learning_rate": 0.001}),
    "dllogger's json": (
        'DLLL {"timestamp": "1700000000.25", "type": "LOG", "step": [0, 12], "data": {"train_loss": 3.5}}', "json", 12,
        {"loss": 3.5}),
}


@pytest.mark.parametrize("case", STEPS)
def test_a_step_is_read_from(case: str) -> None:
    text, name, step, values = STEPS[case]
    seen = read(text)
    assert [(entry.source, entry.step, entry.boundary, entry.finished) for entry in seen] == [(name, step, True, True)]
    assert {key: seen[0].values[key] for key in values} == pytest.approx(values)


PHASES: dict[str, tuple[str, str]] = {
    "megatron that saves": ("saving checkpoint at iteration     100 to /ckpt in torch format", "checkpoint"),
    "megatron that has saved": ("  successfully saved checkpoint at iteration     100 to /ckpt", "step"),
    "dlrover that saves": ('[2025-04-22T00:41:14.5] [4] [a] [T] [#save] [BEGIN] {"global_step": 1}', "checkpoint"),
    "mlperf that evaluates": (':::MLLOG {"time_ms": 1, "key": "eval_start", "metadata": {}}', "eval"),
    "lightning that validates": ("Validation DataLoader 0:  10%|█         | 1/10 [00:00<00:02,  4.10it/s]", "eval"),
    "json with a phase": ('{"step": 5, "phase": "upload"}', "upload"),
}


@pytest.mark.parametrize("case", PHASES)
def test_a_phase_begins_with(case: str) -> None:
    text, phase = PHASES[case]
    assert [(entry.phase, entry.boundary, entry.finished) for entry in read(text)] == [(phase, True, False)]


ENDINGS: dict[str, tuple[str, str, int | None]] = {
    "a cancelled step": ("0: slurmstepd: error: *** STEP 40.14 ON dell CANCELLED AT 2025-10-08T00:32:36 ***",
                         says.CANCELLED, None),
    "a time limit": ("slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2025-10-08T00:32:36 DUE TO TIME LIMIT ***",
                     says.TIME_LIMIT, None),
    "a preemption": ("slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2025-10-08T00:32:36 DUE TO PREEMPTION ***",
                     says.PREEMPTED, None),
    "a failed node": ("slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2025-10-08T00:32:36 DUE TO NODE FAILURE, SEE "
                      "SLURMCTLD LOG FOR DETAILS ***", says.NODE_FAILED, None),
    "a signal": ("3: [rank: 3] Received SIGTERM: 15", says.TERMINATED, 3),
    "an exception of one rank": (" 6: [rank6]: ValueError: Imaginary component 0.0029952042492374167",
                                 says.EXCEPTION, 6),
    "a device error": ("[default3]:  what():  CUDA error: unknown error", says.DEVICE_ERROR, None),
    "a crash": ("[default3]:terminate called after throwing an instance of 'c10::CUDAError'", says.CRASH, None),
    "memory that ran out": ("[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB",
                            says.OUT_OF_MEMORY, 1),
    "an exit code": ("srun: error: n1: task 3: Exited with exit code 134", says.EXIT, None),
    "torchrun's summary": ("  exitcode  : 1 (pid: 1234) rror", says.EXIT, None),
    "lightning that has trained": ("`Trainer.fit` stopped: `max_steps=100` reached.", says.TRAINED, None),
    "hugging face that has trained": ("{'train_runtime': 123.4, 'train_loss': 2.1, 'epoch': 1.0}", says.TRAINED, None),
    "mlperf that succeeded": (':::MLLOG {"time_ms": 1, "key": "run_stop", "metadata": {"status": "success"}}',
                              says.SUCCESS, None),
    "mlperf below its target": (':::MLLOG {"time_ms": 1, "key": "run_stop", "metadata": {"status": "aborted"}}',
                                says.TARGET_MISSED, None),
}


@pytest.mark.parametrize("case", ENDINGS)
def test_an_ending_is_read_from(case: str) -> None:
    text, ending, rank = ENDINGS[case]
    assert [(entry.ending, entry.rank) for entry in read(text)] == [(ending, rank)]


PREFIXES: dict[str, tuple[str, int | None, int | None]] = {
    "torchrun tells the rank within the node only": ("[default3]: ", None, 3),
    "torch tells the rank, inside of torchrun's": ("[default3]:[rank11]: ", 11, None),
    "a task of srun is a rank": (" 6: ", 6, None),
    "a task of srun that runs torchrun is none": ("1: [default3]:", None, 3),
    "nobody tells": ("", None, None),
}


@pytest.mark.parametrize("case", PREFIXES)
def test_who_says_a_line(case: str) -> None:
    prefix, rank, local_rank = PREFIXES[case]
    (seen,) = read(prefix + "ValueError: Imaginary component 0.003")
    assert (seen.rank, seen.local_rank, seen.speaker) == (rank, local_rank, prefix.strip())


NOTHING = {
    "an exit code of 0": "task 3: Exited with exit code 0",
    "a word that only looks like an error": "errors=0, no exception raised so far",
    "a bar of something else": "Loading checkpoint shards:  50%|█████     | 1/2 [00:01<00:01,  1.10s/it]",
    "json without a step": '{"loss": 2.5}',
    "json that is cut off": '{"step": 7, "loss": 2',
    "an mlperf line that is cut off": ':::MLLOG {"time_ms": 17285674',
    "a step that is no number": '{"step": "x"}',
    "a step beyond all numbers": '{"step": 1e400}',
    "xtrace of a shell": "+ echo 'iteration time of a step'",
}


@pytest.mark.parametrize("case", NOTHING)
def test_nothing_is_read_from(case: str) -> None:
    assert read(NOTHING[case]) == []


def test_a_users_pattern_is_read_with_its_groups() -> None:
    pattern = r"at (?P<time>\S+ \S+) did (?P<step>\d+) in (?P<step_seconds>[\d.]+) s, loss (?P<loss>\S+)"
    (seen,) = read("at 2024-01-01 00:00:10 did 5 in 0.22 s, loss 1.5", pattern=pattern)
    assert (seen.source, seen.step, seen.time, seen.values) == (
        "pattern", 5, 1704067210.0, {"loss": 1.5, "step_seconds": 0.22})


@pytest.mark.parametrize(("pattern", "words"), [
    ("(", "is no regular expression"),
    ("(?P<step>a{99999999999})", "is no regular expression"),
    ("(" * 5000, "is no regular expression"),
    (r"\d+", "needs a group"),
    (r"(?P<step>\d+) (?P<other>x)", "may have step, time"),
])
def test_a_wrong_pattern_is_refused_with_a_sentence(pattern: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        AutoReader(pattern=pattern)


def test_a_format_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="no log format 'tensorflow'; write auto or one of: mlperf"):
        AutoReader("tensorflow")


def test_only_the_format_that_was_asked_for_is_read() -> None:
    options: dict[str, Any] = {"only": "json"}
    assert [entry.source for entry in read('iter 1: loss 2.0, time 1ms\n{"step": 2}\n', **options)] == ["json"]
