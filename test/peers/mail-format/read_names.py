"""Prints the name of the last part of every message of a folder, as both of Python's policies read it, as JSON."""

import json
import pathlib
import sys
from email import message_from_bytes, policy
from email.header import decode_header, make_header


def compat32_name(raw):
    """As programs that use the default policy do: names in encoded words are decoded by the caller."""
    part = list(message_from_bytes(raw).walk())[-1]
    name = part.get_filename()
    return str(make_header(decode_header(name))) if name.startswith("=?") else name


def modern_name(raw):
    return list(message_from_bytes(raw, policy=policy.default).walk())[-1].get_filename()


readers = {"compat32": compat32_name, "default": modern_name}
read = readers[sys.argv[2]]
print(json.dumps({path.name: read(path.read_bytes()) for path in pathlib.Path(sys.argv[1]).iterdir()}))
