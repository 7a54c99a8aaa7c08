#!/usr/bin/env python3
"""hostile.py STRATA CAPTURE [REQUESTS] - hostile clients of `strata view`: each is refused or served, and others go on.

Foreign hosts and origins, wrong tokens, paths, methods, hostile SQL, long heads and bodies, a thousand connections, slow
and half-closed ones; then REQUESTS tiles (default 300) over one connection, after which the memory is what it was.
"""
import concurrent.futures
import http.client
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time

STRATA, CAPTURE = sys.argv[1:3]
REQUESTS = int(sys.argv[3]) if len(sys.argv) > 3 else 300
failures = []


def check(what, is_ok, seen=""):
    if not is_ok:
        failures.append(f"{what}: {seen}")


class Server:
    """A viewer that is ready, with its port and token."""

    def __init__(self, *options):
        self.process = subprocess.Popen([STRATA, "view", CAPTURE, "--no-browser", *options], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.port, self.token = re.search(r":(\d+)/#k=([0-9a-f]{32})$", self.process.stdout.readline()).groups()
        self.port = int(self.port)
        end = time.time() + 60
        while '"ready"' not in self.get("/api/state")[1]:
            assert time.time() < end, "not ready"
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
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))

    def is_prompt(self):
        began = time.time()
        return self.get("/api/state")[0] == 200 and time.time() - began < 5

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(20)


def refusals(server):
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port + 1}", "", None):
        for path in ("/", "/api/state"):
            status = server.get(path, Host=host)[0]
            check(f"Host {host}", status in (400, 403), status)
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{server.port}"):
        check(f"Origin {origin}", server.get("/api/state", Origin=origin)[0] == 403)
    check("cross-site", server.get("/api/state", Sec_Fetch_Site="cross-site")[0] == 403)
    for token in (None, "", "Bearer", "Bearer " + "0" * 32, "Bearer " + server.token[:-1], "Bearer " + server.token + "0"):
        check(f"token {token}", server.get("/api/state", Authorization=token)[0] == 401)
    for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "/api/../etc/passwd", "//", "/api/page/", "/api/%00"):
        status, text = server.get(path)
        check(path, status in (400, 404) and "root:" not in text, status)
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "X" * 100):
        check(method, server.get("/api/state", method)[0] in (400, 405, 501))
    check("GET of SQL", server.get("/api/sql")[0] == 405)
    shell = server.get("/", Authorization=None)
    check("shell", shell[0] == 200 and server.token not in shell[1])


def statements(server):
    for sql in ("DROP TABLE kernels", "ATTACH '/etc/passwd' AS x", "PRAGMA database_list", "SELECT readfile('/etc/passwd')",
                "SELECT load_extension('/tmp/x')", "INSERT INTO kernels VALUES (1)", "", "\0", "SELECT", "'" * 1000,
                "SELECT * FROM kernels; DROP TABLE kernels", "VACUUM INTO '/tmp/strata-view-x.db'"):
        status, text = server.get("/api/sql", "POST", sql.encode())
        check(sql[:30], status == 400 and "error" in text and "root:" not in text, (status, text[:80]))
    check("no file was written", not os.path.exists("/tmp/strata-view-x.db"))
    endless = b"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
    with concurrent.futures.ThreadPoolExecutor() as pool:
        began = time.time()
        slow = pool.submit(server.get, "/api/sql", "POST", endless)
        time.sleep(0.3)
        check("others go on during a long statement", server.is_prompt())
        check("one statement at a time", server.get("/api/sql", "POST", b"SELECT 1")[0] == 503)
        check("a long statement ends", slow.result()[0] == 400 and time.time() - began < 15)
    rows = server.get("/api/sql", "POST", b"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 20000) SELECT n FROM r")[1]
    check("rows are limited", rows.endswith('"truncated":true}') and rows.count("[") == 10002, rows[-40:])


