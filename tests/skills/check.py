#!/usr/bin/env python3
"""check.py STRATA - every command of the skills, run literally on the samples; answers as written here.

A skill is data/skills/NAME/SKILL.md; its commands are the lines of its ```sh blocks. Each skill gets a folder of its
own with a copy of examples/, so commands may build on each other. A command without a line in ANSWERS fails, and so
does a line of ANSWERS without a command. `strata skills install` must write the same files.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STRATA = os.path.abspath(sys.argv[1])

# Skill, beginning of the command: exit code and patterns that its output has.
ANSWERS = {
    "strata-incore": [
        ("incore show", 0, [r"bound by read: 85\.4 % of the critical path, 25\.5 % less time",
                            r"MTE2 +12 +7800 +4020 +85\.4"]),
        ("pto check", 0, [r"ok: a2a3, 1 function, 31 operations"]),
        ("pto sim", 0, [r"bound by vector: 56\.6 % of the critical path", r"73662 cycles", r"VEC infinitely fast"]),
        ("incore clean", 0, [r"read-bound", r"pipe_breakdown\.json"]),
        ("incore run", 0, [r"OK softmax", r"73662 +39\.82 +AIV0 VEC", r"EXPORTED 1/1"]),
        ("incore lint", 0, [r"MindStudio Insight opens it"]),
        ("incore diff", 0, [r"read-bound +\+0\.0 %", r"No change"]),
    ],
    "strata-replay": [
        ("incore replay .* --dry-run", 0, [r"0 +x +FLOAT32 +64x64, 16384 bytes", r"rounds +INT64 +4"]),
        ("incore replay .* --write-arg-spec", 0, [r"out/args\.json"]),
        ("incore replay .* --backend sim", 0, [r"simulated \(built-in simulator\): 8621 cycles",
                                               r"MindStudio Insight input: out/replay"]),
        ("pto sim", 0, [r"bound by launch: 69\.6 %", r"8621 cycles", r"MTE2 +#+w"]),
    ],
    "strata-anomaly": [
        ("info", 0, [r"249 kernels and copies · 554 host events · 3 steps · 88\.20 ms"]),
        ("diagnose", 0, [r"Inefficient products: aten::mm takes 65\.6 % of each 28\.71 ms step"]),
        ("anomaly", 0, [r"3 of 3 steps idle for 6\.9 % of 29\.40 ms", r"out/anomaly"]),
        ("query", 0, [r"sm90_xmma_gemm\S* +39 +19\.1"]),
        ("convert", 0, [r"(?i)stream 7 .*█", r" ms"]),
        ("arch", 0, [r"2 passes, 2 layers each: Dense 0, MoE\+GMM 1"]),
        ("diff", 0, [r"No change: every step of B takes as long as in A"]),
    ],
    "strata-perfdb": [
        ("db query .*--kernel", 0, [r"latency +28\.517 us", r"MEASURED"]),
        ("db query .*--op-name", 0, [r"latency +32\.9122 us", r"INTERPOLATED"]),
        ("db query .*--comm", 0, [r"latency +22\.0064 us", r"INTERPOLATED"]),
        ("db parse", 0, [r"Generated 4 csv file\(s\) under out/db"]),
        ("db check", 0, [r"0 problems"]),
        ("db coverage", 1, [r"11 axes of 5 tables: values missing: 164, gaps too wide: 5"]),
        ("db predict", 0, [r"Decode of 8 x 1024: 6\.891 ms, 80 % interval 6\.743 to 7\.039 ms"]),
    ],
    "strata-gpu": [
        ("gpu roofline", 0, [r"138\.9 +21\.0 +138\.9 +compute"]),
        ("gpu profile", 0, [r"mode +annotation", r"run +out/gpu/gpudemo stream_copy"]),
        ("gpu report examples/gpu-rules/run", 0, [r"Latency-bound", r"in decode, 92\.9% of the time"]),
        ("gpu report examples/gpu-rules/raw.csv", 0, [r"scale<4> \| 131\.50 \|", r"raise occupancy — est\. 46\.8% gain"]),
        ("gpu compare examples", 0, [r"≈ \+0\.0%, speedup 1\.00"]),
        ("gpu compare --gate 5", 0, [r"base +1852 +0\.000 +0\.000 +no"]),
    ],
}


def commands_of(text):
    """The lines of all ```sh blocks."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.S | re.M)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def run_skill(name, text, folder):
    problems = []
    env = {**os.environ, "PATH": os.path.dirname(STRATA) + ":" + os.environ["PATH"], "LC_ALL": "C.UTF-8", "LANG": ""}
    answers, left = ANSWERS.get(name, []), commands_of(text)
    for line, want in zip(left, answers):
        words = shlex.split(line)
        if words[0] != "strata" or not re.match(want[0], " ".join(words[1:])):
            problems.append("%s: expected a command like %r, found %r" % (name, want[0], line))
            continue
        done = subprocess.run([STRATA, *words[1:]], cwd=folder, env=env, capture_output=True, timeout=120)
        shown = (done.stdout + done.stderr).decode("utf-8", "replace")
        if done.returncode != want[1]:
            problems.append("%s: %s: exit code %d, not %d\n%s" % (name, line, done.returncode, want[1], shown[-800:]))
        problems += ["%s: %s: no %r in\n%s" % (name, line, p, shown[:1500]) for p in want[2] if not re.search(p, shown)]
    if len(left) != len(answers):
        problems.append("%s: %d commands, %d answers" % (name, len(left), len(answers)))
    return problems


def check_head(path, text):
    head = re.match(r"---\nname: ([a-z0-9-]+)\ndescription: (.+)\n---\n", text)
    if head is None or head[1] != path.parent.name or len(head[2]) > 1024:
        return ["%s: the head must have the folder's name and a description of at most 1024 characters" % path]
    return []


def main():
    problems, skills = [], sorted(ROOT.glob("data/skills/*/SKILL.md"))
    only = sys.argv[2:]
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "skills")
        done = subprocess.run([STRATA, "skills", "install", out], capture_output=True, text=True)
        if done.returncode != 0:
            problems.append("skills install: " + done.stderr)
        for path in skills:
            text, name = path.read_text(encoding="utf-8"), path.parent.name
            if only and name not in only:
                continue
            problems += check_head(path, text)
            installed = pathlib.Path(out, name, "SKILL.md")
            if not installed.is_file() or installed.read_text(encoding="utf-8") != text:
                problems.append("skills install: %s differs" % installed)
            folder = os.path.join(scratch, name)
            os.mkdir(folder)
            shutil.copytree(ROOT / "examples", os.path.join(folder, "examples"))
            problems += run_skill(name, text, folder)
    if not only and {p.parent.name for p in skills} != set(ANSWERS):
        problems.append("skills and answers differ: %s" % sorted({p.parent.name for p in skills} ^ set(ANSWERS)))
    for problem in problems:
        print(problem)
    print("%d skills, %d problems" % (len(skills), len(problems)))
    sys.exit(1 if problems else 0)


main()
