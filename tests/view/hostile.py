#!/usr/bin/env python3
"""hostile.py STRATA CAPTURE [REQUESTS] - hostile clients of `strata view`: each is refused or served, and others go on.

Foreign hosts and origins, wrong tokens, paths, methods, hostile SQL, long heads and bodies, a thousand connections, slow
and half-closed ones; captures that are deleted, no browser; then REQUESTS tiles (default 300) over one connection, after which the memory is what it was.
"""
import concurrent.futures
import http.client
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from viewer import Viewer  # noqa: E402

STRATA, CAPTURE = sys.argv[1:3]
REQUESTS = int(sys.argv[3]) if len(sys.argv) > 3 else 300
failures = []


def check(what, is_ok, seen=""):
    if not is_ok:
        failures.append(f"{what}: {seen}")


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
    # As many as a process may have files open, less what others of this one need; often that is 1024.
    crowd = [server.connect() for _ in range(min(1000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 200))]
    for i, client in enumerate(crowd):  # silent, half a head, half closed
        if i % 3 == 1:
            client.sendall(b"GET /api/state HTTP/1.1\r\nHost: ")
        if i % 3 == 2:
            client.shutdown(socket.SHUT_WR)
    check("with %d connections" % len(crowd), server.is_prompt())
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
    bare = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    run = subprocess.run([STRATA, "view", CAPTURE, "--idle", "1"], capture_output=True, text=True, timeout=60, env=bare)
    check("no screen", run.returncode == 0 and run.stdout.startswith("http://127.0.0.1:") and "no screen" in run.stdout
          and "ssh -N -L" in run.stdout, run)


def browser(_):
    """xdg-open gets a file that leads to the address, which others cannot read, and which is gone at the end."""
    with tempfile.TemporaryDirectory() as folder:
        opener = os.path.join(folder, "xdg-open")
        with open(opener, "w", encoding="ascii") as script:
            script.write(f'#!/bin/sh\nls -l "$1" >{folder}/mode\ncat "$1" >{folder}/seen.part\nmv {folder}/seen.part {folder}/seen\nsleep 30\n')
        os.chmod(opener, 0o700)
        os.mkdir(os.path.join(folder, "run"))
        env = {**os.environ, "DISPLAY": ":0", "XDG_RUNTIME_DIR": os.path.join(folder, "run"), "PATH": folder + ":" + os.environ["PATH"]}
        with subprocess.Popen([STRATA, "view", CAPTURE], stdout=subprocess.PIPE, text=True, env=env) as process:
            url = process.stdout.readline().strip()
            end = time.time() + 20
            while not os.path.exists(folder + "/seen") and time.time() < end:
                time.sleep(0.02)
            with open(folder + "/seen", encoding="ascii") as seen, open(folder + "/mode", encoding="ascii") as mode:
                check("the file leads to the address", url in seen.read())
                check("the file is ours alone", mode.read().startswith("-rw-------"))
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            check("Ctrl-C is the usual end", process.wait(20) == 0, process.returncode)
        check("the file is gone", os.listdir(folder + "/run") == [], os.listdir(folder + "/run"))


def gone(_):
    """The capture is deleted, or cut short, once it is imported."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "capture")
        shutil.copytree(CAPTURE, copy)
        viewer = Viewer(STRATA, copy)
        asked = [("/api/slice?r=0&n=0",), ("/api/tiles?l=10&i=0&r=0",), ("/api/cut?from=0&to=1000000&as=chrome",), ("/api/page",),
                 ("/api/range?from=0&to=9000000&r=0",), ("/api/sql", "POST", b"SELECT count(*) FROM kernels"), ("/api/whatif?c=no_sync",)]
        before = [viewer.get(*one) for one in asked]
        for root, _, files in os.walk(copy):
            for name in files:
                os.truncate(os.path.join(root, name), 10)
        check("cut short", [viewer.get(*one) for one in asked] == before and before[0][0] == 200)
        shutil.rmtree(copy)
        check("deleted", [viewer.get(*one) for one in asked] == before)
        check("its end", viewer.end() == 0)


def main():
    server = Viewer(STRATA, CAPTURE)
    for part in (refusals, statements, parameters, bodies, crowds, many, messages, browser, gone):
        try:
            part(server)
        except OSError as error:
            check(part.__name__, False, error)
        if not server.is_alive():
            check(part.__name__, False, f"the viewer ended with {server.process.returncode}")
            break
    else:
        code = server.end()
        check("Ctrl-C", code == 0, code)
    print("\n".join(failures) or "refused or served: all")
    return bool(failures)


sys.exit(main())
