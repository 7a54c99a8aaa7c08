#!/usr/bin/env python3
"""workflows.py STRATA - the workflows in docs/howto/ci-gate.md: well-formed, with steps that CI systems take, shell
that parses, and options that strata has."""
import os
import pathlib
import re
import shlex
import subprocess
import sys

try:
    import yaml
except ImportError:
    print("SKIP: the Python module yaml is missing")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STRATA = os.path.abspath(sys.argv[1])
JOB = {"runs-on", "steps", "needs", "if", "env", "strategy", "timeout-minutes", "name"}
STEP = {"name", "uses", "run", "with", "env", "if", "id"}
GITLAB = {"stage", "tags", "script", "artifacts", "needs", "rules", "image", "before_script", "variables"}
problems = []


def expect(is_true, what):
    if not is_true:
        problems.append(what)


def check_script(script, where):
    done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True)
    expect(done.returncode == 0, "%s: %s" % (where, done.stderr))
    found = re.findall(r"(?:^|[;&|]\s*)(strata .*)$", script, re.M)
    for line in found:
        words = shlex.split(line)
        page = subprocess.run([STRATA, words[1], "--help"], capture_output=True, text=True)
        expect(page.returncode == 0, "%s: no command %s" % (where, words[1]))
        for word in words[2:]:
            name = word.split("=")[0]
            expect(not word.startswith("--") or re.search(r"(^|\s)%s(\s|$)" % re.escape(name), page.stdout),
                   "%s: %s has no %s" % (where, words[1], name))
    return len(found)


def check_github(workflow, where):
    expect(set(workflow) <= {"name", "on", True, "jobs", "permissions", "env"}, "%s: %s" % (where, sorted(map(str, workflow))))
    expect("on" in workflow or True in workflow, "%s: no trigger" % where)  # YAML 1.1 takes `on` for true
    n = 0
    for name, job in workflow["jobs"].items():
        expect(set(job) <= JOB and "runs-on" in job and job["steps"], "%s: job %s: %s" % (where, name, sorted(job)))
        for step in job["steps"]:
            expect(set(step) <= STEP and ("uses" in step) != ("run" in step), "%s: step %s" % (where, step))
            expect(re.fullmatch(r"[\w.-]+/[\w.-]+@v\d+", step.get("uses", "a/b@v1")), "%s: %s" % (where, step))
            n += check_script(step.get("run", ""), where)
    return n


def check_gitlab(jobs, where):
    n = 0
    for name, job in jobs.items():
        expect(set(job) <= GITLAB and isinstance(job.get("script"), list), "%s: job %s" % (where, name))
        n += sum(check_script(line, where) for line in job["script"])
        expect(isinstance(job["artifacts"]["reports"]["junit"], str), "%s: no JUnit file" % where)
    return n


def main():
    path = ROOT / "docs/howto/ci-gate.md"
    blocks = re.findall(r"^```yaml\n(.*?)^```$", path.read_text(encoding="utf-8"), re.S | re.M)
    n = 0
    for number, block in enumerate(blocks, 1):
        where = "%s, workflow %d" % (path.name, number)
        parsed = yaml.safe_load(block)
        n += check_github(parsed, where) if "jobs" in parsed else check_gitlab(parsed, where)
    expect(len(blocks) == 1 and n == 1, "%d workflows, %d commands of strata" % (len(blocks), n))
    for problem in problems:
        print(problem)
    print("%d workflows, %d problems" % (len(blocks), len(problems)))
    sys.exit(1 if problems else 0)


main()
