#!/usr/bin/env python3
"""strata gpu profile on stand-ins: every way a run can end, and what it leaves behind.

usage: profile.py STRATA FAKE_NVML
"""
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import make_cubin

STRATA, NVML = (os.path.abspath(p) for p in sys.argv[1:3])
HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.join(HERE, "..", "fake-bin")
PROGRAM = os.path.join(BIN, "gpu-program")


class Case(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="strata-gpu-")
        self.dir = self.scratch.name
        self.log = os.path.join(self.dir, "nvml.log")
        self.env = dict(os.environ, STRATA_NVML_PATH=NVML, STRATA_CUDA_PATH=NVML,
                        FAKE_NVML_LOG=self.log, FAKE_NVML_STATE=os.path.join(self.dir, "clock"),
                        XDG_STATE_HOME=os.path.join(self.dir, "state"),
                        XDG_CONFIG_HOME=os.path.join(self.dir, "config"),
                        STRATA_LOCK_DIR=self.dir, STRATA_NCU=os.path.join(BIN, "ncu"),
                        STRATA_NVDISASM=os.path.join(BIN, "nvdisasm"),
                        STRATA_CUOBJDUMP=os.path.join(BIN, "cuobjdump"))
        self.env.pop("CUDA_INJECTION64_PATH", None)

    def tearDown(self):
        self.scratch.cleanup()

    def start(self, *words, program=PROGRAM, **env):
        return subprocess.Popen([STRATA, "gpu", "profile", *words, "--", program], cwd=self.dir,
                                env=dict(self.env, **env), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def run_(self, *words, program=PROGRAM, **env):
        p = self.start(*words, program=program, **env)
        self.out, self.err = p.communicate(timeout=120)
        return p.returncode

    def calls(self):
        return open(self.log).read().splitlines() if os.path.exists(self.log) else []

    def folders(self, mode="annotation"):
        top = os.path.join(self.dir, "strata-out", "profiles", mode, "gpu-program", "default")
        return sorted(os.listdir(top)) if os.path.isdir(top) else []

    def until(self, condition, what):
        for _ in range(500):
            if condition():
                return
            time.sleep(0.02)
        self.fail("never: " + what)

    def is_clean(self):
        """No journal, and the lock is free."""
        state = os.path.join(self.dir, "state", "strata")
        return not os.path.isdir(state) or not os.listdir(state)


class Timeline(Case):
    def test_tables_and_sections(self):
        self.assertEqual(self.run_("--mode", "nsys", FAKE_GPU_RUNS="3"), 0, None)
        top = os.path.join(self.dir, "strata-out", "profiles", "nsys", "gpu-program", "default", "latest")
        with open(os.path.join(top, "timeline", "kernels.csv"), encoding="utf-8") as f:
            head, *rows = [line.rstrip("\n").split(",") for line in f]
        stage, name = head.index("stage"), head.index("short_name")
        self.assertEqual([r[stage] for r in rows], ["copy", "scale"] * 3)
        self.assertEqual([r[name] for r in rows], ["copy", "scale"] * 3)
        for table in ("memops", "api", "sync", "nvtx", "graphs", "streams", "overlap", "gaps"):
            self.assertTrue(os.path.isfile(os.path.join(top, "timeline", table + ".csv")), table)
        self.assertTrue(os.path.isfile(os.path.join(top, "timeline", "trace.json.gz")))
        report = os.path.join(top, "report.md")
        with open(report, encoding="utf-8") as f:
            text = f.read()
        found = [line[3:] for line in text.splitlines() if line.startswith("## ")][1:]
        self.assertEqual(found, ["Device", "Timeline summary", "Streams", "Overlap",
                                 "Launch latency", "Gaps", "CUDA graphs", "Top kernels", "Notes"])
        done = subprocess.run([STRATA, "gpu", "report", "--check", report], capture_output=True)
        self.assertEqual(done.returncode, 0)


class Clocks(Case):
    """In each case the recorded sequence ends with a reset if and only if a set succeeded."""

    LOCKED = ["set 1200 1200 = 0", "reset = 0"]

    def begin_slow(self):
        p = self.start("--clock", "1200", FAKE_GPU_SLEEP="20")
        self.until(lambda: self.calls() != [] and self.has_program(), "the program runs")
        return p

    def has_program(self):
        top = os.path.join(self.dir, "strata-out")
        return any(f.endswith(".strata") for _, _, files in os.walk(top) for f in files)

    def guardians(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                name = open("/proc/%s/comm" % pid).read().strip()
                environment = open("/proc/%s/environ" % pid).read()
            except OSError:
                continue
            if name == "strata-guardian" and self.dir in environment:
                found.append(int(pid))
        return found

    def programs(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = open("/proc/%s/cmdline" % pid).read().split("\0")
                environment = open("/proc/%s/environ" % pid).read()
            except OSError:
                continue
            if PROGRAM in words and "strata" not in os.path.basename(words[0]) and \
                    self.dir in environment:
                found.append(int(pid))
        return found

    def test_normal_exit(self):
        self.assertEqual(self.run_("--clock", "1200"), 0, None)
        self.assertEqual(self.calls(), self.LOCKED)
        self.assertTrue(self.is_clean())
        self.assertEqual(self.guardians(), [])

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                if os.path.exists(self.log):
                    os.remove(self.log)
                p = self.begin_slow()
                p.send_signal(number)
                p.communicate(timeout=60)
                self.assertEqual(p.returncode, 128 + number)
                self.assertEqual(self.calls(), self.LOCKED)
                self.assertTrue(self.is_clean())
                self.assertEqual(self.programs(), [])

    def test_kill_of_strata(self):
        p = self.begin_slow()
        p.kill()
        p.communicate(timeout=60)
        self.until(lambda: self.calls() == self.LOCKED, "the guardian resets")
        self.until(self.is_clean, "the guardian removes the journal")
        self.until(lambda: self.programs() == [], "the program ends")
        self.assertTrue(self.folders()[0].endswith(".partial"))
        self.assertEqual(self.run_(), 0)

    def test_crash_of_the_program(self):
        self.assertEqual(self.run_("--clock", "1200", FAKE_GPU_EXIT="-11"), 8)
        self.assertEqual(self.calls(), self.LOCKED)
        self.assertIn("signal 11", self.err)

    def test_killed_guardian(self):
        p = self.start("--clock", "1200", FAKE_GPU_SLEEP="3")
        self.until(lambda: self.calls() != [], "the clocks are locked")
        for pid in self.guardians():
            os.kill(pid, signal.SIGKILL)
        _, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 0)
        self.assertIn("gpu.guardian", err)
        self.assertEqual(self.calls(), self.LOCKED)
        self.assertTrue(self.is_clean())

    def test_no_permission_and_not_supported(self):
        for result, text in (("4", "no permission"), ("3", "not supported")):
            with self.subTest(result=result):
                self.assertEqual(self.run_("--clock", "1200", FAKE_NVML_SET=result), 4)
                self.assertIn(text, self.err)
                self.assertEqual(self.calls()[-1], "set 1200 1200 = " + result)
                self.assertTrue(self.is_clean())

    def test_second_instance(self):
        p = self.begin_slow()
        self.assertEqual(self.run_("--clock", "1200"), 6)
        self.assertIn("pid %d " % p.pid, self.err)
        self.assertIn("gpu-program", self.err)
        self.assertEqual(self.calls(), ["set 1200 1200 = 0"])
        p.terminate()
        p.communicate(timeout=60)
        self.assertEqual(self.calls(), self.LOCKED)

    def test_waiting(self):
        p = self.start(FAKE_GPU_SLEEP="2")
        self.until(self.has_program, "the program runs")
        self.assertEqual(self.run_("--wait", "60"), 0, None)
        p.communicate(timeout=60)

    def test_a_lock_of_somebody_else(self):
        with open(self.env["FAKE_NVML_STATE"], "w") as f:
            f.write("900\n")
        self.assertEqual(self.run_("--clock", "max"), 4)
        self.assertIn("gpu.clock-locked", self.err)
        self.assertEqual(self.calls(), [])

    def test_kills_at_random(self):
        """Whenever strata or the program is killed, the next run works and files are readable."""
        dice = random.Random(8)
        for turn in range(12):
            if os.path.exists(self.log):
                os.remove(self.log)
            p = self.start("--clock", "1200", FAKE_GPU_SLEEP="0.3")
            time.sleep(dice.uniform(0.02, 1.2))
            victims = [p.pid] if turn % 2 == 0 else self.programs()
            for pid in victims:
                with contextlib.suppress(ProcessLookupError):  # it may have ended by itself just now
                    os.kill(pid, signal.SIGKILL)
            p.communicate(timeout=60)
            self.until(self.is_clean, "the journal is gone")
            self.until(lambda: self.programs() == [], "the program ends")
            calls = self.calls()
            if "set 1200 1200 = 0" in calls:
                self.assertEqual(calls[-1], "reset = 0")
        self.assertEqual(self.run_(), 0)
        self.check_traces()

    def check_traces(self):
        top = os.path.join(self.dir, "strata-out")
        for folder, _, files in os.walk(top):
            for name in files:
                path = os.path.join(folder, name)
                if name.endswith(".strata") and os.path.getsize(path) > 16:
                    p = subprocess.run([STRATA, "info", path], capture_output=True, text=True)
                    self.assertEqual(p.returncode, 0, p.stderr)


class Results(Case):
    def test_annotation(self):
        self.assertEqual(self.run_(), 0, None)
        self.assertIn("| copy | 511.00 | 0.0 | 88.9 | 78.0 | Memory (dram) |", self.out)
        self.assertEqual(len([f for f in self.folders() if f.endswith(".partial")]), 0)
        self.assertIn("latest", self.folders())

    def counted(self):
        top = os.path.join(self.top("annotation"), "latest")
        with open(os.path.join(top, "kernels.json"), encoding="utf-8") as f:
            kernels = {k["name"]: k["metrics"] for k in json.load(f)["kernels"]}
        return kernels["copy"], sorted(os.listdir(os.path.join(top, "trace")))

    def test_launches_take_turns(self):
        """Half of the counters come from each of two launches; what a kernel that is launched only
        once does not have is said."""
        self.assertEqual(self.run_(), 0, None)
        often, folders = self.counted()
        self.assertEqual(folders, ["counters", "samples", "timing"])
        self.assertAlmostEqual(often["l2_hit"], 50.8)
        self.assertAlmostEqual(often["issue_pct"], 9.5)
        self.assertNotIn("too few", self.report("annotation"))
        self.assertEqual(self.run_(FAKE_GPU_RUNS="1"), 0, None)
        once, folders = self.counted()
        self.assertEqual(folders, ["counters", "samples", "timing"])
        self.assertNotIn("dram_rd", once)
        self.assertEqual(once["dur_ns"], often["dur_ns"])
        self.assertIn("copy: 6 of 10 counters; launches take turns with them, and there were too few",
                      self.report("annotation"))

    def test_resources(self):
        """Counters and timed runs do not tell registers: the plain run does, or nobody."""
        self.assertEqual(self.run_(), 0, None)
        text = self.report("annotation")
        self.assertIn("| copy | 2112x1x1 | 256x1x1 | – | 32 | 0 | 0 | 0 | 8 |", text)
        self.assertIn("| scale | 132x1x1 | 512x1x1 | – | 40 | 8192 | 0 | 0 | 3 | registers |", text)
        self.assertEqual(self.run_("--mode", "event", "--select", "^copy"), 0, None)
        top = os.path.join(self.top("event"), "latest")
        with open(os.path.join(top, "kernels.json"), encoding="utf-8") as f:
            metrics = json.load(f)["kernels"][0]["metrics"]
        for name in ("registers", "smem_static", "local_bytes_per_thread"):
            self.assertNotIn(name, metrics)

    def test_stages_that_could_overlap(self):
        """A declared group that ran in turn: annotation mode has its timeline and its counters."""
        path = os.path.join(self.dir, "spec.json")
        stages = [{"name": "a", "select": "^copy"}, {"name": "b", "select": "^scale"}]
        with open(path, "w") as f:
            json.dump({"kernel": "gpu-program", "stages": [{"name": "pair", "concurrent": stages}]}, f)
        self.assertEqual(self.run_("--spec", path), 0)
        # 509.2 and 60.2 us in turn; u = 0.889/0.9 and 0.2/0.9: 516 of 569 us is all their work.
        folder = os.path.join(self.top("annotation"), "latest")
        with open(os.path.join(folder, "kernels.json"), encoding="utf-8") as f:
            found, = json.load(f)["extra"]
        self.assertEqual((found["id"], found["trigger"]), (13, "E=0.00 of pair"))
        self.assertAlmostEqual(found["gain"], 9.3, delta=0.1)
        before = self.report("annotation")
        subprocess.run([STRATA, "gpu", "report", folder], capture_output=True, check=True)
        self.assertEqual(self.report("annotation"), before)

    def test_event_starts_again(self):
        self.assertEqual(self.run_("--mode", "event", "--select", "^copy", "--runs", "7",
                                   "--warmup", "1"), 0, None)
        # Five launches a start, one of them warm-up: four, then three.
        self.assertIn("the program ran 2 times for 7 timed runs", self.report("event"))
        self.assertIn("| gpu-program | 509.", self.out)

    def test_event_without_warm_up(self):
        self.assertEqual(self.run_("--mode", "event", "--select", "^copy", "--runs", "3",
                                   "--warmup", "9"), 0)
        self.assertIn("gpu.no-warmup", self.err)

    def test_ncu(self):
        log = os.path.join(self.dir, "ncu.log")
        self.assertEqual(self.run_("--mode", "ncu", FAKE_NCU_LOG=log), 0, None)
        self.assertIn("Memory (dram)", self.out)
        self.assertNotIn("| other |", self.out)  # tables inside a page are no kernels
        calls = open(log).read().splitlines()
        self.assertIn("--set full --import-source yes --clock-control none", calls[0])
        self.assertEqual(len(calls), 6)
        top = os.path.join(self.top("ncu"), "latest")
        self.assertIn("--page source --print-source ptx", calls[5])
        self.assertEqual(sorted(os.listdir(os.path.join(top, "ncu"))),
                         ["details.csv", "program.log", "raw.csv", "report.ncu-rep",
                          "source_cuda.csv", "source_ptx.csv", "source_sass.csv"])
        self.assertEqual(os.listdir(os.path.join(top, "ptx")), ["copy.ptx"])
        with open(os.path.join(top, "ptx", "copy.ptx"), encoding="utf-8") as f:
            self.assertTrue(f.read().startswith(".version 9.0\n.target sm_90a\n"))
        self.assertEqual(os.listdir(os.path.join(top, "source")), ["copy.copy.annotated.cu"])
        with open(os.path.join(top, "source", "copy.copy.annotated.cu"), encoding="utf-8") as f:
            self.assertIn("  98.0% |          33792 | stall_long_sb            |     to[i]", f.read())
        self.assertEqual(os.listdir(os.path.join(top, "sass")), ["copy.csv"])
        page = os.path.join(top, "ncu", "source_ptx.csv")
        for words in (["report", page], ["import", page, "--out", "taken"]):
            p = subprocess.run([STRATA, "gpu", *words], cwd=self.dir, capture_output=True, text=True)
            self.assertEqual(p.returncode, 0, p.stderr)
        self.assertEqual(os.listdir(os.path.join(self.dir, "taken", "ptx")), ["copy.ptx"])

    def test_ncu_with_ranges(self):
        """A range is a run of ncu of its own, and its kernels are the stage's."""
        log = os.path.join(self.dir, "ncu.log")
        path = os.path.join(self.dir, "spec.json")
        stages = [{"name": "a", "select": "^copy"}, {"name": "b", "select": "nvtx:step"},
                  {"name": "c", "select": "nvtx:other"}]
        with open(path, "w") as f:
            json.dump({"kernel": "gpu-program", "stages": stages}, f)
        self.assertEqual(self.run_("--mode", "ncu", "--spec", path, FAKE_NCU_LOG=log), 0)
        for stage in "abc":
            self.assertRegex(self.out, r"\| %s \| \d+\.\d\d \| .*Memory \(dram\)" % stage)
        with open(log) as f:
            runs = [line for line in f if line.startswith("--set full")]
        self.assertIn("--kernel-name regex:(^copy)", runs[0])
        self.assertNotIn("nvtx", runs[0])
        self.assertIn("--nvtx --nvtx-include step/", runs[1])
        self.assertNotIn("--kernel-name", runs[1])
        self.assertIn("--nvtx-include other/", runs[2])
        top = os.path.join(self.top("ncu"), "latest")
        self.assertEqual(sorted(f for f in os.listdir(top) if f.startswith("ncu")),
                         ["ncu", "ncu-2", "ncu-3"])

    def test_cold_caches_and_clock_source(self):
        """What is asked of the library is in its environment, and in run.json."""
        show = os.path.join(self.dir, "show")
        with open(show, "w") as f:
            f.write("#!/bin/sh\nenv | grep ^STRATA_INJECT >> %s/told\nexec %s\n" % (self.dir, PROGRAM))
        os.chmod(show, 0o755)
        self.assertEqual(self.run_("--mode", "event", "--select", "^copy", "--cache", "flush",
                                   "--clock-source", "mono", "--runs", "2", program=show), 0)
        with open(os.path.join(self.dir, "told")) as f:
            told = f.read().splitlines()
        # twice the L2 of the stand-in, which is that of an H200
        self.assertIn("STRATA_INJECT_FLUSH=%d" % (2 * 62914560), told)
        self.assertIn("STRATA_INJECT_CLOCK=mono", told)
        self.assertIn("STRATA_INJECT_MODULES=1", told)
        with open(os.path.join(self.dir, "strata-out", "profiles", "event", "show", "default", "latest",
                               "run.json")) as f:
            run = json.load(f)
        self.assertEqual((run["options"]["cache"], run["options"]["clock_source"]), ("flush", "mono"))
        self.assertEqual(run["device"]["name"], "NVIDIA H200")

    def test_event_tells_host_time_and_short_runs(self):
        self.assertEqual(self.run_("--mode", "event", "--select", "^scale", "--runs", "2"), 0)
        # 60.3 us, then 5 us until the stand-in launches the next one; it passes over the copies
        self.assertRegex(self.report("event"), r"\| 2 \| 60\.35 \|.*\| 65\.00 \|")
        self.assertNotIn("short for a pair", self.report("event"))
        self.assertEqual(self.run_("--mode", "event", "--select", "^scale", FAKE_GPU_SHORT="10"), 0)
        self.assertIn("are short for a pair of events", self.report("event"))
        self.assertNotIn("interpreter", self.report("event"))
        words = ["gpu", "profile", "--mode", "event", "--select", "^copy", "--", "python3", PROGRAM]
        subprocess.run([STRATA, *words], cwd=self.dir, env=self.env, capture_output=True, check=True)
        self.assertIn("run by an interpreter", self.report("event"))

    def test_nsys(self):
        self.assertEqual(self.run_("--mode", "nsys"), 0, None)
        text = self.report("nsys")
        for heading in ("Device", "Timeline summary", "Streams", "Overlap", "Launch latency", "Gaps",
                        "CUDA graphs", "Top kernels", "Notes"):
            self.assertEqual(text.count("\n## %s\n" % heading), 1, heading)
        files = os.listdir(os.path.join(self.top("nsys"), "latest", "timeline"))
        for name in ("kernels", "memops", "api", "sync", "nvtx", "graphs", "streams", "overlap",
                     "gaps"):
            self.assertIn(name + ".csv", files)
        self.assertIn("trace.json.gz", files)
        self.assertIn("trace.strata", files)

    def test_files(self):
        self.assertEqual(self.run_("--param", "b=4"), 0)
        folder = os.path.join(self.dir, "strata-out", "profiles", "annotation", "gpu-program", "b4",
                              "latest")
        with open(os.path.join(folder, "run.json")) as f:
            run = json.load(f)
        self.assertEqual(run["status"], "ok")
        self.assertEqual(run["command"], [PROGRAM])
        self.assertEqual(run["exit_code"], 0)
        self.assertEqual(run["clock"]["sm_mhz"]["median"], 1980)
        self.assertEqual(run["clock"]["power_w"], {"mean": 300, "limit": 700})
        with open(os.path.join(folder, "params.json")) as f:
            params = json.load(f)
        self.assertEqual(params["b"], 4)
        self.assertEqual(params["device"]["cc"], "9.0")
        self.assertAlmostEqual(params["peaks"]["gbps"], 4814.3, delta=0.1)

    def top(self, mode):
        return os.path.join(self.dir, "strata-out", "profiles", mode, "gpu-program", "default")

    def report(self, mode):
        return open(os.path.join(self.top(mode), "latest", "report.md")).read()

    def test_baseline_and_log(self):
        log = os.path.join(self.dir, "log.md")
        self.assertEqual(self.run_("--version", "v1", "--devlog", log), 0)
        self.assertNotIn("vs Baseline", self.out)
        self.assertEqual(self.run_("--version", "v2", "--devlog", log), 0)
        self.assertIn("### vs Baseline", self.out)
        self.assertIn("≈", self.out)
        with open(log) as f:
            text = f.read()
        self.assertIn("<!-- strata:begin v1 -->", text)
        self.assertIn("<!-- strata:begin v2 -->", text)
        self.assertEqual(self.run_("--baseline", "none"), 0)
        self.assertNotIn("vs Baseline", self.out)
        self.assertEqual(self.run_("--baseline", "latest", "--clock", "1200"), 0)
        self.assertIn("gpu.not-comparable", self.err)
        before = self.folders()
        self.assertEqual(self.run_("--baseline", "/nowhere"), 3)
        self.assertEqual(self.folders(), before, "told before anything runs")
        latest = os.path.join(self.dir, "strata-out", "profiles", "annotation", "gpu-program", "default",
                              "latest", "kernels.json")
        with open(latest, "w", encoding="utf-8") as f:
            f.write("{")
        self.assertEqual(self.run_("--baseline", "latest"), 0)
        self.assertIn("gpu.not-comparable", self.err)
        self.assertEqual(len(self.folders()), len(before) + 1)

    def test_a_report_made_again_is_the_same(self):
        for mode in ("annotation", "event", "ncu", "nsys"):
            with self.subTest(mode=mode):
                select = ["--select", "^copy"] if mode == "event" else []
                self.assertEqual(self.run_("--mode", mode, *select), 0)
                folder = os.path.join(self.top(mode), "latest")
                before = self.report(mode)
                p = subprocess.run([STRATA, "gpu", "report", folder], capture_output=True, text=True)
                self.assertEqual(p.returncode, 0, p.stderr)
                self.assertEqual(self.report(mode), before)
                p = subprocess.run([STRATA, "gpu", "report", "--check",
                                    os.path.join(folder, "report.md")], capture_output=True,
                                   text=True)
                self.assertEqual(p.returncode, 0, p.stdout + p.stderr)

    def check(self, document):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("no jsonschema")
        schema = subprocess.run([STRATA, "help", "--schema", document["schema"]], capture_output=True,
                                text=True, check=True).stdout
        jsonschema.validate(document, json.loads(schema))

    def test_documents(self):
        self.assertEqual(self.run_("--json"), 0)
        document = json.loads(self.out)
        self.check(document)
        self.assertEqual(document["result"]["stages"][0]["class"], "Memory")
        self.assertAlmostEqual(document["result"]["stages"][0]["uninstrumented_us"], 509.2)
        for words in (["clocks"], ["clocks", "restore"], ["doctor"]):
            p = subprocess.run([STRATA, "gpu", *words, "--json"], env=self.env, cwd=self.dir,
                               capture_output=True, text=True)
            self.assertEqual(p.returncode, 0, p.stderr)
            self.check(json.loads(p.stdout))

    def test_clocks_by_hand(self):
        def clocks(*words):
            p = subprocess.run([STRATA, "gpu", "clocks", *words], env=self.env, cwd=self.dir,
                               capture_output=True, text=True)
            return p.returncode
        self.assertEqual(clocks("lock", "--clock", "1215"), 0)
        self.assertFalse(self.is_clean())
        self.assertEqual(self.run_("--clock", "max"), 4)
        self.assertEqual(clocks("restore"), 0)
        self.assertTrue(self.is_clean())
        self.assertEqual(self.calls(), ["set 1215 1215 = 0", "reset = 0"])
        self.assertEqual(clocks("lock", "--clock", "none"), 2)
        self.assertEqual(clocks("--device", "5"), 3)

    def config(self, text, name="config/strata/config"):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)
        return path

    def test_default_clock(self):
        """The user's settings come before the site's, and the command line before both."""
        self.env["STRATA_SITE_CONFIG"] = self.config("gpu.clock.default = 1350\n", "site")
        self.assertEqual(self.run_(), 0, None)
        self.assertEqual(self.calls(), ["set 1350 1350 = 0", "reset = 0"])
        self.config("# ours\ngpu.clock.default = 1200 # MHz\n")
        self.assertEqual(self.run_(), 0, None)
        self.assertEqual(self.calls()[2:], ["set 1200 1200 = 0", "reset = 0"])
        self.assertEqual(self.run_("--clock", "none"), 0, None)
        self.assertEqual(len(self.calls()), 4)
        path = self.config("gpu.clock.default = fast\n")
        self.assertEqual(self.run_(), 3)
        self.assertIn(path + ":1: error: gpu.clock.default", self.err)

    def test_out_is_not_overwritten(self):
        self.assertEqual(self.run_("--out", "mine"), 0)
        self.assertEqual(self.run_("--out", "mine"), 3)
        self.assertIn("gpu.out-exists", self.err)

    def test_a_cut_file_gives_what_is_whole(self):
        self.assertIn(self.run_(FAKE_GPU_CUT="3", FAKE_GPU_SLEEP="0.01"), (0, 1))
        self.assertIn("copy", self.out)


class Code(Case):
    """The GPU code that the program loads, sorted by stage."""

    def module(self, kernels=make_cubin.DEMO, ptx=make_cubin.PTX % "_Z4copyPfPKfm"):
        path = os.path.join(self.dir, "code.cubin")
        with open(path, "wb") as f:
            f.write(make_cubin.build(kernels, ptx))
        return path

    def latest(self, mode):
        return os.path.join(self.dir, "strata-out", "profiles", mode, "gpu-program", "default", "latest")

    def files(self, mode, *parts):
        folder = os.path.join(self.latest(mode), *parts)
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else None

    def text(self, mode, *parts):
        with open(os.path.join(self.latest(mode), *parts), encoding="utf-8") as f:
            return f.read()

    def check_clean(self, mode):
        for folder, _, files in os.walk(self.latest(mode)):
            if "compiled" not in folder:
                self.assertEqual([f for f in files if f.startswith("module-")], [], folder)

    def test_modules_of_the_stages(self):
        for mode in ("annotation", "nsys", "event"):
            with self.subTest(mode=mode):
                select = ["--select", "^copy"] if mode == "event" else []
                stages = ["gpu-program"] if mode == "event" else ["copy", "scale"]
                self.assertEqual(self.run_("--mode", mode, *select, FAKE_GPU_MODULE=self.module()), 0)
                self.assertEqual(self.files(mode, "compiled"), stages)
                for stage in stages:
                    self.assertEqual(self.files(mode, "compiled", stage),
                                     ["module-12ab.cubin", "module-12ab.ptx", "resources.json"])
                self.assertTrue(self.text(mode, "compiled", stages[0], "module-12ab.ptx")
                                .startswith(".version 9.0\n.target sm_90a\n"))
                self.check_clean(mode)
        told = json.loads(self.text("annotation", "compiled", "scale", "resources.json"))
        self.assertEqual(told, {"kernels": [{
            "kernel": "_Z5scalePfm", "name": "scale", "cubin": "module-12ab.cubin",
            "registers": 40, "frame_bytes": 256, "spill_bytes": None, "barriers": 1,
            "smem_static": 8192, "code_bytes": 1024}]})
        self.assertEqual(self.files("annotation", "sass"), ["copy.csv", "scale.csv"])
        self.assertIsNone(self.files("annotation", "source"))
        lines = self.text("annotation", "sass", "copy.csv").splitlines()
        self.assertTrue(lines[0].startswith("pc,opcode,sass,file,line,samples,"))
        self.assertTrue(lines[1].startswith(
            '0x0000,LDC,"LDC R1, c[0x0][0x28]",/src/_Z4copyPfPKfm.cu,7,'))
        self.assertEqual(len(lines), 3)

    def test_text_inside_the_program(self):
        self.assertEqual(self.run_(FAKE_GPU_MODULE=self.module(ptx=None)), 0)
        self.assertIn("copy.ptx", self.files("annotation", "compiled", "copy"))
        self.assertNotIn("scale.ptx", self.files("annotation", "compiled", "scale"))
        self.assertTrue(self.text("annotation", "compiled", "copy", "copy.ptx")
                        .startswith(".version 9.0\n.visible .entry _Z4copyPfPKfm("))

    def test_without_the_tool(self):
        self.env["STRATA_NVDISASM"] = "/nowhere/nvdisasm"
        self.assertEqual(self.run_(FAKE_GPU_MODULE=self.module()), 0)
        self.assertIsNone(self.files("annotation", "sass"))
        self.assertIn("SASS unavailable", self.text("annotation", "report.md"))
        self.assertEqual(self.files("annotation", "compiled"), ["copy", "scale"])

    def test_a_tool_in_trouble(self):
        for how in ("fails", "silent"):
            self.assertEqual(self.run_(FAKE_GPU_MODULE=self.module(), FAKE_NVDISASM=how), 0)
            self.assertIn("gpu.no-sass", self.err)
            self.assertIsNone(self.files("annotation", "sass"))

    def test_other_modules_are_not_kept(self):
        for path in (self.module([("_Z5otherv", 8, 0, 0, 0, 64)]), PROGRAM):
            self.assertEqual(self.run_(FAKE_GPU_MODULE=path), 0)
            self.assertIsNone(self.files("annotation", "compiled"))
            self.check_clean("annotation")


class Errors(Case):
    def expect(self, code, text, *words, **env):
        self.assertEqual(self.run_(*words, **env), code, getattr(self, "err", ""))
        self.assertIn(text, self.err)
        self.assertTrue(self.is_clean())

    def test_no_gpu(self):
        self.expect(4, "gpu.no-gpu", FAKE_CUDA_INIT="100")

    def test_no_driver(self):
        self.env["STRATA_CUDA_PATH"] = "/nowhere/libcuda.so.1"
        self.expect(4, "gpu.no-gpu")

    def test_no_such_gpu(self):
        self.expect(3, "gpu.no-device", "--device", "7")

    def test_other_users(self):
        self.expect(6, "5000042, 5000043", FAKE_NVML_PROCESSES="5000042 5000043")
        self.assertEqual(self.run_("--share", FAKE_NVML_PROCESSES="5000042"), 0)

    def test_another_tool(self):
        self.expect(6, "gpu.other-tool", CUDA_INJECTION64_PATH="/opt/other.so")

    def test_another_profiler(self):
        self.expect(6, "kineto", FAKE_GPU_NOTE="other-profiler 39 kineto")

    def test_no_cupti(self):
        self.expect(4, "gpu.no-cupti", FAKE_GPU_NOTE="no-cupti 0 not found")

    def test_counters_refused(self):
        notes = {"not-permitted 35 x": "NVreg_RestrictProfilingToAdminUsers=0",
                 "unsupported 40 x": "gpu.no-counters", "busy 26 x": "pause the monitoring service",
                 "incompatible 14 x": "gpu.incompatible"}
        for note, text in notes.items():
            with self.subTest(note=note):
                self.expect(1, text, FAKE_GPU_NOTE=note)
                self.assertIn("Unknown (no counters)", self.out)
                self.expect(4, text, "--backend", "cupti", FAKE_GPU_NOTE=note)

    def test_time_limit(self):
        self.expect(7, "gpu.timeout", "--timeout", "0.5", FAKE_GPU_SLEEP="30")

    def test_failing_program(self):
        self.expect(8, "status 3", FAKE_GPU_EXIT="3")
        self.assertTrue(self.folders()[0].endswith(".partial"))

    def test_missing_program(self):
        self.assertEqual(self.run_(program="/nowhere/demo"), 3)
        self.assertIn("was not found", self.err)

    def test_program_without_cuda(self):
        self.assertEqual(self.run_(program="/bin/true"), 4)
        self.assertIn("gpu.no-kernels", self.err)

    def test_range_without_a_name(self):
        self.expect(2, "names no range", "--select", "nvtx:")

    def test_regex_without_match(self):
        self.expect(2, "copy, scale", "--select", "^nothing")

    def test_regex_without_match_in_ncu(self):
        self.expect(2, "copy, scale", "--mode", "ncu", "--select", "^nothing",
                    FAKE_NCU_TROUBLE="no-kernels")
        self.assertIn("the expression (^nothing) matched nothing", self.err)

    def test_fewer_launches_than_skipped(self):
        self.expect(2, "fewer launches than --skip: 10 seen", "--skip", "100")

    def test_formulas_are_checked_first(self):
        self.expect(2, 'no parameter "q"', "--flops", "2*q")
        self.assertEqual(self.folders(), [])
        path = self.spec(stages=[{"name": "a", "select": "^copy", "bytes": "1/0"}])
        self.expect(2, "gpu.bad-formula", "--spec", path)

    def test_numbers_below_zero(self):
        for option in ("--timeout", "--wait", "--peak-tflops", "--peak-gbps"):
            self.expect(2, "value out of range: " + option, option, "-1")
            self.expect(2, option, option, "nan")

    def test_flush_where_it_cannot_be(self):
        for mode in ("annotation", "nsys"):
            self.expect(2, "gpu.no-flush", "--mode", mode, "--cache", "flush")

    def test_bad_regex(self):
        self.expect(2, "gpu.bad-regex", "--select", "(")

    def test_no_command(self):
        p = subprocess.run([STRATA, "gpu", "profile"], env=self.env, capture_output=True, text=True)
        self.assertEqual(p.returncode, 2)
        self.assertIn("gpu.no-command", p.stderr)

    def spec(self, **more):
        path = os.path.join(self.dir, "spec.json")
        stages = [{"name": "a", "select": "^copy"}, {"name": "b", "select": "^scale"}]
        with open(path, "w") as f:
            json.dump(dict({"kernel": "gpu-program", "stages": stages}, **more), f)
        return path

    def test_event_wants_one_stage(self):
        self.expect(2, "gpu.many-stages", "--mode", "event", "--spec", self.spec())

    def test_a_stage_without_kernels_is_a_partial_result(self):
        path = self.spec(stages=[{"name": "a", "select": "^copy"}, {"name": "x", "select": "^x"}])
        self.expect(1, "gpu.stage-empty", "--spec", path)

    def test_a_kernel_that_is_passed_over_is_a_partial_result(self):
        self.expect(1, "gpu.not-replayed", FAKE_GPU_NOTE="not-replayed 0 ncclDevKernel")
        self.assertIn("Memory (dram)", self.out)

    def test_wrong_result(self):
        path = self.spec(check=["/bin/false"])
        self.expect(8, "gpu.check", "--spec", path)
        self.assertEqual(self.run_("--spec", path, "--no-check"), 0)

    def test_ncu_in_trouble(self):
        self.expect(4, "ERR_NVGPUCTRPERM", "--mode", "ncu", "--backend", "ncu",
                    FAKE_NCU_TROUBLE="permission")
        self.expect(4, "does not support driver 580.0", "--mode", "ncu", "--backend", "ncu",
                    FAKE_NCU_TROUBLE="incompatible")
        self.expect(2, "gpu.no-kernels", "--mode", "ncu", FAKE_NCU_TROUBLE="no-kernels")
        self.expect(4, "tool.failed", "--mode", "ncu", FAKE_NCU_TROUBLE="silent")

    def test_ncu_replaced(self):
        self.expect(0, "gpu.no-ncu", "--mode", "ncu", FAKE_NCU_TROUBLE="incompatible")
        self.env["STRATA_NCU"] = "/nowhere/ncu"
        self.expect(0, "gpu.no-ncu", "--mode", "ncu")
        self.expect(4, "tool.missing", "--mode", "ncu", "--backend", "ncu")


if __name__ == "__main__":
    del sys.argv[1:3]
    unittest.main(verbosity=1, warnings="ignore")
