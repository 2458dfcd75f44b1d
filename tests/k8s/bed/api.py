"""The plainest client of the bed's API server: one connection, JSON, an administrator."""
import contextlib
import http.client
import json
import socket
import ssl

import keeper


class Refused(Exception):
    """What the server said; `code` is its HTTP status."""

    def __init__(self, code, body):
        super().__init__(f"{code} {body.get('reason', '')}: {body.get('message', body)}")
        self.code = code


class Api(http.client.HTTPSConnection):
    """With a directory, from outside: its connection is opened in that bed's network."""

    def __init__(self, pki, directory=None):
        context = ssl.create_default_context(cafile=f"{pki}/ca.crt")
        context.load_cert_chain(f"{pki}/admin.crt", f"{pki}/admin.key")
        super().__init__(keeper.ADDRESS, 6443, context=context, timeout=30)
        self.directory = directory

    def connect(self):
        with keeper.inside_network(self.directory) if self.directory else contextlib.nullcontext():
            super().connect()
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def call(self, method, path, body=None, content_type="application/json"):
        """The answer's object. A connection that broke is opened again by the next call."""
        text = None if body is None else json.dumps(body)
        try:
            self.request(method, path, text, {"Content-Type": content_type} if text else {})
            with self.getresponse() as response:
                said = response.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        if response.headers.get_content_type() != "application/json":
            said = json.dumps({"message": said.decode()})
        answer = json.loads(said)
        if response.status >= 300:
            raise Refused(response.status, answer)
        return answer

    def get(self, path):
        return self.call("GET", path)

    def post(self, path, body):
        return self.call("POST", path, body)
