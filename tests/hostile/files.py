#!/usr/bin/env python3
"""files.py STRATA - files are written where the user said, and nowhere else.

Every reading command leaves its inputs alone without -o; links in an output folder are not followed; no run
overwrites what it has read; names do not leave the output folder; only strata's own temporary files are removed.
"""
import csv
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

STRATA = os.path.abspath(sys.argv.pop(1))
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
with open(EXAMPLES / "perfdb/profile/kernel_details.csv", newline="", encoding="utf-8-sig") as profile:
    HEADS = next(csv.reader(profile))


def state(folder):
    """Every entry below a folder: links by their target, files by their bytes."""
    found = {}
    for top, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(top, name)
            if os.path.islink(path):
                found[path] = os.readlink(path)
            elif os.path.isfile(path):
                found[path] = pathlib.Path(path).read_bytes()
    return found


class Files(unittest.TestCase):
    def setUp(self):
        self.temp = tempfile.TemporaryDirectory()
        self.work = pathlib.Path(self.temp.name)

    def tearDown(self):
        self.temp.cleanup()

    def run_strata(self, *argv, code=0, **options):
        done = subprocess.run([STRATA] + [str(a) for a in argv], cwd=self.work, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=120, **options)
        self.assertEqual(done.returncode, code, f"{argv}: {done.stderr}")
        return done

    def example(self, name):
        source, target = EXAMPLES / name, self.work / pathlib.Path(name).name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
        return target

    def refused(self, victim, *argv):
        """The run ends as a usage error, and the file is as it was."""
        before = victim.read_bytes()
        done = self.run_strata(*argv, code=2)
        self.assertIn("input", done.stderr)
        self.assertEqual(victim.read_bytes(), before)


