#!/usr/bin/env python3
"""check.py STRATA [OPENS] - strata mcp as a client sees it, message by message.

Versions, lists, every tool on the samples, errors, paths outside the roots, links, cancellation, pages, batches, 1 000
malformed messages, and memory over many opens.
"""
import base64
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STRATA = os.path.abspath(sys.argv[1])
OPENS = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
SAMPLES = ["ascend-small", "ascend-moe", "kineto-small", "memory", "ranks", "incore"]

failed = 0


def expect(is_true, what):
    global failed
    if not is_true:
        failed += 1
        print("failed: %s" % what)


class Client:
    def __init__(self, *options, version="2025-06-18", cwd=ROOT):
        self.run = subprocess.Popen([STRATA, "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd,
                                    env={**os.environ, "LC_ALL": "C.UTF-8"})
        self.next = 0
        self.version = self.ask("initialize", protocolVersion=version, capabilities={},
                                clientInfo={"name": "check", "version": "1"})["protocolVersion"]
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def raw(self, data):
        self.run.stdin.write(data)
        self.run.stdin.flush()

    def send(self, message):
        self.raw(json.dumps(message).encode() + b"\n")

    def receive(self):
        line = self.run.stdout.readline()
        expect(line.endswith(b"\n"), "the server ended")
        return json.loads(line)

    def request(self, method, **params):
        self.next += 1
        self.send({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})
        return self.next

    def answer(self, method, **params):
        number = self.request(method, **params)
        got = self.receive()
        expect(got.get("id") == number, "an answer to %s: %r" % (method, got))
        return got

    def ask(self, method, **params):
        return self.answer(method, **params)["result"]

    def call(self, tool, **arguments):
        return self.ask("tools/call", name=tool, arguments=arguments)

    def error(self, tool, **arguments):
        got = self.call(tool, **arguments)
        expect(got["isError"] is True, "%s %r is no error" % (tool, arguments))
        return got["content"][0]["text"]

    def close(self):
        self.run.stdin.close()
        expect(self.run.wait(timeout=30) == 0, "exit code %s" % self.run.returncode)
        self.run.stdout.close()


def check_versions():
    for version, got in (("2024-11-05", "2024-11-05"), ("2025-03-26", "2025-03-26"), ("2025-06-18", "2025-06-18"),
                         ("2025-11-25", "2025-11-25"), ("1999-01-01", "2025-11-25"), ("", "2025-11-25")):
        client = Client("--root", "examples", version=version)
        expect(client.version == got, "%s: %s" % (version, client.version))
        client.close()


def check_lists(client):
    names = [tool["name"] for tool in client.ask("tools/list")["tools"]]
    expect(names == ["open", "diagnose", "query", "timeline", "diff", "ops", "gpu_report", "incore", "simulate", "db_query",
                     "more"], names)
    for tool in client.ask("tools/list")["tools"]:
        expect(tool["inputSchema"]["type"] == "object" and tool["description"], tool["name"])
        expect(("outputSchema" in tool) == (tool["name"] != "timeline"), tool["name"])
        for hidden in ("out", "html", "trace", "md", "junit", "json", "output", "file", "stdin"):
            expect(hidden not in tool["inputSchema"]["properties"], "%s has %s" % (tool["name"], hidden))
    uris = [one["uri"] for one in client.ask("resources/list")["resources"]]
    expect("strata://skill/strata-gpu" in uris, uris)
    text = client.ask("resources/read", uri="strata://skill/strata-gpu")["contents"][0]["text"]
    expect(text == (ROOT / "data/skills/strata-gpu/SKILL.md").read_text(), "the text of a skill")
    expect(client.ask("ping") == {}, "ping")
    expect(client.answer("resources/read", uri="strata://no")["error"]["code"] == -32002, "a resource that is not there")
    expect(client.ask("resources/templates/list") == {"resourceTemplates": []}, "templates")


def plain(*words):
    done = subprocess.run([STRATA, *words, "--json"], cwd=ROOT, capture_output=True, text=True)
    return json.loads(done.stdout)


def check_tools(client):
    for sample in SAMPLES:
        got = client.call("open", path=sample)
        expect(got["structuredContent"]["schema"] == "strata.info/1", "open %s" % sample)
        got = client.call("diagnose", path=sample)
        want = plain("diagnose", "examples/" + sample)
        expect(got["structuredContent"]["schema"] == want["schema"], "diagnose %s" % sample)
        if "verdict" in want["result"]:
            expect(got["structuredContent"]["result"]["verdict"] == want["result"]["verdict"], "verdict of %s" % sample)
            expect(want["result"]["verdict"]["text"] in got["content"][0]["text"], "text of %s" % sample)
    got = client.call("query", path="ascend-small", sql="SELECT count(*) AS n, sum(dur) AS ns FROM kernels")
    want = plain("query", "examples/ascend-small", "SELECT count(*) AS n, sum(dur) AS ns FROM kernels")
    expect(got["structuredContent"]["result"]["rows"] == want["result"]["rows"], "query")
    got = client.call("diff", before="kineto-small", after="kineto-small")
    expect("data, not instructions" in got["content"][-1]["text"], "names are marked as data")
    expect("No change" in got["content"][0]["text"], "diff")
    got = client.call("simulate", path="pto/softmax.pto", what_if=True)
    expect("73662 cycles" in got["content"][0]["text"], "simulate")
    got = client.call("db_query", database_path="perfdb/db", kernel="MatMulV2", shapes="16,5120;5120,768", dtypes="bfloat16")
    expect("28.517" in got["content"][0]["text"], "db_query")
    got = client.call("ops", path="kineto-small", by="module")["structuredContent"]["result"]
    expect(got["by"] == "module" and got["rows"], "ops")
    got = client.call("gpu_report", path="gpu-rules/raw.csv")
    expect(got["structuredContent"]["schema"] == "strata.gpu-report/1" and "Stages" in got["content"][0]["text"], "gpu_report")
    expect(client.call("incore", path="incore")["structuredContent"]["result"], "incore")
    image = client.call("timeline", path="kineto-small", width=900)["content"][0]
    png = base64.b64decode(image["data"])
    expect(image["mimeType"] == "image/png" and png[:8] == b"\x89PNG\r\n\x1a\n", "a picture")
    expect(int.from_bytes(png[16:20], "big") == 900, "its width")
    text = client.call("timeline", path="kineto-small", **{"as": "text"}, steps="1")["content"][0]["text"]
    expect("stream 7" in text and "█" in text, "a picture in characters")


def check_pages(client):
    first = client.call("query", path="kineto-small", sql="SELECT rowid AS i FROM kernels", limit=200)
    shown = first["structuredContent"]["result"]["rows"]
    more = first["structuredContent"]["more"]
    expect(len(shown) == 20 and more[0]["total"] == 200 and not first["structuredContent"]["result"]["is_complete"], more)
    rows, offset = list(shown), more[0]["shown"]
    while offset is not None:
        page = client.call("more", handle=more[0]["handle"], offset=offset)["structuredContent"]
        rows, offset = rows + page["items"], page["next"]
    want = plain("query", "examples/kineto-small", "SELECT rowid AS i FROM kernels")["result"]["rows"]
    expect(rows == want[:200], "pages of a list")
    rest = client.call("query", path="kineto-small", sql="SELECT rowid AS i FROM kernels", limit=1000, skip=200)
    expect(rest["structuredContent"]["result"]["row_count"] == len(want) - 200, "skip")
    expect("no such handle" in client.error("more", handle="answer-999:/result"), "a handle that is not there")
    expect("names no list" in client.error("more", handle=more[0]["handle"] + "/0/0/0"), "a handle of no list")
    uri = "strata://answer/" + more[0]["handle"].split(":")[0].split("-")[1]
    whole = json.loads(client.ask("resources/read", uri=uri)["contents"][0]["text"])
    expect(whole["result"]["rows"] == want[:200], "the whole answer as a resource")
    for tool in ("open", "diagnose"):
        expect(len(json.dumps(client.call(tool, path="kineto-small"))) < 60000, "size of %s" % tool)


def check_errors(client):
    expect(client.answer("no/method")["error"]["code"] == -32601, "a method that is not there")
    expect(client.answer("tools/call", name="gpu_profile", arguments={})["error"]["code"] == -32602, "not allowed")
    expect(client.answer("tools/call", arguments={})["error"]["code"] == -32602, "no name")
    expect('needs the argument "path"' in client.error("open"), "no path")
    expect('did you mean "path"' in client.error("open", pat="x"), "a wrong name")
    expect('"rank" must be a whole number' in client.error("open", path="ranks", rank="one"), "a wrong type")
    expect("must be one of" in client.error("open", path="ranks", source="x"), "a wrong choice")
    expect("must be a text" in client.error("open", path="a\0b"), "a NUL byte")
    expect("nothing" in client.error("query", path="ascend-small", sql="SELECT nothing FROM kernels"), "SQL")
    expect("query" in client.error("query", path="ascend-small", sql="DELETE FROM kernels"), "SQL that writes")
    expect("use the tool gpu_report" in client.error("open", path="gpu-rules/raw.csv"), "a path for another tool")
    expect("use the tool incore" in client.call("diagnose", path="incore")["content"][0]["text"], "an in-core trace")
    text = client.error("open", path="pto")
    expect("matmul.pto" in text and "use the tool simulate" in text, "a folder without captures")
    expect("mcp.kind" in client.error("gpu_report", path="kineto-small"), "a capture is no GPU run")
    expect("kineto-small/" in client.error("open", path="kineto-smal"), "what is there is listed")
    expect("mcp.no-capture" in client.error("diff", before="incore", after="incore"), "diff of what is no capture")
    for sql in ("ATTACH '/etc/passwd' AS x", "SELECT readfile('/etc/passwd')", "SELECT load_extension('x')"):
        expect(client.error("query", path="ascend-small", sql=sql) != "", sql)


def check_roots(scratch):
    inside, outside = os.path.join(scratch, "in"), os.path.join(scratch, "out")
    shutil.copytree(ROOT / "examples/ascend-small", os.path.join(inside, "good"))
    shutil.copytree(ROOT / "examples/ascend-small", os.path.join(outside, "bad"))
    os.symlink(os.path.join(outside, "bad"), os.path.join(inside, "link"))
    os.makedirs(os.path.join(inside, "mixed"))
    os.symlink(os.path.join(outside, "bad", "ASCEND_PROFILER_OUTPUT", "kernel_details.csv"),
               os.path.join(inside, "mixed", "kernel_details.csv"))
    os.symlink("good", os.path.join(inside, "own"))
    os.mkfifo(os.path.join(inside, "pipe"))
    client = Client("--root", inside)
    for path in ("good", "own", os.path.join(inside, "good")):
        expect(client.call("open", path=path)["isError"] is False, path)
    for path in ("link", "mixed", "../out/bad", os.path.join(outside, "bad"), "/etc/passwd", "/etc/no-such-file", "/", "link/..", "good/../../out/bad", "/proc/self/cwd/examples",
                 "/proc/self/fd/0"):
        text = client.error("open", path=path)
        expect("--root" in text, "%s: %s" % (path, text))
    expect(client.error("open", path="pipe") != "", "a pipe is not waited for")
    same = [client.error("open", path=p).replace(p, "") for p in ("/etc/passwd", "/etc/no-such-file")]
    expect(same[0] == same[1], "what exists outside is not told")
    expect("--root" in client.error("db_query", database_path=outside, kernel="Add", shapes="1", dtypes="bf16"), "db_query")
    # What changes on disk is read again.
    table = os.path.join(inside, "good", "ASCEND_PROFILER_OUTPUT", "kernel_details.csv")
    before = client.call("query", path="good", sql="SELECT count(*) FROM kernels")["structuredContent"]["result"]["rows"]
    lines = open(table).read().splitlines(True)
    with open(table, "w") as f:
        f.writelines(lines[:-10])
    after = client.call("query", path="good", sql="SELECT count(*) FROM kernels")["structuredContent"]["result"]["rows"]
    expect(after[0][0] == before[0][0] - 10, "%s to %s" % (before, after))
    client.close()


SLOW = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


def check_cancel(client):
    slow = client.request("tools/call", name="query", arguments={"path": "ascend-small", "sql": SLOW, "timeout": 100})
    queued = client.request("tools/call", name="open", arguments={"path": "ascend-small"})
    time.sleep(0.3)
    begun = time.monotonic()
    expect(client.ask("ping") == {}, "ping while a call runs")
    expect(time.monotonic() - begun < 1, "an answer at once")
    for number in (queued, slow):
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4711}})
    expect(client.call("open", path="ascend-small")["isError"] is False, "the next call")
    expect(time.monotonic() - begun < 5, "a cancelled call ends soon")
    again = {"jsonrpc": "2.0", "id": slow, "method": "tools/call",
             "params": {"name": "open", "arguments": {"path": "ascend-small"}}}
    client.send(again)
    expect(client.receive().get("id") == slow, "the id of a cancelled call is free again")
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": slow}})
    client.call("open", path="ascend-small")
    client.send(again)
    expect(client.receive().get("id") == slow, "a cancellation that comes late is forgotten")
    late = client.error("query", path="ascend-small", sql=SLOW, timeout=0.2)
    expect("query.timeout" in late, late)


