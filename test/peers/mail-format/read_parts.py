"""Prints what one of three Python libraries reads in every message of a folder, as JSON by file name."""

import base64
import json
import pathlib
import sys
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.utils import getaddresses


def decoded(words):
    """As programs do that use the default policy: the library leaves encoded words to them."""
    return str(make_header(decode_header(words)))


def unfolded(field):
    return None if field is None else "".join(field.splitlines())


def part_of(part, name, content_id):
    return {
        "type": part.get_content_type(),
        "charset": part.get_param("charset"),
        "method": part.get_param("method"),
        "disposition": part.get_content_disposition(),
        "filename": name,
        "contentId": content_id,
        "content": base64.b64encode(part.get_payload(decode=True)).decode(),
    }


def leaves(message):
    return [part for part in message.walk() if not part.is_multipart()]


def read_compat32(raw):
    message = message_from_bytes(raw)
    name_of = lambda part: part.get_filename() and decoded(part.get_filename())
    mailboxes = lambda field: [
        [decoded(name), address] for name, address in getaddresses([unfolded(message[field])])
    ]
    return {
        "subject": decoded(unfolded(message["Subject"])),
        "from": mailboxes("From"),
        "to": mailboxes("To"),
        "inReplyTo": unfolded(message["In-Reply-To"]),
        "references": unfolded(message["References"]),
        "parts": [part_of(part, name_of(part), part["Content-ID"]) for part in leaves(message)],
    }


def read_modern(raw):
    message = message_from_bytes(raw, policy=policy.default)
    mailboxes = lambda field: [
        [address.display_name, address.addr_spec] for address in message[field].addresses
    ]
    return {
        "subject": message["Subject"],
        "from": mailboxes("From"),
        "to": mailboxes("To"),
        "inReplyTo": message["In-Reply-To"],
        "references": message["References"],
        "parts": [part_of(part, part.get_filename(), part["Content-ID"]) for part in leaves(message)],
    }


def gmime_reader():
    import gi

    gi.require_version("GMime", "3.0")
    from gi.repository import GMime

    GMime.init()

    def parts(message):
        found = []
        iterator = GMime.PartIter.new(message)
        while True:
            part = iterator.get_current()
            if isinstance(part, GMime.Part):
                found.append(part)
            if not iterator.next():
                return found

    def content_of(part):
        stream = GMime.StreamMem.new()
        part.get_content().write_to_stream(stream)
        return bytes(stream.get_byte_array())

    def mailboxes(addresses):
        return [
            [address.get_name() or "", address.get_addr()]
            for address in (addresses.get_address(at) for at in range(addresses.length()))
        ]

    def read(raw):
        parser = GMime.Parser.new_with_stream(GMime.StreamMem.new_with_buffer(raw))
        message = parser.construct_message(None)
        return {
            "subject": message.get_subject(),
            "from": mailboxes(message.get_from()),
            "to": mailboxes(message.get_to()),
            "inReplyTo": message.get_header("In-Reply-To"),
            "references": message.get_header("References"),
            "parts": [
                {
                    "type": part.get_content_type().get_mime_type(),
                    "charset": part.get_content_type().get_parameter("charset"),
                    "method": part.get_content_type().get_parameter("method"),
                    "disposition": part.get_disposition(),
                    "filename": part.get_filename(),
                    "contentId": part.get_content_id() and f"<{part.get_content_id()}>",
                    "content": base64.b64encode(content_of(part)).decode(),
                }
                for part in parts(message)
            ],
        }

    return read


readers = {"compat32": lambda: read_compat32, "modern": lambda: read_modern, "gmime": gmime_reader}
read = readers[sys.argv[2]]()
print(json.dumps({path.name: read(path.read_bytes()) for path in pathlib.Path(sys.argv[1]).iterdir()}))