def parameters(server):
    for query in ("tiles", "tiles?l=10", "tiles?l=-1&i=0&r=0", "tiles?l=99&i=0&r=0", "tiles?l=10&i=99999999999&r=0",
                  "tiles?l=10&i=0&r=99999", "tiles?l=10&i=0&r=0-99", "tiles?l=1e3&i=0&r=0", "range?from=5&to=4&r=0",
                  "range?from=0&to=99999999999999999999&r=0", "search", "search?q=", "search?q=x&max=-1", "slice?r=0",
                  "slice?r=-1&n=0", "slice?r=0&n=4294967295", "cut?from=0&to=1", "cut?from=0&to=1&as=../x",
                  "tiles?s=7&l=10&i=0&r=0", "whatif?c=nothing", "tiles?" + "&".join(["l=1"] * 200)):
        status = server.get("/api/" + query)[0]
        check(query[:60], status in (400, 404), status)


def bodies(server):
    with server.connect() as client:  # a gigabyte is announced, and some of it sent
        client.sendall((f"POST /api/sql HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
                        "Content-Length: 1073741824\r\n\r\n").encode())
        check("a long body", b" 413 " in client.recv(100))
    with server.connect() as client:  # without a length
        try:
            client.sendall((f"POST /api/sql HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
                            "Transfer-Encoding: chunked\r\n\r\n").encode())
            for _ in range(2000):
                client.sendall(b"8000\r\n" + b"x" * 32768 + b"\r\n")
            check("an endless body", False, "was read")
        except OSError:
            pass
    with server.connect() as client:  # heads of a megabyte
        try:
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-Long: " + b"y" * (1 << 20))
            answer = client.recv(100)
            check("a long head", answer == b"" or b" 4" in answer, answer)
        except OSError:
            pass
    for junk in (b"\0" * 1000, b"GET", b"\r\n\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", os.urandom(4000)):
        with server.connect() as client:
            client.sendall(junk)
    check("after bodies", server.is_prompt())


def crowds(server):
    crowd = [server.connect() for _ in range(1000)]
    for i, client in enumerate(crowd):  # silent, half a head, half closed
        if i % 3 == 1:
            client.sendall(b"GET /api/state HTTP/1.1\r\nHost: ")
        if i % 3 == 2:
            client.shutdown(socket.SHUT_WR)
    check("with a thousand connections", server.is_prompt())
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        seen = list(pool.map(lambda _: server.get("/api/tiles?l=10&i=0&r=0")[0], range(64)))
    check("answers in a crowd", set(seen) <= {200, 503} and seen.count(200) > 32, seen)
    for client in crowd:
        client.close()
    reader = server.connect()  # asks for the page and does not read it
    reader.sendall(f"GET /api/page HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode())
    check("beside one that does not read", server.is_prompt())
    reader.close()


def many(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    headers = {"Authorization": "Bearer " + server.token}
    paths = ["/api/tiles?l=%d&i=0&r=0", "/api/range?from=0&to=%d000000&r=0", "/api/search?q=%x&max=5", "/api/slice?r=0&n=%d"]
    rng = random.Random(1)
    before = 0
    for i in range(REQUESTS):
        connection.request("GET", rng.choice(paths) % rng.randrange(1, 30), headers=headers)
        connection.getresponse().read()
        if i == REQUESTS // 3:
            before = server.memory()
    after = server.memory()
    check("memory stays", after - before < 8192, f"{before} KB, then {after} KB")
    print(f"{REQUESTS} requests: {before} KB after a third, {after} KB at the end")


def messages(server):
    run = subprocess.run([STRATA, "view", CAPTURE, "--no-browser", "--port", str(server.port)], capture_output=True, text=True, timeout=60)
    check("port in use", run.returncode == 3 and "[view.port]" in run.stderr, run.stderr)
    run = subprocess.run([STRATA, "view", "no-such-capture", "--no-browser"], capture_output=True, text=True, timeout=60)
    check("no capture", run.returncode == 3 and "no such file" in run.stderr, run.stderr)
    run = subprocess.run([STRATA, "view", CAPTURE, "--idle", "1"], capture_output=True, text=True, timeout=60,
                         env={k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")})
    check("no screen", run.returncode == 0 and run.stdout.startswith("http://127.0.0.1:"), run)


def main():
    server = Server()
    for part in (refusals, statements, parameters, bodies, crowds, many, messages):
        try:
            part(server)
        except OSError as error:
            check(part.__name__, False, error)
        if server.process.poll() is not None:
            check(part.__name__, False, f"the viewer ended with {server.process.returncode}")
            break
    else:
        code = server.end()
        check("Ctrl-C", code in (0, 130), code)
    print("\n".join(failures) or "refused or served: all")
    return bool(failures)


sys.exit(main())
