"""A scripted mailbox provider that checks what Gmail asks of senders, with codes like Gmail's.

Arguments: resolver, certificate, key. Listens on port 25 of every address, and prints one line of JSON for each
message: its recipient, the reply, the results of the checks, and the message. pyspf checks SPF, dkimpy DKIM.
"""

import email
import email.policy
import json
import re
import socketserver
import ssl
import sys

import dkim
import dns.exception
import dns.resolver
import dns.reversename
import nacl.signing  # noqa: F401, dkimpy does without it, but then verifies no Ed25519 signature
import spf

RESOLVER, CERTIFICATE, KEY = sys.argv[1:]
dns.resolver.default_resolver = dns.resolver.Resolver(configure=False)
dns.resolver.default_resolver.nameservers = [RESOLVER]
TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
TLS.load_cert_chain(CERTIFICATE, KEY)


def look_up(name, kind):
    try:
        return [record.to_text() for record in dns.resolver.resolve(name, kind, lifetime=5)]
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer, dns.resolver.NoNameservers):
        return []


def leads_to(name, address):
    return address in look_up(name, "A")


def dmarc_of(domain):
    texts = [text.strip('"') for text in look_up("_dmarc." + domain, "TXT")]
    found = [text for text in texts if text.startswith("v=DMARC1")]
    return found[0] if len(found) == 1 else None


def is_aligned(domain, sender):
    return domain == sender or domain.endswith("." + sender)


def signatures_of(raw, message):
    """The domain and the signed fields of each signature that verifies."""
    found = []
    for position, field in enumerate(message.get_all("DKIM-Signature", [])):
        tags = dict(re.findall(r"([a-z]+)=([^;]*)", re.sub(r"\s+", "", field)))
        try:
            if dkim.DKIM(raw).verify(idx=position):
                found.append((tags["d"].lower(), tags["h"].lower().split(":")))
        except (dkim.DKIMException, dns.exception.DNSException) as error:
            print("DKIM:", error, file=sys.stderr)
    return found


def checked(session, raw):
    """The results of all checks, each of them as a word for the reply and whether it passed."""
    message = email.message_from_bytes(raw, policy=email.policy.compat32)
    address = session["address"]
    senders = message.get_all("From", [])
    sender = re.sub(r".*@|>.*", "", senders[0]).lower() if len(senders) == 1 else ""
    names = [name.rstrip(".") for name in look_up(dns.reversename.from_address(address), "PTR")]
    signatures = signatures_of(raw, message)
    signed = [fields for domain, fields in signatures if is_aligned(domain, sender)]
    return_path = session["from"].rpartition("@")[2].lower()
    spf_result = spf.check2(i=address, s=session["from"], h=session["ehlo"])[0]
    one_click = (
        message.get("List-Unsubscribe-Post") == "List-Unsubscribe=One-Click"
        and "<https://" in message.get("List-Unsubscribe", "")
        and any({"list-unsubscribe", "list-unsubscribe-post"} <= set(fields) for fields in signed)
    )
    return {
        "bulk": "Feedback-ID" in message,
        "tls": session["tls"],
        "ptr": any(leads_to(name, address) for name in names),
        "ehlo": leads_to(session["ehlo"], address),
        "format": bool(sender) and "Message-ID" in message and "Date" in message,
        "spf": spf_result == "pass",
        "dkim": len(signatures) > 0,
        "aligned": len(signed) > 0 or (spf_result == "pass" and is_aligned(return_path, sender)),
        "dmarc": dmarc_of(sender),
        "one_click": one_click,
    }


def reply_to(results):
    """The codes are those that Gmail documents for its senders; the words are our own."""
    policy = results["dmarc"]
    is_bulk = results["bulk"]
    rules = [
        (results["tls"], "550 5.7.29 Mail must come over TLS"),
        (results["ptr"], "550 5.7.25 The address has no PTR record whose name leads back to it"),
        (results["ehlo"], "550 5.7.1 The EHLO name does not lead to the address"),
        (results["format"], "550 5.7.1 Message-ID, Date and one From are required (RFC 5322)"),
        (results["spf"] or results["dkim"], "550 5.7.26 Neither SPF nor DKIM passed"),
        (results["aligned"] or not policy or "p=none" in policy, "550 5.7.26 The DMARC policy of the domain refuses this"),
        (results["spf"] or not is_bulk, "550 5.7.27 SPF did not pass"),
        (results["dkim"] or not is_bulk, "550 5.7.30 DKIM did not pass"),
        (policy or not is_bulk, "550 5.7.26 The domain has no DMARC record"),
        (results["aligned"] or not is_bulk, "550 5.7.32 From aligns with neither SPF nor DKIM"),
        (results["one_click"] or not is_bulk, "550 5.7.1 Bulk mail needs a signed one-click unsubscribe"),
    ]
    return next((reply for passed, reply in rules if not passed), "250 2.0.0 OK gsmtp")


class Session(socketserver.StreamRequestHandler):
    def say(self, text):
        self.wfile.write((text + "\r\n").encode())

    def setup(self):
        super().setup()
        self.facts = {"address": self.client_address[0], "tls": False, "ehlo": "", "from": ""}
        self.recipients = []

    def handle(self):
        self.say("220 mx.google.com ESMTP gsmtp")
        while line := self.rfile.readline(2000).decode("latin1").strip():
            word, _, rest = line.partition(" ")
            if not self.act(word.upper(), rest):
                return

    def act(self, word, rest):
        if word == "EHLO":
            self.facts["ehlo"] = rest
            self.say("250-mx.google.com\r\n250-SIZE 36700160\r\n250-8BITMIME\r\n250-ENHANCEDSTATUSCODES")
            self.say("250 SMTPUTF8" if self.facts["tls"] else "250-STARTTLS\r\n250 SMTPUTF8")
        elif word == "STARTTLS":
            self.say("220 2.0.0 Ready")
            self.connection = TLS.wrap_socket(self.connection, server_side=True)
            self.rfile = self.connection.makefile("rb")
            self.wfile = self.connection.makefile("wb", buffering=0)
            self.facts["tls"] = True
        elif word == "MAIL":
            self.facts["from"] = re.search(r"<(.*?)>", rest).group(1)
            self.recipients = []
            self.say("250 2.1.0 OK gsmtp")
        elif word == "RCPT":
            self.recipients.append(re.search(r"<(.*?)>", rest).group(1))
            self.say("250 2.1.5 OK gsmtp")
        elif word == "DATA":
            self.say("354 Go ahead")
            self.take(self.message())
        elif word == "QUIT":
            self.say("221 2.0.0 Bye")
            return False
        else:
            self.say("250 2.1.5 OK" if word in ("RSET", "NOOP") else "502 5.5.1 Unknown")
        return True

    def message(self):
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line[1:] if line.startswith(b".") else line)
        return b"".join(lines)

    def take(self, raw):
        results = checked(self.facts, raw)
        reply = reply_to(results)
        told = {"to": self.recipients, "reply": reply, "results": results, "message": raw.decode("latin1")}
        print(json.dumps(told), flush=True)
        self.say(reply)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


with Server(("", 25), Session) as server:
    print(json.dumps({"listens": True}), flush=True)
    server.serve_forever()
