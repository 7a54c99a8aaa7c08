#!/usr/bin/env python3
"""agree.py STRATA [--list | --update | --self] - every fact that two doors can give is asked at each, and must be equal.

A door is a way to ask: text, JSON, page, what-ifs, SQL, operators, gates, diff, MCP, Python (doors.py). A fact is a
quantity with its definition and its base (facts.py); docs/facts.md lists them. Answers are compared to the digits
that are printed.

tests/agree/known.txt holds the disagreements that are known, one a line; that list only becomes shorter. One that
is not in it fails the test, and so does a line whose disagreement is gone.

--list prints what was asked and what differs, --update rewrites the list. --self changes one digit of what one door
prints, for each of the mutations below, and sees that the fact is found to differ.
"""
import concurrent.futures
import os
import pathlib
import re
import sys

import facts
from doors import ROOT, Strata

KNOWN = pathlib.Path(__file__).resolve().parent / "known.txt"
FACTS = ROOT / "docs" / "facts.md"
UNPINNED = ["examples/unpinned/before.pt.trace.json.gz", "examples/unpinned/after.pt.trace.json.gz"]
ALONE = ["examples/ascend-moe", "examples/ascend-small", "examples/kineto-small", *UNPINNED,
         "examples/memory/inference.json.gz", "examples/serving/*.json", "examples/nsys", "examples/ranks/rank[034]*",
         "tests/data/planted/*/*.json.gz", "tests/data/diagnosis/*.json.gz", "tests/data/captures/*",
         "tests/data/gpu/kineto-h200/*", "tests/data/gpu/nsys_synth/*.sqlite"]
RANKS = ["examples/ranks", "tests/data/captures/two_ranks"]
CORES = ["examples/pto/*.pto", "examples/pto-templates/*.pto", "examples/pto-cpp/*"]
PAIRS = [tuple(UNPINNED), tuple(reversed(UNPINNED)),
         ("tests/data/diagnosis/tiny_kernels.json.gz", "tests/data/diagnosis/fixed_tiny_kernels.json.gz"),
         ("tests/data/diagnosis/fixed_log_fsync.json.gz", "tests/data/diagnosis/log_fsync.json.gz")]
# Samples of others, where they are there.
OTHERS = ["data/diagnosis/*.json.gz", "data/field/*.json.gz", "data/field/*.sqlite", "data/field/*.csv",
          "data/serving/*.json.gz", "data/serving/*/replay.json.gz", "data/captures/kineto/*", "data/captures/synthetic/*",
          "data/captures/ascend/*/rank*", "data/captures/ascend/misc/*", "data/gpu/kineto*/*", "data/gpu/nsys_synth/*.sqlite",
          "data/formats/*/*"]
OTHER_RANKS = ["data/captures/ascend/text_level1", "data/captures/ascend/db_level1"]
OTHER_CORES = ["data/incore/pto/*.pto"]


def below(root, patterns):
    return [str(p.relative_to(ROOT) if root == ROOT else p) for pattern in patterns for p in sorted(root.glob(pattern))
            if p.parent.name != "hostile"]


def of_one(s, path):
    for of in facts.ALONE if facts.has_diagnosis(s, path) else []:
        yield from of(s, path)


def of_ranks(s, path):
    for of in facts.RANKS:
        yield from of(s, path)


def questions(s):
    """(name, function that asks) of each capture or pair."""
    shared = pathlib.Path(os.environ.get("STRATA_SHARED") or "/nonexistent")
    for of, paths in ((of_one, dict.fromkeys(below(ROOT, ALONE) + below(shared, OTHERS))),
                      (of_ranks, below(ROOT, RANKS) + below(shared, OTHER_RANKS)),
                      (facts.cores, below(ROOT, CORES) + below(shared, OTHER_CORES)),
                      (facts.replayed, ["examples/replay/scale"]),
                      (facts.libraries, ("examples/ascend-moe", UNPINNED[0], "examples/ranks"))):
        for path in paths:
            yield path, lambda of=of, path=path: of(s, path)
    for a, b in PAIRS:
        yield a + " " + b, lambda a=a, b=b: facts.pairs(s, a, b)


def compared(asked):
    """(fact, doors that differ, answers) of those that two doors gave."""
    for fact, answers in asked():
        given = {d: a for d, a in answers.items() if a is not None}
        if len(given) > 1:
            first, *rest = given
            yield fact, [d for d in rest if not given[first] == given[d]], given


# ---- a digit is another one ----

def of_command(*words):
    """Commands that begin so and end without a form, or with one of it."""
    return lambda given: given[:len(words)] == words and given[0] not in ("page", "python")


def of_page(*words):
    return lambda given: given == ("page", *words)


