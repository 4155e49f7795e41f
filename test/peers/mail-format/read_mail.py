"""Reads every message of a folder with Python's email package and prints what it sees as JSON, by file name."""

import base64
import json
import pathlib
import sys
from email import message_from_bytes, policy


def mailboxes(message, name):
    field = message[name]
    if field is None:
        return []
    return [[address.display_name, address.addr_spec] for address in field.addresses]


def text_of(message, subtype):
    """The first part of that type that is no attachment, exactly as it is encoded."""
    for part in message.walk():
        if part.get_content_type() == "text/" + subtype and part.get_content_disposition() is None:
            return part.get_payload(decode=True).decode(part.get_content_charset())
    return None


def attachment(part):
    content = part.get_payload(decode=True)
    if part.get_content_type() == "message/rfc822":
        content = part.get_payload(0).as_bytes(policy=policy.SMTP)
    return {
        "filename": part.get_filename(),
        "contentType": part.get_content_type(),
        "disposition": part.get_content_disposition(),
        "contentId": part["Content-ID"],
        "content": base64.b64encode(content).decode(),
    }


def defects_of(message):
    found = [repr(defect) for defect in message.defects]
    for part in message.walk():
        for name in part.keys():
            found += [f"{name}: {defect!r}" for defect in part[name].defects]
    return found


def read(raw):
    message = message_from_bytes(raw, policy=policy.default)
    return {
        "subject": message["Subject"],
        "from": mailboxes(message, "From"),
        "to": mailboxes(message, "To"),
        "cc": mailboxes(message, "Cc"),
        "replyTo": mailboxes(message, "Reply-To"),
        "messageId": message["Message-ID"],
        "date": message["Date"].datetime.timestamp(),
        "text": text_of(message, "plain"),
        "html": text_of(message, "html"),
        "attachments": [
            attachment(part) for part in message.walk() if part.get_content_disposition() is not None
        ],
        "defects": defects_of(message),
    }


folder = pathlib.Path(sys.argv[1])
print(json.dumps({path.name: read(path.read_bytes()) for path in folder.iterdir()}))
