"""Looks into single files: zip archives (.pt, .npz, …) and safetensors. Nothing is ever unpickled or loaded."""

from __future__ import annotations

import json
import os
import struct
import zipfile
from typing import Any, List

from hedgerow.checkpoints.finding import COMPLETE, Finding, invalid, not_verified
from hedgerow.options import VERIFY_CONTENT, VERIFY_MARKERS
from hedgerow.regular_file import RegularFile, open_regular

# Up to this size the checksums of all members are read too; beyond it only the structure.
CHECKSUM_BYTES = 64 * 1024 * 1024
# And up to this many bytes of all members unpacked: a small archive can unpack to any number.
UNPACKED_BYTES = 4 * CHECKSUM_BYTES
_LONGEST_HEADER = 100_000_000  # the limit of the safetensors library
_ZIP_START = b"PK\x03\x04"
_PICKLE_START = b"\x80"
_LOCAL_HEADER_BYTES = 30
_TOO_DEEP = "%s is nested too deeply to be read"


def check_file(path: str, size: int, verify: str) -> Finding:
    """Whether one file is whole, as far as ``verify`` (Content, Size, Markers) asks."""
    if verify == VERIFY_MARKERS:
        return COMPLETE
    name = os.path.basename(path)
    if size == 0:
        return invalid("%s is empty" % name)
    if verify != VERIFY_CONTENT:
        return COMPLETE
    try:
        with open_regular(path) as file:
            return _check_content(file, name, size)
    except OSError as error:
        return not_verified("%s cannot be read: %s" % (name, error.strerror or error))


def check_json(path: str, verify: str) -> Finding:
    """Whether a small JSON file can be parsed."""
    if verify != VERIFY_CONTENT:
        return COMPLETE
    name = os.path.basename(path)
    try:
        read_json(path)
    except RecursionError:
        return not_verified(_TOO_DEEP % name)
    except ValueError:
        return invalid("%s is cut off or no JSON" % name)
    except OSError as error:
        return not_verified("%s cannot be read: %s" % (name, error.strerror or error))
    return COMPLETE


def read_json(path: str) -> Any:
    """The content of a JSON file; ValueError when it is none, OSError when it is too large."""
    with open_regular(path) as file:
        return json.loads(file.read().decode("utf-8"))


def _check_content(file: RegularFile, name: str, size: int) -> Finding:
    if name.endswith(".safetensors"):
        return _check_safetensors(file, name, size)
    start = file.read(64)
    if start.startswith(_ZIP_START):
        return _check_zip(file, name, size)
    if not start.strip(b"\0"):
        return invalid("%s begins with zeros: it was never written" % name)
    if name.endswith(".npz"):
        return invalid("%s is no zip archive" % name)
    if start.startswith(_PICKLE_START):
        return not_verified("%s is a pickle, which is never opened" % name)
    return not_verified("%s has a format that is not known here" % name)


def _check_zip(file: RegularFile, name: str, size: int) -> Finding:
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            for member in members:
                _check_member(file, member, archive.start_dir)
            if _is_small(size, members) and archive.testzip() is not None:
                return invalid("%s: the checksum of a member is wrong" % name)
    except zipfile.BadZipFile as error:
        return invalid("%s is torn: %s" % (name, _plain(str(error))))
    except (EOFError, ValueError, struct.error):
        return invalid("%s is torn: its directory does not fit its length" % name)
    except (OSError, MemoryError):
        raise
    except (NotImplementedError, RuntimeError) as error:
        # No zlib in this Python, or an encrypted member: the structure is all that can be looked at.
        return not_verified("%s: members cannot be read: %s" % (name, error))
    except Exception as error:  # noqa: BLE001 (zlib.error, which cannot be named where zlib is missing)
        return invalid("%s: a member cannot be unpacked: %s" % (name, error))
    return COMPLETE


def _is_small(size: int, members: List[zipfile.ZipInfo]) -> bool:
    return size <= CHECKSUM_BYTES and sum(member.file_size for member in members) <= UNPACKED_BYTES


def _check_member(file: RegularFile, member: zipfile.ZipInfo, start_of_directory: int) -> None:
    end = member.header_offset + _LOCAL_HEADER_BYTES + len(member.filename.encode()) + member.compress_size
    file.seek(member.header_offset)
    if end > start_of_directory or file.read(4) != _ZIP_START:
        raise zipfile.BadZipFile("member %s lies outside of it" % member.filename)


def _plain(message: str) -> str:
    return "its end is missing" if message == "File is not a zip file" else message


def _check_safetensors(file: RegularFile, name: str, size: int) -> Finding:
    """8 bytes of header length, little endian, then JSON whose data_offsets end where the file ends."""
    length = file.read(8)
    if len(length) < 8:
        return invalid("%s is torn: it ends within its header" % name)
    header_bytes = struct.unpack("<Q", length)[0]
    if header_bytes > _LONGEST_HEADER or 8 + header_bytes > size:
        return invalid("%s is torn: its header is longer than the file" % name)
    try:
        header = json.loads(file.read(header_bytes).decode("utf-8"))
        ends = [entry["data_offsets"][1] for key, entry in header.items() if key != "__metadata__"]
        expected = 8 + header_bytes + max(ends, default=0)
        readable = all(isinstance(end, int) for end in ends)
    except RecursionError:
        return not_verified(_TOO_DEEP % name)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        readable = False
    if not readable:
        return invalid("%s has no readable header" % name)
    if size != expected:
        return invalid("%s has %d bytes, its header says %d" % (name, size, expected))
    return COMPLETE
