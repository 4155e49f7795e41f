"""Verifies every DKIM signature of every message of a folder with dkimpy and prints the verdicts as JSON.

Takes the folder, and the TXT records as JSON by name; no DNS is asked.
"""

import json
import pathlib
import sys

import dkim
import nacl.signing  # noqa: F401, dkimpy does without it, but then verifies no Ed25519 signature

folder = pathlib.Path(sys.argv[1])
records = json.loads(sys.argv[2])


def look_up(name, timeout=5):
    return records.get(name.decode().rstrip("."), "").encode()


def verdict(raw, position):
    try:
        return "pass" if dkim.DKIM(raw).verify(idx=position, dnsfunc=look_up) else "fail"
    except dkim.ValidationError as error:
        return "fail: " + str(error)


def verdicts(raw):
    head = raw.split(b"\r\n\r\n", 1)[0]
    count = (b"\r\n" + head).lower().count(b"\r\ndkim-signature:")
    return [verdict(raw, position) for position in range(count)]


print(json.dumps({path.name: verdicts(path.read_bytes()) for path in folder.iterdir()}))