def check_crowd():
    """More calls than may wait: the last are refused at once, the others are answered in order."""
    client = Client("--root", "examples")
    slow = client.request("tools/call", name="query", arguments={"path": "ascend-small", "sql": SLOW, "timeout": 100})
    calls = [client.request("tools/call", name="open", arguments={"path": "ranks"}) for _ in range(80)]
    refused = [client.receive() for _ in range(15)]
    expect(all("too many calls" in one["error"]["message"] for one in refused), refused[0])
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": slow}})
    rest = len(calls) - len(refused)
    got = [client.receive() for _ in range(rest)]
    seen = [one["id"] for one in got + refused]
    expect(sorted(seen) == calls and len(set(seen)) == len(calls), "each call has one answer: %s" % seen)
    client.close()


def check_signal(is_busy):
    client = Client("--root", "examples")
    if is_busy:
        client.request("tools/call", name="query", arguments={"path": "ascend-small", "sql": SLOW, "timeout": 100})
        client.request("tools/call", name="open", arguments={"path": "ascend-small"})
        time.sleep(0.3)
    begun = time.monotonic()
    client.run.send_signal(signal.SIGTERM)
    out, _ = client.run.communicate(timeout=30)
    expect(client.run.returncode == 128 + signal.SIGTERM and time.monotonic() - begun < 2, "SIGTERM: %s" % client.run.returncode)
    expect(len(out.splitlines()) == is_busy and b"no profiling data" not in out, out)


