"""A `strata view` that is ready, with its port and token; for the tests beside it."""
import http.client
import re
import signal
import socket
import subprocess
import time


class Viewer:
    """Started on a capture; with `until` another phase is waited for than "ready"."""

    def __init__(self, strata, capture, *options, until="ready", env=None):
        self.process = subprocess.Popen([strata, "view", capture, "--no-browser", *options], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=env)
        self.port, self.token = re.search(r":(\d+)/#k=([0-9a-f]{32})$", self.process.stdout.readline()).groups()
        self.port = int(self.port)
        end = time.time() + 60
        while f'"{until}"' not in self.get("/api/state")[1]:
            assert time.time() < end, "not " + until
            time.sleep(0.05)

    def get(self, path, method="GET", body=None, **headers):
        """Status and text; headers that are None are left out, the token is there unless given."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        headers = {"Host": f"127.0.0.1:{self.port}", "Authorization": "Bearer " + self.token, **headers}
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            if value is not None:
                connection.putheader(name.replace("_", "-"), value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        text = answer.read().decode("utf-8", "replace")
        connection.close()
        return answer.status, text

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def memory(self):
        """KB in use."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))

    def is_alive(self):
        return self.process.poll() is None

    def is_prompt(self):
        began = time.time()
        return self.get("/api/state")[0] == 200 and time.time() - began < 5

    def end(self):
        """Ctrl-C; the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(20)