class Reading(Files):
    def test_commands_that_read_write_nothing(self):
        for name in ("ascend-small", "kineto-small", "incore", "gpu-rules", "pto", "perfdb", "perfdb-compare"):
            self.example(name)
        before = state(self.work)
        for argv in (["anomaly", "ascend-small"], ["arch", "ascend-small"], ["anomaly", "kineto-small", "--json"],
                     ["arch", "kineto-small", "--json"], ["info", "ascend-small"], ["report", "kineto-small"],
                     ["diff", "ascend-small", "ascend-small"], ["analyze", "exposed", "kineto-small"],
                     ["query", "ascend-small", "select 1"], ["whatif", "kineto-small"],
                     ["gpu", "report", "gpu-rules/run"], ["gpu", "report", "gpu-rules/raw.csv"],
                     ["gpu", "timeline", "kineto-small/kineto/rank0.pt.trace.json.gz"],
                     ["incore", "show", "incore"], ["incore", "lint", "incore"],
                     ["pto", "sim", "pto/softmax.pto"], ["pto", "check", "pto/softmax.pto"],
                     ["pto", "calibrate", "pto/measured.csv"], ["db", "check", "perfdb/db"],
                     ["gpu-rules/run"], ["gpu-rules/raw.csv"], ["perfdb/db"], ["perfdb"], ["pto"], ["incore"],
                     ["kineto-small", "--to", "md"], ["diff", "incore", "incore"],
                     ["diff", "gpu-rules/run", "gpu-rules/run"], ["diagnose", "perfdb"],
                     ["perfdb-compare/predicted.json", "perfdb-compare/measured.csv"],
                     ["check", "kineto-small", "--max-idle", "1%", "--baseline", "kineto-small"],
                     ["ops", "kineto-small"], ["incore", "diff", "incore", "incore"],
                     ["pto", "print", "pto/softmax.pto"], ["pto", "sim", "pto/softmax.pto", "--timeline"],
                     ["db", "coverage", "--database-path", "perfdb/db"],
                     ["db", "sql", "--database-path", "perfdb/db", "select 1"],
                     ["comm", "validate", "--csv-dir", "perfdb-compare/comm"],
                     ["formats"], ["devices"], ["doctor"], ["help"], ["version"]):
            with self.subTest(argv):
                subprocess.run([STRATA] + argv, cwd=self.work, capture_output=True, timeout=120)
                self.assertEqual(state(self.work), before)

    def test_commands_that_write_leave_their_inputs_alone(self):
        """To -o, or below strata-out in the current folder; never into what was read."""
        inputs = self.work / "inputs"
        inputs.mkdir()
        for name in ("ascend-small", "kineto-small", "incore", "gpu-rules", "pto", "perfdb", "replay"):
            shutil.move(self.example(name), inputs / name)
        before = state(inputs)
        elsewhere = {"strata-out", "out"}
        for argv in (["incore", "clean", "inputs/incore"], ["incore", "clean", "inputs/incore", "-o", "out/clean"],
                     ["incore", "export", "inputs/incore"], ["incore", "export", "inputs/incore", "-o", "out/export"],
                     ["incore", "run", "inputs/pto", "--backend", "sim", "--target", "a2a3"],
                     ["incore", "run", "inputs/pto", "--backend", "sim", "--target", "a2a3", "-o", "out/run"],
                     ["incore", "replay", "inputs/replay/paged_attention/test_scene.py", "--case",
                      "CaseSmall1", "--kernel", "SF"],
                     ["gpu", "import", "inputs/gpu-rules/raw.csv"],
                     ["gpu", "import", "inputs/gpu-rules/raw.csv", "-o", "out/gpu"],
                     ["gpu", "profile", "--", "true"], ["convert", "inputs/kineto-small", "-o", "out/k.pftrace"],
                     ["db", "parse", "--profiling-path", "inputs/perfdb/profile", "--database-path", "out/db"],
                     ["db", "grid", "--database-path", "out/db"], ["db", "coverage", "--database-path", "out/db"],
                     ["pto", "sim", "inputs/pto/softmax.pto", "--trace", "out/s.json"],
                     ["anomaly", "inputs/ascend-small", "-o", "out/anomaly"],
                     ["inputs/ascend-small", "-o", "out/a.html"], ["inputs/pto/softmax.pto", "-o", "out/s.html"],
                     ["check", "inputs/kineto-small", "--max-idle", "50%", "--junit", "out/j.xml"]):
            with self.subTest(argv):
                (self.work / "out").mkdir(exist_ok=True)
                subprocess.run([STRATA] + argv, cwd=self.work, capture_output=True, timeout=120)
                self.assertEqual(state(inputs), before)
                self.assertLessEqual({n for n in os.listdir(self.work) if n != "inputs"}, elsewhere)

    def test_gpu_report_writes_into_the_folder_named(self):
        self.example("gpu-rules")
        before = state(self.work / "gpu-rules")
        self.run_strata("gpu", "report", "gpu-rules/run", "-o", "new")
        self.assertEqual(state(self.work / "gpu-rules"), before)
        self.assertEqual(sorted(os.listdir(self.work / "new"))[-2:], ["report.html", "report.md"])


