"""A judge's browser, as far as tests need one: it keeps its cookie and speaks JSON."""

import json
from contextlib import contextmanager
from http.client import HTTPConnection
from threading import Thread
from urllib.parse import urlencode


class Answered:
    def __init__(self, response):
        self.status_code, self.headers = response.status, {name.lower(): value for name, value in response.getheaders()}
        self.text = response.read().decode()

    def json(self):
        return json.loads(self.text)


class Browser:
    def __init__(self, port):
        self._port, self._cookie = port, None
        self._line = HTTPConnection("127.0.0.1", port, timeout=30)

    def get(self, path, params=None):
        return self.ask("GET", path + (f"?{urlencode(params)}" if params else ""))

    def post(self, path, json=None, content=None, headers=None):
        return self.ask("POST", path, json, content, headers)

    def ask(self, method, path, said=None, content=None, headers=None):
        body = content if content is not None else None if said is None else json.dumps(said).encode()
        every = {} if body is None else {"content-type": "application/json", "content-length": str(len(body))}
        every |= {"host": f"127.0.0.1:{self._port}"} | (headers or {})
        every |= {"cookie": self._cookie} if self._cookie else {}
        self._line.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in every.items():
            self._line.putheader(name, value)
        self._line.endheaders(body)
        with self._line.getresponse() as response:  # a server that is killed leaves it half read
            found = Answered(response)
        if "set-cookie" in found.headers:
            self._cookie = found.headers["set-cookie"].partition(";")[0]
        if found.status_code >= 400:
            self._line.close()
        return found

    def close(self):
        self._line.close()


@contextmanager
def serving(app):
    """The port of a server in a thread of its own."""
    import uvicorn

    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", ws="none", lifespan="off")
    server, found = uvicorn.Server(config), config.bind_socket()
    found.listen()
    thread = Thread(target=server.run, args=([found],))
    thread.start()
    try:
        yield found.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()
        found.close()