SMALL, KINETO, RUN = "examples/ascend-small", "examples/kineto-small", UNPINNED[0]
# What is asked, the commands whose output changes, the pattern whose first group has the digit, and the fact.
MUTATIONS = [
    (facts.verdicts, RUN, of_command(RUN), r"Saves about ([\d.]+) ms", "verdict.saving"),
    (facts.verdicts, RUN, of_page(RUN), r'"saving":(\d{4})', "verdict.saving"),
    (facts.verdicts, RUN, of_command("diagnose", RUN, "--json"), r'"saving_share": ([\d.]+)', "verdict.share"),
    (facts.verdicts, RUN, of_command("anomaly", RUN, "--json"), r'"cause":\s*"pageable_copy"[^}]*?"saving_ms":\s*([\d.]{5})', "verdict.saving"),
    (facts.verdicts, RUN, of_command(RUN), r"\(([\d.]+) % of", "verdict.share"),
    (facts.verdicts, RUN, of_command(RUN), r"% of ([\d.]+) ms without", "verdict.share"),
    (facts.causes, RUN, of_command(RUN), r"Launch-bound +([\d.]+)", "cause.saving"),
    (facts.causes, RUN, of_command("whatif", RUN, "--json"), r'"no_launch_cost"[^}]*?"saving_share": (0\.\d{3})', "cause.share"),
    (facts.causes, RUN, of_command(RUN), r"Exposed copies +[\d.]+ +[\d.]+ +([\d.]+)", "cause.share"),
    (facts.changes, KINETO, of_command("whatif", KINETO), r"no_launch_cost +[\d.]+ +[\d.]+ +[\d.]+ +([\d.]+)", "change.saving"),
    (facts.changes, KINETO, of_command("whatif", KINETO, "--json"), r'"no_launch_cost"[^}]*?"unprofiled_ms": ([\d.]{5})', "change.saving"),
    (facts.steps, RUN, of_command(RUN), r"(\d+) of 6 steps", "step.count"),
    (facts.steps, RUN, of_command(RUN), r"steps of ([\d.]+) ms on the device", "step.device_ms"),
    (facts.steps, RUN, of_page(RUN), r'"step_mean":\{"n":\d+,"time":(\d{6})', "step.device_ms"),
    (facts.steps, RUN, of_command("whatif", RUN, "--json"), r'"unprofiled_ms": ([\d.]{6})', "step.unprofiled_ms"),
    (facts.steps, RUN, of_command("diagnose", RUN, "--json"), r'"profiled_ms": ([\d.]{6})', "step.replayed_ms"),
    (facts.classes, SMALL, of_command(SMALL), r"attention +([\d.]+)", "class.ms"),
    (facts.classes, SMALL, of_page(SMALL), r'"step_mean":\{"n":\d+,"time":\d+,"by":\[(\d{4})', "class.ms"),
    (facts.classes, SMALL, lambda w: w[0] == "query" and "accounting" in w[2], r'(?s).*"attention",\s*(\d{3})', "class.ms"),
    (facts.kernels, SMALL, of_command("ops", SMALL), r"(?m)^(\d+) kernels", "kernels.count"),
    (facts.kernels, SMALL, lambda w: w[0] == "query" and "FROM kernels" in w[2], r"\[148, ?(\d{5})", "kernels.device_ms"),
    (facts.kernels, KINETO, of_page(KINETO), r'"flops":(\d\d)', "kernels.flop"),
    (facts.kernels, SMALL, of_command("ops", SMALL, "--by"), r'"attention"[^}]*?"device_ns": (\d{4})', "family.ms"),
    (facts.communication, SMALL, of_command("analyze", "collectives"), r'"exposed_ns": (\d{4})', "comm.exposed"),
    (facts.communication, SMALL, of_command("gpu", "timeline"), r'"exposed_comm_ns": (\d{4})', "comm.exposed"),
    (facts.gaps, KINETO, of_command("gpu", "timeline"), r'"cause": "sync"[^}]*"total_ns": (\d{4})', "gap.ms"),
    (facts.gaps, KINETO, lambda w: w[0] == "query" and "FROM gaps" in w[2], r'"sync",\d+,(\d{11})', "gap.ms"),
    (facts.memory, "examples/memory/inference.json.gz", of_command("memory"), r"Peak ([\d.]+)", "memory.peak"),
    (facts.marks, SMALL, lambda w: w[0] == "query" and "FROM steps" in w[2], r"\[\s*(\d{4})", "step.service_ms"),
    (facts.marks, SMALL, of_command("anomaly", SMALL), r"Step#1 +([\d.]+)", "step.service_ms"),
    (facts.gates, SMALL, of_command("check"), r"longest step Step#1: ([\d.]+)", "step.longest_ms"),
    (facts.gates, SMALL, of_command("check"), r"idle for ([\d.]+) %", "step.idle_share"),
    (facts.ranks, "examples/ranks", of_command("examples/ranks"), r"takes ([\d.]+) ms less", "ranks.saving"),
    (facts.ranks, "examples/ranks", of_page("examples/ranks"), r'"saving":(\d{4})', "ranks.saving"),
    (facts.ranks, "examples/ranks", of_page("anomaly", "examples/ranks"), r'"text":\{"en":"Rank (\d)', "ranks.culprits"),
    (facts.ranks, "examples/ranks", of_command("cluster", "examples/ranks", "--json"), r'"rank": (\d)', "ranks.culprits"),
    (facts.ranks, "examples/ranks", of_command("examples/ranks"), r"rank0\S+ +\d+ +([\d.]+)", "step.device_ms"),
    (facts.libraries, RUN, of_command("mcp"), r'structuredContent.*?"saving_ms": ?([\d.]+)', "verdict.text"),
    (facts.libraries, RUN, lambda w: w[0] == "python", r'"saving_ms": ([\d.]+)', "verdict.text"),
    (facts.cores, "examples/pto/softmax.pto", of_command("pto", "sim"), r"bound by \w+: ([\d.]+) %", "kernel.bound"),
    (facts.cores, "examples/pto/softmax.pto", of_page("examples/pto/softmax.pto"), r'"en":"Bound by [^"]*path, ([\d.]+) % less', "kernel.bound"),
    (lambda s, _: facts.pairs(s, *UNPINNED), "", of_command("check"), r"instead of ([\d.]+) ms", "pair.change"),
    (lambda s, _: facts.pairs(s, *UNPINNED), "", of_command("diff"), r'"text": "B is faster: a step takes ([\d.]+)', "pair.change"),
]