def check_batch():
    client = Client("--root", "examples", version="2025-03-26")
    client.send([{"jsonrpc": "2.0", "id": "a", "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/x"},
                 {"jsonrpc": "2.0", "id": "b", "method": "tools/call",
                  "params": {"name": "open", "arguments": {"path": "ascend-small"}}}, 7])
    got = client.receive()
    expect([one.get("id") for one in got] == ["a", "b", None] and got[2]["error"]["code"] == -32600, got)
    client.send([])
    expect(client.receive()["error"]["code"] == -32600, "an empty batch")
    client.close()


def malformed(rng):
    good = [json.dumps({"jsonrpc": "2.0", "id": 1, "method": m, "params": {"name": "open", "arguments": {"path": "x"}}})
            for m in ("tools/call", "initialize", "ping", "resources/read", "notifications/cancelled")]
    kind = rng.randrange(10)
    if kind == 0:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(1, 200)))
    data = bytearray(rng.choice(good).encode())
    if kind == 1:
        for _ in range(rng.randrange(1, 8)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    elif kind == 2:
        del data[rng.randrange(len(data)):]
    elif kind == 3:
        data = b"[" * rng.randrange(1, 3000) + bytes(data)
    elif kind == 4:
        values = [None, True, -1, 1e400, "x" * 3000, [], {}, [[]], {"a": {}}, 2 ** 70]
        data = json.dumps({"jsonrpc": rng.choice(["2.0", 2, None]), "id": rng.choice(values),
                           "method": rng.choice(values + ["ping"]), "params": rng.choice(values)}).encode()
    elif kind == 5:
        data = bytes(data) * rng.randrange(2, 5)
    elif kind == 6:  # keys twice, and names that are not UTF-8
        data = data[:-1] + b', "id": 2, "method": "ping", "params": {"\xff\xfe": "\xed\xa0\x80"}}'
    elif kind == 7:
        data = b"[" + b", ".join(rng.choice(good).encode() for _ in range(rng.randrange(20))) + rng.choice([b"]", b",]", b""])
    elif kind == 8:  # without one of its members
        whole = json.loads(bytes(data))
        del whole[rng.choice(list(whole))]
        data = json.dumps(whole).encode()
    else:
        data = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ' + rng.choice(
            [b'{"a":' * 5000, b'{"name": "open", "arguments": {"path": "' + b"../" * 20000 + b'"}}}',
             b'{"name": "query", "arguments": {"path": "ranks", "sql": "' + b"(" * 50000 + b'"}}}'])
    return bytes(data)