class Links(Files):
    def setUp(self):
        super().setUp()
        self.victim = self.work / "victim"
        self.victim.write_text("precious")
        (self.work / "out").mkdir()

    def link(self, name, target):
        path = self.work / "out" / name
        path.symlink_to(target)
        return path

    def test_a_link_in_the_output_folder_is_replaced(self):
        self.example("ascend-small")
        link = self.link("anomaly_discovery.json", self.victim)
        self.run_strata("anomaly", "ascend-small", "-o", "out")
        self.assertEqual(self.victim.read_text(), "precious")
        self.assertFalse(link.is_symlink())
        self.assertIn("schema", link.read_text()[:200])

    def test_a_link_named_as_output_is_replaced(self):
        self.example("ascend-small")
        link = self.link("diff.md", self.victim)
        self.run_strata("diff", "ascend-small", "ascend-small", "--md", link)
        self.assertEqual(self.victim.read_text(), "precious")
        self.assertFalse(link.is_symlink())

    def test_a_linked_folder_in_the_output_folder_is_refused(self):
        elsewhere = self.work / "elsewhere"
        elsewhere.mkdir()
        self.link("timeline", elsewhere)
        self.link("simulator", elsewhere)
        self.link("raw_simulator", elsewhere)
        self.example("kineto-small")
        self.example("incore")
        self.example("pto/softmax.pto")
        self.run_strata("gpu", "timeline", "kineto-small/kineto/rank0.pt.trace.json.gz", "-o", "out", code=3)
        self.run_strata("pto", "sim", "softmax.pto", "--insight", "out", code=3)
        subprocess.run([STRATA, "incore", "clean", "incore", "-o", "out"], cwd=self.work, capture_output=True)
        self.assertEqual(os.listdir(elsewhere), [])

    def test_standard_output_by_its_name(self):
        self.example("pto/softmax.pto")
        with open(self.work / "to", "wb") as to:
            subprocess.run([STRATA, "pto", "print", "softmax.pto", "-o", "/dev/stdout"], cwd=self.work, stdout=to,
                           check=True)
        self.assertIn("pto", (self.work / "to").read_text())
        self.assertTrue(os.path.islink("/dev/stdout"))

    def test_clean_copies_no_links_and_cycles_cost_nothing(self):
        source = self.example("incore")
        (source / "secret").symlink_to(self.victim)
        for i in range(12):  # each level leads back to the top: 12^n paths
            (source / f"loop{i}").symlink_to(".")
            (source / f"up{i}").symlink_to("..")
        begin = time.monotonic()
        self.run_strata("incore", "clean", "incore", "-o", "cleaned")
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(sorted(os.listdir(self.work / "cleaned/raw_simulator")), ["visualize_data.bin"])


class Inputs(Files):
    def test_no_run_overwrites_what_it_reads(self):
        table = self.example("ascend-small") / "ASCEND_PROFILER_OUTPUT/kernel_details.csv"
        self.refused(table, "anomaly", table, "--md", table)
        self.refused(table, "anomaly", "ascend-small", "--md", table)
        self.refused(table, "diff", table, table, "--md", table)
        kernel = self.example("pto/softmax.pto")
        self.refused(kernel, "pto", "sim", kernel, "--trace", kernel)
        hard = self.work / "hard.json"
        os.link(kernel, hard)
        self.refused(kernel, "pto", "sim", kernel, "--trace", hard)
        measured = self.example("pto/measured.csv")
        self.refused(measured, "pto", "calibrate", measured, "-o", measured)

    def test_fill_fia(self):
        table = self.example("perfdb/db/FusedInferAttentionScore.csv")
        dump = self.example("perfdb/fia.jsonl")
        given = ("db", "fill-fia", "--csv-path", table, "--jsonl-path", dump, "--output-path")
        self.refused(dump, *given, dump)
        self.refused(table, *given, table)
        before = table.read_bytes()
        self.run_strata(*given[:-1])  # its purpose: the table is filled in place
        self.assertNotEqual(table.read_bytes(), before)

    def test_results_of_the_run_before_are_replaced(self):
        self.example("ascend-small")
        for _ in range(2):
            self.run_strata("anomaly", "ascend-small", "-o", "ascend-small/out", "--md", "ascend-small/out/r.md")

    def test_other_files_in_the_output_folder_stay(self):
        self.example("ascend-small")
        out = self.work / "out"
        out.mkdir()
        (out / "notes.json").write_text("mine")
        self.run_strata("anomaly", "ascend-small", "-o", "out")
        self.assertEqual((out / "notes.json").read_text(), "mine")