def notices(s):
    """The mutations that nobody notices."""
    missed, seen = [], set()
    for of, path, words, pattern, fact in MUTATIONS:
        def asked(of=of, path=path):
            return of(s, path)
        before = {f for f, wrong, _ in compared(asked) if wrong}
        s.spoil, s.has_spoilt = (words, pattern), False
        after = {f.split()[0] for f, wrong, _ in compared(asked) if wrong and f not in before}
        s.spoil = None
        if not s.has_spoilt:
            missed.append("%s: nothing matches %s in %s" % (fact, pattern, path))
        elif fact not in after:
            missed.append("%s: %s of %s is not noticed%s" % (fact, pattern, path, ", but " + ", ".join(sorted(after)) if after else ""))
        else:
            seen.add(fact)
    print("%d digits changed, %d facts whose change is noticed" % (len(MUTATIONS), len(seen)))
    for what in missed:
        print("not noticed: " + what)
    return 1 if missed or len(seen) < 12 else 0


def main():
    s = Strata(str(pathlib.Path(sys.argv[1]).resolve()))
    if "--self" in sys.argv:
        return notices(s)
    known = [l for l in KNOWN.read_text().split("\n") if l and l[0] != "#"] if KNOWN.exists() else []
    listed = set(re.findall(r"`([a-z]+(?:\.\w+)?)`", "".join(
        l.split("|")[1] for l in FACTS.read_text().split("\n") if l.startswith("| `"))))
    found, asked, seen, places = {}, 0, set(), set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        answers = list(pool.map(lambda question: (question[0], list(compared(question[1]))), questions(s)))
    for name, answered in answers:
        if answered:
            places.add(name)
        for fact, wrong, given in answered:
            asked += len(given) - 1
            seen.add(fact.split()[0])
            for door in wrong:
                line = "%s: %s: %s" % (name, fact, door)
                found[line] = "%s: %s" % (line, ", ".join("%s %s" % (d, str(a)[:160]) for d, a in given.items()))
    if "--update" in sys.argv:
        head = [l for l in KNOWN.read_text().split("\n") if l.startswith("#")] if KNOWN.exists() else []
        KNOWN.write_text("\n".join(head + sorted(found)) + "\n")
    if "--list" in sys.argv:
        print("\n".join(found.values()))
    # Samples of others are not listed: a fact whose difference is known of ours may differ there too.
    excused = {tuple(line.split(": ")[1:]) for line in known}
    others = {line for line in found if line.startswith("/") and tuple(line.split(": ")[1:]) in excused}
    new, gone = sorted(set(found) - set(known) - others), sorted(set(known) - set(found))
    for line in new:
        print("disagree: " + found[line])
    for line in gone:
        print("agree now, take it out of tests/agree/known.txt: " + line)
    for fact in sorted(seen ^ listed):
        print("%s: %s" % (fact, "not in docs/facts.md" if fact in seen else "in docs/facts.md, but no two doors were asked"))
    print("%d answers on %d facts of %d captures and pairs compared, %d disagree (%d known)" % (
        asked, len(seen), len(places), len(found) - len(others), len(known)))
    return 1 if (new or gone or seen ^ listed) and "--update" not in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
