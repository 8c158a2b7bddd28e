"""HTTPS before servers of loopback that speak plain HTTP: `act_front.py CERTIFICATE KEY API [PROGRAM]`.

A rendered workflow knows GitHub by GITHUB_API_URL alone, and there rock-matrix takes nothing that is not encrypted.
Each server gets a front with a port of its own, because a port is a host: what the token may not reach stays out of
its reach. Addresses of such servers in answers become those of their fronts. The address of the first front is printed.
Where PROGRAM is given, it is the one file of the action's release, at `/org/rock-action/releases/download` there; else
that is what the server has.
"""

import http.client
import http.server
import pathlib
import re
import shutil
import ssl
import sys
import threading
import urllib.parse

certificate, key, api, *program = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
first = str(urllib.parse.urlsplit(api).port)
# What two ends of a connection agree on, and not a part of what is passed on.
OF_A_CONNECTION = {"content-length", "transfer-encoding", "connection", "keep-alive", "expect"}
fronts, lock = {}, threading.Lock()


def front(port):
    """The address before a port; the front begins when it is first asked for."""
    with lock:
        if port not in fronts:
            server = Server(("127.0.0.1", 0), Handler)
            server.behind = port
            # A client that begins no handshake holds up its own thread, not those after it.
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
            threading.Thread(target=server.serve_forever).start()
            fronts[port] = f"https://localhost:{server.server_port}"
        return fronts[port]


def fronted(text):
    return re.sub(r"http://127\.0\.0\.1:([0-9]+)", lambda found: front(found[1]), text)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *words):
        pass

    def do_GET(self):
        if program and self.server.behind == first and self.path.startswith("/org/rock-action/releases/download/"):
            return self.release()
        behind = http.client.HTTPConnection("127.0.0.1", int(self.server.behind), timeout=60)
        body = self.body()
        headers = {name: value for name, value in self.headers.items() if name.lower() not in OF_A_CONNECTION}
        behind.request(self.command, self.path, body, headers)
        answer = behind.getresponse()
        content = answer.read()
        # What another server has are the files of releases, whose bytes stay as they are.
        if self.server.behind == first:
            content = fronted(content.decode()).encode()
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in OF_A_CONNECTION:
                self.send_header(name, fronted(value))
        # The length of what GET would bring (RFC 9110, section 9.3.2).
        length = answer.getheader("Content-Length", "0") if self.command == "HEAD" else str(len(content))
        self.send_header("Content-Length", length)
        self.end_headers()
        self.wfile.write(content)

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def body(self):
        """The whole body, however its length is told (RFC 9112, sections 6.3 and 7.1)."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(chunks)

    def release(self):
        if pathlib.PurePosixPath(self.path).name != "rock-matrix-x86_64-linux":
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Length", str(pathlib.Path(program[0]).stat().st_size))
        self.end_headers()
        with open(program[0], "rb") as file:
            shutil.copyfileobj(file, self.wfile)


print(front(first), flush=True)
