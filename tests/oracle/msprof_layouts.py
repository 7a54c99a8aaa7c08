"""Folders as versions of msprof and of the PyTorch plugin leave them: the same kernels from each.

Usage: msprof_layouts.py STRATA [SHARED]. The data is strata's own (`strata synth`), moved and cut."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

STAMP = "20260101000000"
STRATA = sys.argv[1]


def strata(*args):
    done = subprocess.run([STRATA, *map(str, args)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def kernels(path):
    """Count and time of the kernels by kind; None when the path is not read."""
    code, out, _ = strata("info", path, "--json")
    found = json.loads(out)["result"]["captures"][0]["kernels"] if code == 0 else None
    return found and {kind: (part["count"], part["dur_ns"]) for kind, part in found["by_kind"].items()}


def put(source, folder, name):
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, folder / name)


def cut_csv(source, folder):
    head, *rows = source.read_text(encoding="utf-8").splitlines(True)
    folder.mkdir(parents=True)
    for i in range(3):
        part = rows[i * len(rows) // 3:(i + 1) * len(rows) // 3]
        (folder / f"op_summary_slice_{i}_{STAMP}.csv").write_text(head + "".join(part), encoding="utf-8")


def cut_json(source, folder):
    events = json.loads(source.read_text(encoding="utf-8"))
    names = [e for e in events if e["ph"] == "M"]
    rest = [e for e in events if e["ph"] != "M"]
    folder.mkdir(parents=True)
    for i in range(3):
        part = rest[i * len(rest) // 3:(i + 1) * len(rest) // 3]
        (folder / f"msprof_slice_{i}_{STAMP}.json").write_text(json.dumps(names + part), encoding="utf-8")


def layouts(src, to):
    prof = next(src.rglob("PROF_*"))
    csv, trace = next(prof.rglob("op_summary*.csv")), next(prof.rglob("msprof_*.json"))
    framework = next(src.rglob("ASCEND_PROFILER_OUTPUT"))
    database = next(framework.glob("*.db"))
    output = "PROF_1/mindstudio_profiler_output"

    def both(folder, csv_name, trace_name):
        put(csv, folder, csv_name)
        put(trace, folder, trace_name)

    cut_csv(csv, to / "table in slices" / output)
    cut_json(trace, to / "trace in slices" / output)
    put(csv, to / "table alone" / output, csv.name)
    put(trace, to / "trace alone" / output, trace.name)
    both(to / "folder of a device/PROF_1/device_0/mindstudio_profiler_output", csv.name, trace.name)
    both(to / "device in the names" / output, f"op_summary_0_{STAMP}.csv", f"msprof_0_{STAMP}.json")
    put(csv, to / "timeline and summary/PROF_1/device_0/summary", "op_summary_0_1_1.csv")
    put(trace, to / "timeline and summary/PROF_1/device_0/timeline", "msprof_0_1_1.json")
    both(to / "two exports" / output, csv.name, trace.name)
    put(csv, to / "two exports" / output, "op_summary_20250101000000.csv")
    put(database, to / "database alone/PROF_1", f"msprof_{STAMP}.db")
    put(database, to / "framework database/a_ascend_pt/ASCEND_PROFILER_OUTPUT", database.name)
    put(framework / "trace_view.json", to / "trace_view alone/a_ascend_pt/ASCEND_PROFILER_OUTPUT", "trace_view.json")
    shutil.copytree(framework.parent, to / "no communication.json/a_ascend_pt")
    for file in (to / "no communication.json").rglob("communication*.json"):
        file.unlink()
    return prof


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        src, to = pathlib.Path(scratch, "src"), pathlib.Path(scratch, "to")
        strata("synth", "--formats", "msprof,db,text", "--steps", "2", "-o", src)
        expected = kernels(layouts(src, to))
        assert expected and sum(n for n, _ in expected.values()) > 100, expected
        for folder in sorted(to.iterdir()):
            found = kernels(folder)
            if found and folder.name.startswith("table"):
                found["copy"] = expected["copy"]  # which a table does not have
            if found != expected:
                print(f"{folder.name}: {found}, expected {expected}")
                wrong += 1
        raw = to / "raw data/PROF_1/device_0/sqlite"
        raw.mkdir(parents=True)
        (raw / "ascend_task.db").write_bytes(b"")
        code, _, err = strata("info", to / "raw data")
        if code == 0 or "msprof --export=on" not in err:
            print(f"raw data: exit code {code}, {err}")
            wrong += 1
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
