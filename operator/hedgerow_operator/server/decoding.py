"""Bytes from the network to a Report, with one clear sentence for whatever is wrong with them."""

import msgspec

from hedgerow.wire import VERSION, Report
from hedgerow_operator.server.bounds import excess


class Malformed(Exception):
    """The bytes are no report that this operator understands; the message says why, in one sentence."""


class _Versioned(msgspec.Struct):
    version: int = VERSION


_version_decoder = msgspec.json.Decoder(_Versioned)
_report_decoder = msgspec.json.Decoder(Report)


def decode_report(body: bytes) -> Report:
    """The report in ``body``. Raises Malformed. Unknown fields pass, an unknown version does not."""
    try:
        version = _version_decoder.decode(body).version
        if version != VERSION:
            raise Malformed(
                f"the report has version {version} and this operator understands version {VERSION}; "
                "run the launcher and the operator from the same release"
            )
        report = _report_decoder.decode(body)
    except msgspec.ValidationError as error:
        raise Malformed(f"the report does not have the expected form: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Malformed(f"the report is not valid JSON: {error}") from None
    except RecursionError:
        raise Malformed("the report is not valid JSON: it is nested too deeply") from None
    beyond = excess(report)
    if beyond is not None:
        raise Malformed(f"the report says what cannot be: {beyond}")
    return report
