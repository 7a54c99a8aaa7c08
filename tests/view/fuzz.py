#!/usr/bin/env python3
"""fuzz.py STRATA CAPTURE [SECONDS [SEED]] - random clients of `strata view` over real sockets, many at a time.

Each client makes a request of valid and invalid parts (method, path, parameters, headers, body, chunks), damages some of
its bytes, sends it whole, in pieces, slowly or not to the end, half-closes, reads all, some or nothing. Meanwhile a good
client asks for the state twice a second and is answered; at the end the viewer is alive, the memory is what it was, and
Ctrl-C ends it.
"""
import os
import random
import socket
import sys
import threading
import time

sys.argv[1:] = sys.argv[1:] or ["--help"]
if sys.argv[1] == "--help":
    sys.exit(__doc__)
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from viewer import Viewer  # noqa: E402

SECONDS = float(sys.argv[3]) if len(sys.argv) > 3 else 2
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
CLIENTS = 12

PATHS = ["/", "/api/state", "/api/page", "/api/page?early=1", "/api/tiles", "/api/slice", "/api/range", "/api/search",
         "/api/tables", "/api/sql", "/api/whatif", "/api/cut", "/../../etc/passwd", "/api/%2e%2e/x", "//", "*", ""]
NAMES = ["s", "l", "i", "r", "n", "q", "c", "from", "to", "as", "max", "gaps", "early", "", "%00", "x" * 300]
VALUES = ["0", "1", "9", "30", "0-9", "0,1,2", "-1", "99999999999999999999", "1e9", "chrome", "perfetto", "no_sync", "a",
          "%", "%zz", "%00", "%f0%9f%92%a9", "\xff\xfe", "x" * 3000, "", "0-", ",", "1000000000", "43"]
STATEMENTS = [b"SELECT 1", b"SELECT name, ts, dur FROM kernels LIMIT 5", b"DROP TABLE kernels", b"", b"\0", b"(" * 5000,
              b"SELECT '" + b"x" * 60000 + b"'", b"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r"]


def request(rng, viewer):
    """Bytes of a request, more often good than not in each part."""
    path = rng.choice(PATHS)
    if rng.random() < 0.7:
        path += "?" + "&".join(rng.choice(NAMES) + "=" + rng.choice(VALUES) for _ in range(rng.choice([1, 3, 4, 5, 40])))
    is_sql = path.startswith("/api/sql")
    method = rng.choice(["GET"] * 8 + ["POST", "HEAD", "OPTIONS", "PUT", "G" * 5000]) if not is_sql else "POST"
    host = rng.choice([f"127.0.0.1:{viewer.port}"] * 8 + [f"localhost:{viewer.port}", "evil.example", "", f"127.0.0.1:{viewer.port}\0"])
    token = rng.choice([viewer.token] * 8 + ["", viewer.token[:31], "0" * 32, "x" * 9000])
    head = [f"{method} {path} HTTP/{rng.choice(['1.1'] * 9 + ['1.0', '9.9', ''])}", f"Host: {host}", f"Authorization: Bearer {token}"]
    if rng.random() < 0.2:
        head.append(rng.choice(["Origin: null", "Origin: http://evil.example", "Sec-Fetch-Site: cross-site", "Connection: close",
                                "Expect: 100-continue", "Upgrade: websocket", ": x", "X" * 20000, "Cookie: " + "a=b; " * 500]))
    body = rng.choice(STATEMENTS) if is_sql or rng.random() < 0.1 else b""
    if body or rng.random() < 0.1:
        how = rng.random()
        if how < 0.6:
            head.append(f"Content-Length: {len(body)}")
        elif how < 0.8:
            head.append("Content-Length: " + rng.choice(["1073741824", "-1", "99999999999999999999", "x", "", "65537"]))
        else:
            head.append("Transfer-Encoding: chunked")
            body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:100], body[100:], b""))
    data = bytearray("\r\n".join(head).encode("latin-1", "replace") + b"\r\n\r\n" + body)
    for _ in range(rng.choice([0, 0, 0, 1, 3, 30]) if data else 0):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data) if rng.random() < 0.97 else rng.randbytes(rng.randrange(1, 5000))


def send(rng, client, data):
    manner = rng.random()
    if manner < 0.5:
        client.sendall(data)
    elif manner < 0.8:
        at = 0
        while at < len(data):
            n = rng.randrange(1, 200)
            client.sendall(data[at:at + n])
            at += n
    elif manner < 0.9:
        for i in range(0, min(len(data), 60), 7):
            client.sendall(data[i:i + 7])
            time.sleep(0.02)
    else:
        client.sendall(data[:rng.randrange(len(data) + 1)])


def one(rng, viewer):
    with socket.create_connection(("127.0.0.1", viewer.port), timeout=5) as client:
        for _ in range(rng.choice([1, 1, 1, 2, 5])):  # pipelined
            send(rng, client, request(rng, viewer))
        end = rng.random()
        if end < 0.3:
            client.shutdown(socket.SHUT_WR)
        if end < 0.8:
            client.settimeout(0.3)
            while client.recv(1 << 16) and rng.random() < 0.95:
                pass


def clients(viewer, seed, end, counts):
    rng = random.Random(seed)
    while time.time() < end and viewer.is_alive():
        try:
            one(rng, viewer)
        except OSError:
            pass
        counts[seed - SEED] += 1


def main():
    viewer = Viewer(sys.argv[1], sys.argv[2])
    end = time.time() + SECONDS
    counts = [0] * CLIENTS
    crowd = [threading.Thread(target=clients, args=(viewer, SEED + i, end, counts)) for i in range(CLIENTS)]
    for client in crowd:
        client.start()
    slowest, memory, failures = 0.0, 0, []
    while time.time() < end and viewer.is_alive() and not failures:
        began = time.time()
        try:
            status = viewer.get("/api/state")[0]
        except OSError as error:
            status = str(error)
        slowest = max(slowest, time.time() - began)
        if status not in (200, 503) or time.time() - began > 5:
            failures.append(f"the good client: {status} after {time.time() - began:.1f} s")
        if memory == 0 and time.time() > end - SECONDS * 2 / 3:
            memory = viewer.memory()
        time.sleep(0.5)
    for client in crowd:
        client.join()
    if not viewer.is_alive():
        failures.append(f"the viewer ended with {viewer.process.returncode}")
    else:
        after = viewer.memory()
        if after - memory > 32 << 10:
            failures.append(f"memory: {memory} KB, then {after} KB")
        if viewer.end() != 0:
            failures.append("Ctrl-C")
        print(f"{sum(counts)} connections in {SECONDS:.0f} s: the good client waited {slowest:.2f} s at most; "
              f"{memory} KB after a third, {after} KB at the end")
    print("\n".join(failures) or "refused or served: all")
    return bool(failures)


sys.exit(main())
