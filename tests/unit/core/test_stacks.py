"""Where a main thread stands, from what faulthandler writes on Python 3.7 to 3.14."""

import pytest

from hedgerow_operator.core.stacks import Frame, place

TRAIN = Frame("/app/train.py", 88, "next_batch")

STACKS: dict[str, tuple[str, Frame | None]] = {
    "one thread": ('Current thread 0x00007f (most recent call first):\n  File "/app/train.py", line 88 in next_batch\n',
                   TRAIN),
    "of several threads the oldest, which is written last": (
        'Thread 0x01 (most recent call first):\n  File "/app/writer.py", line 5 in loop\n\n'
        'Current thread 0x02 (most recent call first):\n  File "/app/train.py", line 88 in next_batch\n', TRAIN),
    "the oldest although another took the signal": (
        'Current thread 0x01 (most recent call first):\n  File "/app/writer.py", line 5 in loop\n\n'
        'Thread 0x02 (most recent call first):\n  File "/app/train.py", line 88 in next_batch\n', TRAIN),
    "threads with names, as Python 3.14 writes them": (
        'Thread 0x01 [pin_memory] (most recent call first):\n  File "/app/writer.py", line 5 in loop\n\n'
        'Current thread 0x02 [MainThread] (most recent call first):\n  File "/app/train.py", line 88 in next_batch\n\n'
        "Current thread's C stack trace (most recent call first):\n"
        '  Binary file "/usr/bin/python3", at _Py_DumpStack+0x4c [0x5b]\n', TRAIN),
    "a dump of one thread only": (
        'Stack (most recent call first):\n  File "/app/train.py", line 88 in next_batch\n', TRAIN),
    "frames of Python's own library are passed over": (
        'Current thread 0x02 (most recent call first):\n  File "/usr/lib/python3.9/threading.py", line 302 in wait\n'
        '  File "/usr/lib/python3.9/queue.py", line 170 in get\n  File "/app/train.py", line 88 in next_batch\n',
        TRAIN),
    "frames of frozen modules too": (
        'Current thread 0x02 (most recent call first):\n  File "<frozen importlib._bootstrap>", line 9 in _load\n'
        '  File "/app/train.py", line 88 in next_batch\n', TRAIN),
    "installed packages are not Python's own": (
        'Current thread 0x02 (most recent call first):\n'
        '  File "/usr/lib/python3/dist-packages/torch/distributed/c10d.py", line 20 in all_reduce\n'
        '  File "/app/train.py", line 88 in next_batch\n',
        Frame("/usr/lib/python3/dist-packages/torch/distributed/c10d.py", 20, "all_reduce")),
    "nothing but Python's own: the innermost": (
        'Current thread 0x02 (most recent call first):\n  File "/usr/lib/python3.9/socket.py", line 7 in recv\n',
        Frame("/usr/lib/python3.9/socket.py", 7, "recv")),
    "functions with odd names": (
        'Current thread 0x02 (most recent call first):\n  File "/my app/train.py", line 3 in <lambda>\n',
        Frame("/my app/train.py", 3, "<lambda>")),
    "a thread without frames": ("Current thread 0x02 (most recent call first):\n  <no Python frame>\n", None),
    "while garbage is collected": (
        'Current thread 0x02 (most recent call first):\n  Garbage-collecting\n'
        '  File "/app/train.py", line 88 in next_batch\n', TRAIN),
    "cut in the middle of a frame": (
        'Current thread 0x02 (most recent call first):\n  File "/app/train.py", line 88 in next_batch\n  File "/app/tr',
        TRAIN),
    "cut in the middle of a heading": ("Current thread 0x0", None),
    "bytes that are no stack": ("\x00\x01 File line in\n" * 5, None),
    "nothing": ("", None),
}


@pytest.mark.parametrize("case", STACKS)
def test_the_main_thread_stands_in(case: str) -> None:
    text, frame = STACKS[case]
    assert place(text) == frame


def test_no_stack_is_no_place() -> None:
    assert place(None) is None


def test_a_frame_reads_as_file_line_and_function() -> None:
    assert str(TRAIN) == "train.py:88 in next_batch"
