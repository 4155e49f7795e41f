"""Checks SPF with pyspf in worlds of its own: argv is a file, JSON, of [{records: {name: {type: [data]}}, ip, sender, helo}]."""

import json
import sys

import spf

with open(sys.argv[1]) as file:
    cases = json.load(file)
world = {}


def look_up(name, qtype, *_rest, **_options):
    found = world.get(name.lower().rstrip("."), {}).get(qtype, [])
    if found == "SERVFAIL":
        raise spf.TempError("DNS: SERVFAIL")
    return [((name, qtype), data_of(qtype, data)) for data in found]


def data_of(qtype, data):
    if qtype == "TXT":
        return (data.encode(),)
    return tuple(data) if qtype == "MX" else data


def result_of(case):
    world.clear()
    world.update(case["records"])
    return spf.check2(i=case["ip"], s=case["sender"], h=case["helo"], timeout=20, querytime=0)[0]


spf.DNSLookup = look_up
print(json.dumps([result_of(case) for case in cases]))