class Names(Files):
    def test_a_kernel_name_stays_in_the_output_folder(self):
        self.example("incore")
        for name in ("../x", "a/../../x", "..", "/tmp/x"):
            for option in ("--kernel", "--name"):
                self.run_strata("incore", "clean", "incore", "-o", "out", "--kernel", "k", option, name, code=2)
        self.assertEqual(sorted(os.listdir(self.work)), ["incore"])

    def test_relative_means_the_current_folder(self):
        (self.work / "repo/.git").mkdir(parents=True)
        here = self.work / "repo/sub"
        for folder, kernel in ((self.work / "repo/b", "softmax"), (here / "b", "vector_add")):
            (folder / "ptoas").mkdir(parents=True)
            shutil.copy(EXAMPLES / f"pto/{kernel}.pto", folder / "ptoas")
        done = subprocess.run([STRATA, "incore", "run", "b", "--list-funcs"], cwd=here, capture_output=True, text=True)
        self.assertIn("vector_add", done.stdout)
        self.assertNotIn("softmax", done.stdout)

    def parse(self, types, code):
        (self.work / "in").mkdir()
        with open(self.work / "in/kernel_details.csv", "w") as f:
            rows = csv.DictWriter(f, HEADS, restval="1")
            rows.writeheader()
            for kind in types:
                rows.writerow({"Type": kind, "Input Shapes": "4", "Output Shapes": "4"})
        return self.run_strata("db", "parse", "--profiling-path", "in", "--database-path", "db", code=code)

    def test_a_name_too_long_costs_its_table_alone(self):
        done = self.parse(["Add", "L" * 252, "Mul"], 1)
        self.assertEqual(sorted(os.listdir(self.work / "db")), ["Add.csv", "Mul.csv"])
        self.assertIn("Generated 2 csv file(s)", done.stdout)
        self.assertIn("perfdb.long-name", done.stderr)

    def test_the_longest_name_has_a_table(self):
        self.parse(["Add", "L" * 251], 0)
        self.assertEqual(len(os.listdir(self.work / "db")), 2)

    def test_colliding_names_cost_one_table(self):
        done = self.parse(["a/b", "a:b", "Mul"], 1)
        self.assertEqual(sorted(os.listdir(self.work / "db")), ["Mul.csv", "a_b.csv"])
        self.assertIn("Generated 2 csv file(s)", done.stdout)
        self.assertIn("perfdb.same-name", done.stderr)


class Temporaries(Files):
    def test_only_our_own_leftovers_are_removed(self):
        db = self.work / "db"
        shutil.copytree(EXAMPLES / "perfdb/db", db)
        mine = ["Add.tmp.csv", "notes.tmp.csv", f"Add.{os.getpid()}.strata.tmp.csv"]
        for name in mine + ["Add.999999999.strata.tmp.csv"]:
            (db / name).write_text("x")
        self.run_strata("db", "parse", "--profiling-path", EXAMPLES / "perfdb/profile", "--database-path", "db",
                        "--merge")
        self.assertEqual(sorted(n for n in os.listdir(db) if ".tmp." in n), sorted(mine))

    def test_a_full_file_is_an_error_without_leftovers(self):
        self.example("ascend-moe")

        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # which ends a program
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, resource.RLIM_INFINITY))

        done = self.run_strata("convert", "ascend-moe", "-o", "out.json", code=3, preexec_fn=small_files)
        self.assertIn("File too large", done.stderr)
        self.assertEqual(os.listdir(self.work), ["ascend-moe"])

    def test_signals_leave_nothing_behind(self):
        source = self.work / "big"
        self.run_strata("synth", "-o", source, "--steps", "60", "-q")
        for number in (signal.SIGQUIT, signal.SIGUSR1, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU):
            run = subprocess.Popen([STRATA, "convert", source, "-o", self.work / "out.json"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for _ in range(2000):
                if any(n.startswith(".strata-") for n in os.listdir(self.work)) or run.poll() is not None:
                    break
                time.sleep(0.001)
            run.send_signal(number)
            run.wait(30)
            self.assertEqual([n for n in os.listdir(self.work) if n.startswith(".strata-")], [], number)


if __name__ == "__main__":
    unittest.main()
