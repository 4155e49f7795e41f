"""Signs and seals a message with dkimpy: argv is the message, the key (PEM), the domain, and the steps, in their order."""

import json
import sys

import dkim

path, key_path, domain, *steps = sys.argv[1:]
with open(path, "rb") as file:
    message = file.read()
with open(key_path, "rb") as file:
    key = file.read()

for step in steps:
    if step == "dkim":
        message = dkim.sign(message, b"r1", domain.encode(), key, canonicalize=(b"relaxed", b"simple")) + message
    elif step == "arc":
        chain = "pass" if b"ARC-Seal:" in message else "none"
        results = f"Authentication-Results: {domain}; spf=pass smtp.mailfrom=here.test; arc={chain}\r\n"
        sealed = results.encode() + message
        names = [b"from", b"to", b"subject", b"date"]
        lines = dkim.arc_sign(sealed, b"r1", domain.encode(), key, domain.encode(), include_headers=names)
        message = b"".join(lines) + message
    elif step.startswith("list:"):
        message = message.replace(b"Subject: ", b"Subject: [" + step[5:].encode() + b"] ", 1)

print(json.dumps(message.decode()))
