"""Bytes from the network to a Report, with one clear sentence for whatever is wrong with them."""

from typing import Any, TypeVar

import msgspec

from hedgerow.wire import VERSION, JobRef, Report
from hedgerow_operator.server.bounds import excess, excess_beside_numbers
from hedgerow_operator.server.kept_report import decode_quickly

Message = TypeVar("Message")


class Malformed(Exception):
    """The bytes are no report that this operator understands; the message says why, in one sentence."""


class Head(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Of a launcher's report what says who sent it and which one is newer; the rest is not looked at."""

    job: JobRef
    placement: int
    worker: int
    launcher: str
    seq: int
    version: int = VERSION

    def newer_than(self, other: "Head") -> bool:
        """Whether this one takes the other's place: of the same launcher by number, else by when it came."""
        return self.launcher != other.launcher or self.seq > other.seq


class _Versioned(msgspec.Struct):
    version: int = VERSION


_version_decoder = msgspec.json.Decoder(_Versioned)
_head_decoder = msgspec.json.Decoder(Head)
_report_decoder = msgspec.json.Decoder(Report)


def decode_head(body: bytes) -> Head:
    """The head of the report in ``body``. Raises Malformed; what is wrong with the rest shows later."""
    return decode(_head_decoder, body, VERSION)


def decode_report(body: bytes) -> Report:
    """The report in ``body``. Raises Malformed. Unknown fields pass, an unknown version does not."""
    quick = decode_quickly(body)
    if quick is not None and excess_beside_numbers(quick) is None:
        return quick
    report = decode(_report_decoder, body, VERSION)
    beyond = excess(report)
    if beyond is not None:
        raise Malformed(f"the report says what cannot be: {beyond}")
    return report


def decode(decoder: "msgspec.json.Decoder[Message]", body: bytes, version: int) -> Message:
    """What the decoder makes of ``body``, if its field ``version`` is the one that is understood. Raises Malformed."""
    try:
        message: Any = decoder.decode(body)
        found = message.version
    except msgspec.ValidationError as error:
        # Another version may well have another form.
        found = _version(body)
        if found in (None, version):
            raise Malformed(f"the report does not have the expected form: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Malformed(f"the report is not valid JSON: {error}") from None
    except RecursionError:
        raise Malformed("the report is not valid JSON: it is nested too deeply") from None
    if found != version:
        raise Malformed(
            f"the report has version {found} and this operator understands version {version}; "
            "run its sender and the operator from the same release"
        )
    return message  # type: ignore[no-any-return]


def _version(body: bytes) -> int | None:
    try:
        return _version_decoder.decode(body).version
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