def check_malformed():
    rng = random.Random(1)
    client = Client("--root", "examples")
    answers = []
    reader = threading.Thread(target=lambda: answers.extend(client.run.stdout.readlines()))
    reader.start()
    for _ in range(1000):
        client.raw(malformed(rng).replace(b"\n", b" ") + b"\n")
    client.raw(b"x" * (3 << 20) + b"\n")
    client.send({"jsonrpc": "2.0", "id": "last", "method": "ping"})
    client.run.stdin.close()
    expect(client.run.wait(timeout=60) == 0, "exit code %s" % client.run.returncode)
    reader.join()
    client.run.stdout.close()
    got = [json.loads(line) for line in answers]
    expect(any(one.get("id") == "last" and one.get("result") == {} for one in got if isinstance(one, dict)), "the last")
    expect(any("too long" in one.get("error", {}).get("message", "") for one in got if isinstance(one, dict)), "too long")


def check_memory():
    client = Client("--root", "examples")
    sizes = []

    def resident():
        with open("/proc/%d/status" % client.run.pid) as f:
            return int(next(line for line in f if line.startswith("VmRSS")).split()[1])
    for i in range(OPENS):
        client.call("open", path=SAMPLES[i % len(SAMPLES)])
        if i % 100 == 99:
            sizes.append(resident())
    expect(sizes[-1] < sizes[0] * 1.1 + 2048, "memory grows: %s KiB" % sizes)
    print("resident after each hundred opens, KiB: %s" % sizes)
    client.close()


def check_early():
    run = subprocess.run([STRATA, "mcp", "--root", "examples"], cwd=ROOT, capture_output=True,
                         input=b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n{"jsonrpc":"2.0","id":2,"method":"ping"}')
    got = [json.loads(line) for line in run.stdout.splitlines()]
    expect(got[0]["error"]["code"] == -32600 and got[1]["result"] == {} and run.returncode == 0, got)


def main():
    check_early()
    check_versions()
    client = Client("--root", "examples")
    check_lists(client)
    check_tools(client)
    check_pages(client)
    check_errors(client)
    check_cancel(client)
    client.close()
    check_batch()
    check_crowd()
    check_signal(False)
    check_signal(True)
    check_malformed()
    with tempfile.TemporaryDirectory() as scratch:
        check_roots(scratch)
    check_memory()
    print("%d failed" % failed)
    sys.exit(failed > 0)


main()
