"""Web servers of the internet that a new installation asks, at port 443 of every address.

Arguments: certificate, key, port of pebble. The directory of Let's Encrypt is that of pebble, under another path;
every other host only tells the time.
"""

import http.client
import http.server
import ssl
import sys

CERTIFICATE, KEY, PEBBLE_PORT = sys.argv[1:]
TO_PEBBLE = ssl._create_unverified_context()
AUTHORITY = "acme-v02.api.letsencrypt.org"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers["Host"] != AUTHORITY:
            return self.pass_on(200, [], b"")
        pebble = http.client.HTTPSConnection("127.0.0.1", int(PEBBLE_PORT), context=TO_PEBBLE)
        path = "/dir" if self.path == "/directory" else self.path
        pebble.request(self.command, path, body, {"Host": AUTHORITY, **self.kept(self.headers)})
        reply = pebble.getresponse()
        self.pass_on(reply.status, self.kept(reply.headers).items(), reply.read())

    def kept(self, headers):
        dropped = ("host", "connection", "content-length", "transfer-encoding", "date")
        return {name: value for name, value in headers.items() if name.lower() not in dropped}

    def pass_on(self, status, headers, body):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_POST = answer

    def log_message(self, *_args):
        pass


server = http.server.ThreadingHTTPServer(("", 443), Handler)
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(CERTIFICATE, KEY)
server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print("listens", flush=True)
server.serve_forever()
