"""Verifies every DKIM signature of one message with dkimpy and prints the verdicts as JSON.

Takes the message's file and a name server as host:port, which is asked for the keys.
"""

import json
import sys

import dkim
import dns.resolver
import nacl.signing  # noqa: F401, dkimpy does without it, but then verifies no Ed25519 signature

host, port = sys.argv[2].rsplit(":", 1)
resolver = dns.resolver.Resolver(configure=False)
resolver.nameservers = [host]
resolver.port = int(port)


def look_up(name, timeout=5):
    answer = resolver.resolve(name.decode(), "TXT", lifetime=timeout)
    return b"".join(answer[0].strings)


def verdict(raw, position):
    try:
        return "pass" if dkim.DKIM(raw).verify(idx=position, dnsfunc=look_up) else "fail"
    except dkim.ValidationError as error:
        return "fail: " + str(error)


with open(sys.argv[1], "rb") as file:
    message = file.read()
head = message.split(b"\r\n\r\n", 1)[0]
count = (b"\r\n" + head).lower().count(b"\r\ndkim-signature:")
print(json.dumps([verdict(message, position) for position in range(count)]))
