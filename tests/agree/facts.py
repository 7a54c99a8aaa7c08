"""The facts: each function asks the doors that can give one, and yields (name, {door: answer}).

An answer that is None was not given. The first word of a name stands in docs/facts.md.
"""
import json
import pathlib
import re
import shutil
import tempfile

from doors import ROOT, Shown, ms, percent, table, time_in

NOTHING = ("healthy", "unknown")


def flat(text):
    return re.sub(r"\s+", " ", text)


def first_line(text):
    """The first sentence of a report, behind one that says that the recording is not whole."""
    lines = [l for l in text.split("\n")[1:] if l.strip()]
    return next((l for l in lines if not l.startswith("The recording is not whole")), "")


def lead_set(model):
    return model["sets"][model["lead"]] if model and model["sets"] else None


def reported(s, path, sentence):
    """A sentence as the report on idle time has it, or its own first one."""
    text = s.text("anomaly", path)
    return sentence if flat(sentence) in flat(text) else first_line(text)


def has_diagnosis(s, path):
    return "verdict" in s.json("diagnose", path)


# ---- one capture ----

def verdicts(s, path):
    d, text, (model, _) = s.json("diagnose", path), s.text(path), s.page(path)
    anomaly, alone = s.json("anomaly", path).get("diagnosis") or {}, s.json("analyze", "diagnosis", path)
    v, first, headline = d["verdict"], (d["causes"] or [None])[0], first_line(text)
    shown = model["verdict"] if model and model["kind"] == "capture" and model["verdict"]["id"] != "report" else None
    elsewhere = {"anomaly": anomaly.get("verdict") or {}, "analyze": alone.get("verdict") or {}}
    yield "verdict.cause", dict({"json": v["cause"], "page": shown and shown["id"]},
                                **{door: o.get("cause") for door, o in elsewhere.items()})
    # The page has the first sentence, and the rest in its cards.
    said = shown and shown["text"]["en"].rstrip(".").replace("µs", "us")
    yield "verdict.text", dict({"json": v["text"], "text": headline if d["accounting"] else None,
                                "report": reported(s, path, v["text"]) if d["accounting"] and shown else None,
                                "page": v["text"] if said is None or said in v["text"] else said},
                               **{door: o.get("text") for door, o in elsewhere.items()})
    told = re.search(r"Saves (up to|at least|about) ([^(]*?)(?: once[^(]*)? ?\(([\d.]+) % of (?:the )?(\S+ \w+)", headline)
    card = next((a for a in model["actions"] if a["id"] == v["cause"]), None) if model else None
    if v["cause"] not in NOTHING:
        yield "verdict.saving", dict({"json": ms(v["saving_ms"]), "text": time_in(told[2]) if told else None,
                                      "page": ms(card["saving"] / 1e6) if card else None,
                                      "first cause": ms(first["saving_ms"]) if first and first["id"] == v["cause"] else None},
                                     **{door: ms(o.get("saving_ms")) for door, o in elsewhere.items()})
        yield "verdict.share", dict({"json": Shown(v["saving_share"], 1e-4), "text": percent(told[3]) if told else None,
                                     "page": Shown(card["share"], 1e-6) if card else None},
                                    **{door: Shown(o["saving_share"], 1e-4) for door, o in elsewhere.items() if o})
        yield "verdict.share base", {"json": ms(v["base_ms"]), "text": time_in(told[4]) if told else None}
        words = {"up to": "at_most", "at least": "at_least", "about": "about"}
        yield "verdict.bound", {"json": v["saving_bound"], "page": card["saving_bound"] if card else None,
                                "text": (v["saving_bound"] if "once in" in told[0] or v["saving_bound"] == "in_recording"
                                         else words[told[1]]) if told else None}
    said = re.search(r"; (sure|likely|possible|unknown)\)", headline)
    yield "verdict.confidence", dict({"json": v["confidence"], "page": shown and shown["confidence"]["en"],
                                      "text": said[1] if said else None},
                                     **{door: o.get("confidence") for door, o in elsewhere.items()})


def causes(s, path):
    d, rows = s.json("diagnose", path), table(s.text(path), "cause")
    changes = {(c["change"], c["site"]): c for c in s.json("whatif", path).get("changes", [])}
    for i, cause in enumerate(d["causes"]):
        cells = rows[i] if i < len(rows) else {}
        name = " " + cause["id"]
        yield "cause.saving" + name, {"json": ms(cause["saving_ms"]),
                                      "text": Shown.of_text(cells["saves ms"]) if cells else None}
        words = (cause["whatif"] or "").split()
        kind, _, site = (words or [""])[0].partition(":")
        change = changes.get((kind, site or None)) if len(words) == 1 else None
        is_recorded = change and (change["saving_share"] is None or cause["saving_base"] == "recorded_step")
        share = change and change["profiled_saving_share" if is_recorded else "saving_share"]
        yield "cause.share" + name, {"json": Shown(cause["saving_share"], 1e-4),
                                     "text": percent(cells["saves %"]) if cells else None,
                                     "whatif": None if share is None else Shown(share, 1e-4),
                                     "by its base": Shown(cause["saving_ms"] / cause["base_ms"], 1e-4) if cause["base_ms"] else None}
        yield "cause.share base" + name, {"json": ms(cause["base_ms"]),
                                          "text": Shown.of_text(cells["of ms"]) if cells else None}
        yield "cause.confidence" + name, {"json": cause["confidence"], "text": cells.get("confidence"),
                                          "whatif": change and change["confidence"]}
        yield "verdict.bound of" + name, {"json": cause["saving_bound"],
                                     "text": {"at most": "at_most", "at least": "at_least", "once": "in_recording"}.get(
                                         cells["saving is"], cells["saving is"]) if cells else None,
                                     "whatif": change and change["saving_bound"]}


def changes(s, path):
    """What-ifs as text and as JSON; nothing saves more together than by itself."""
    document = s.json("whatif", path)
    rows = table(s.text("whatif", path), "change")
    for i, change in enumerate(document.get("changes", [])):
        cells = rows[i] if i < len(rows) else {}
        share = change["profiled_saving_share"] if change["saving_share"] is None else change["saving_share"]
        step = change["profiled_ms"] if change["unprofiled_ms"] is None else change["unprofiled_ms"]
        name = " %s %s" % (change["change"], change["site"] or "")
        yield "change.saving" + name, {"json": Shown(share, 1e-6), "text": percent(cells["saves %"]) if cells else None}
        yield "change.saving step" + name, {"json": ms(step), "text": Shown.of_text(cells["step ms"]) if cells else None}
    base = document.get("step") or {}
    last = (document.get("together") or [None])[-1]
    if last:
        kind = "unprofiled" if last["unprofiled_ms"] is not None else "recorded"
        share = document["saving_share"] if kind == "unprofiled" else document["profiled_saving_share"]
        after = last["unprofiled_ms"] if kind == "unprofiled" else last["profiled_ms"]
        yield "change.saving together", {"json": ms(base[kind + "_ms"] * (1 - share)), "last step": Shown(after, 1e-5 * after)}


def steps(s, path):
    d, text, (model, _) = s.json("diagnose", path), s.text(path), s.page(path)
    step, shown = d["step"], re.search(r"^(\d+)(?: of (\d+))? steps? of ([\d.]+ \S+) on the device", text, re.M)
    lead = lead_set(model)
    mean, other = lead.get("step_mean") if lead else None, s.json("whatif", path).get("step") or {}
    kinds = [g["units_a"] for c in s.json("diff", path, path).get("comparisons", []) for g in c["kinds"] if g["label"] == "step"]
    yield "step.count", {"json": step["count"], "text": int(shown[1]) if shown else None, "page": mean["n"] if mean else None}
    yield "step.device_ms", {"json": ms(step["device_period_ms"]), "text": time_in(shown[3]) if shown else None,
                             "page": ms(mean["time"] / 1e6) if mean else None, "whatif": ms(other.get("recorded_ms")),
                             "diff": same_units(s, path, step) if kinds == [step["count"]] else None}
    yield "step.unprofiled_ms", {"json": ms(step["unprofiled_estimate_ms"]), "whatif": ms(other.get("unprofiled_ms"))}
    yield "step.replayed_ms", {"json": ms(step["profiled_ms"]), "whatif": ms(other.get("profiled_ms"))}
    if step["unprofiled_estimate_ms"] and other.get("recorded_ms"):
        yield "step.unprofiled_ms at most", {"json": True, "as recorded":
                                             step["unprofiled_estimate_ms"] <= step["device_period_ms"] + 1e-5}


def same_units(s, path, step):
    kind = s.json("diff", path, path)["comparisons"][0]["kinds"][0]
    return None if step["is_mixed"] else ms(kind["change"]["a"] / 1e6)


def classes(s, path):
    d, text, (model, _) = s.json("diagnose", path), s.text(path), s.page(path)
    lead, step = lead_set(model), d["step"]
    mean, rows = lead.get("step_mean") if lead else None, table(text, "class")
    names = {model["words"].get(c, {}).get("en"): c for c in lead["classes"]} if lead else {}
    shown = {names.get(r["class"]): r for r in rows}
    summed = of_sql(s, path, step["count"])
    for c in d["accounting"]:
        row = shown.get(c["class"])
        place = lead["classes"].index(c["class"]) if lead and c["class"] in lead["classes"] else None
        ns = summed.get(tuple(c["class"].partition(".")[::2])) if summed else None
        yield "class.ms " + c["class"], {
            "json": ms(c["ms"]), "text": Shown.of_text(row["ms"]) if row else None,
            "page": ms(mean["by"][place] / 1e6) if mean and place is not None else None,
            "sql": Shown(ns / 1e6 / (1 if step["is_mixed"] else step["count"]), 1.1e-6) if ns is not None else None}


def of_sql(s, path, count):
    """{(class, part): ns} of the steps that count, by the table of SQL: the last ones with work."""
    rows = s.sql(path, "SELECT window_ts, class, part, sum(ns), device FROM accounting GROUP BY 1, 2, 3 ORDER BY 1")
    if not rows or len({r[4] for r in rows}) > 1:
        return None
    windows = sorted({r[0] for r in rows if r[1] != "idle" and r[3] > 0})[-count:]
    out = {}
    for window, kind, part, ns, _ in rows:
        if window in windows:
            out[kind, part or ""] = out.get((kind, part or ""), 0) + ns
    return out if len(windows) == count else None


def kernels(s, path):
    ops, (model, _), info = s.json("ops", path), s.page(path), s.json("info", path)
    if "rows" not in ops:
        return
    lead = lead_set(model)
    rows = s.sql(path, "SELECT count(*), sum(dur) FROM kernels")
    group = (info.get("captures") or [info])[0].get("kernels") or {}
    found = re.search(r"^(\d+) kernels?(?: and| or)", s.text("ops", path), re.M)
    devices, told = s.json("gpu", "timeline", path).get("devices") or [], s.run("gpu", "timeline", path)[2]
    counted = sum(d["kernel_count"] + d["memcpy_count"] + d["memset_count"] for d in devices)
    has_rows = "graph-level" in told  # a graph is one row: none of its kernels is known
    yield "kernels.count", {"ops": ops["kernels"], "sql": rows[0][0] if rows else None, "info": group.get("count"),
                            "text": int(found[1]) if found else None,
                            "timeline": counted if devices and not has_rows else None}
    yield "kernels.device_ms", {"ops": ms(ops["device_ns"] / 1e6), "sql": ms((rows[0][1] or 0) / 1e6) if rows else None,
                                "info": ms(sum(k["dur_ns"] for k in group.get("by_kind", {}).values()) / 1e6)}
    if not lead or not ops["kernels"] or len(lead["kernels"]) != lead["kernels_total"]:
        return
    yield "kernels.flop", {"ops": Shown(ops["flops"] or 0), "page": Shown(sum((k["flops"] or 0) * k["count"] for k in lead["kernels"]))}
    yield from families(s, path, lead)


# Families as the page has them, of those of `ops`.
FOLDED = {"gemm_tensor": 0, "gemm_simt": 0, "conv": 0, "attention": 1, "norm_softmax_reduce": 2, "elementwise": 2,
          "embedding": 2, "optimizer": 2, "random": 2, "layout": 3, "index_sort": 3, "communication": 4, "copy": 5,
          "aicpu": 6, "other": 6}


def families(s, path, lead):
    by = s.json("ops", path, "--by", "family")
    sums, page = {}, {}
    for row in by.get("rows", []):
        sums[FOLDED[row["name"]]] = sums.get(FOLDED[row["name"]], 0) + row["device_ns"]
    for k in lead["kernels"]:
        page[k["family"]] = page.get(k["family"], 0) + k["total"]
    for family in sorted(set(sums) | set(page)):
        yield "family.ms %d" % family, {"ops": ms(sums.get(family, 0) / 1e6), "page": ms(page.get(family, 0) / 1e6)}


def communication(s, path):
    exposed, calls = s.json("analyze", "exposed", path), s.json("analyze", "collectives", path)
    if not exposed.get("steps"):
        return
    devices, told = s.json("gpu", "timeline", path).get("devices") or [], s.run("gpu", "timeline", path)[2]
    marked = s.sql(path, "SELECT sum(dur) FROM steps")
    text = re.search(r"of communication, (\S+ \w+) of it exposed: ([\d.]+) % of (\S+ \w+)", s.text("analyze", "exposed", path))
    all_ns, comm_ns = (sum(x[key] for x in exposed["steps"]) for key in ("exposed_ns", "communication_ns"))
    sources = {x["format"] for c in s.json("info", path).get("captures", []) for x in c["sources"]}
    # The profiler's own list of collectives may have others, and at other times, than the timeline.
    is_same = calls.get("time_ns") == comm_ns and not sources & {"communication", "ascend-db", "analysis-db"}
    yield "comm.exposed", {
        "exposed": ms(all_ns / 1e6), "text": time_in(text[1]) if text else None,
        "collectives": ms(calls["exposed_ns"] / 1e6) if is_same else None,
        "timeline": ms(devices[0]["exposed_comm_ns"] / 1e6) if len(devices) == 1 and "graph-level" not in told else None}
    yield "comm.exposed share", {"json": Shown(exposed["all"]["exposed_share"], 1e-9), "text": percent(text[2]) if text else None}
    yield "comm.exposed base", {"sql": ms(marked[0][0] / 1e6) if marked and marked[0][0] else None,
                                "text": time_in(text[3]) if text else None}


def gaps(s, path):
    """Idle time by cause; the timeline begins with the first work of the device (gaps.py has bubbles, too)."""
    pieces = s.sql(path, "SELECT coalesce(device, -1), cause, ts, end_ts FROM gaps")
    for device in s.json("gpu", "timeline", path).get("devices") or []:
        (begin, end), listed = device["window_ns"], {}
        for number, cause, since, until in pieces:
            length = min(until, end) - max(since, begin)
            if number == device["device"] and length > 0:
                listed[cause] = listed.get(cause, 0) + length
        told = {c["cause"]: c["total_ns"] for c in device["gap_causes"]}
        yield "gap.ms all", {"causes": ms(sum(told.values()) / 1e6), "idle time": ms(device["idle_ns"] / 1e6)}
        for cause in sorted((set(told) | set(listed)) - {"outside_steps"}):
            yield "gap.ms " + cause, {"timeline": ms(told.get(cause, 0) / 1e6), "sql": ms(listed.get(cause, 0) / 1e6)}


def memory(s, path):
    document, (model, _) = s.json("memory", path), s.page(path)
    lead, text = lead_set(model), s.text("memory", path)
    if not document.get("pools"):
        return
    pool = document["pools"][0]
    shown = {m["name"]: m for m in (lead or {}).get("memory") or []}.get(pool["pool"])
    row = (table(text, "pool") or [{}])[0]
    peak = re.search(r"^Peak ([\d.,]+) (B|kB|KB|MB|GB)", text, re.M)
    yield "memory.peak", {"json": Shown(pool["peak_bytes"] / 1e6), "page": Shown(shown["peak"] / 1e6) if shown else None,
                          "table": Shown.of_text(row["peak MB"]) if row else None,
                          "text": Shown.of_text(peak[1], {"B": 1e-6, "kB": 1e-3, "KB": 1e-3, "MB": 1, "GB": 1e3}[peak[2]])
                          if peak else None}


def marks(s, path):
    """Steps from mark to mark: the anomaly document, SQL, operators, exposed communication, the page."""
    document, (model, _) = s.json("anomaly", path), s.page(path)
    rows = s.sql(path, "SELECT dur, name FROM steps ORDER BY ts")
    ops, exposed = s.json("ops", path).get("steps") or [], s.json("analyze", "exposed", path).get("steps") or []
    shown, lead = table(s.text("anomaly", path), "step"), lead_set(model)
    host = [x["host"][1] - x["host"][0] for x in lead["steps"]] if lead else []
    told = [x for x in document.get("steps") or [] if x.get("service_ms") is not None]
    for i, step in enumerate(told):
        is_whole = step["step_id"] == "pseudo"  # elsewhere what repeats is the steps then
        yield "step.service_ms %s" % step["step_id"], {
            "anomaly": ms(step["service_ms"]),
            "text": Shown.of_text(shown[i]["by marks ms"]) if i < len(shown) and len(shown) == len(told) else None,
            "sql": ms(rows[i][0] / 1e6) if len(rows) == len(told) and not is_whole else None,
            "ops": ms(ops[i]["duration_ns"] / 1e6) if len(ops) == len(told) + 1 and not is_whole else None,
            "exposed": ms(exposed[i]["service_ns"] / 1e6) if len(exposed) == len(told) and not is_whole else None,
            "page": ms(host[i] / 1e6) if len(host) == len(told) and not is_whole else None}


def gates(s, path):
    """A gate measures what SQL and the anomaly document say: the longest step, the idle share."""
    document = s.json("check", path, "--max-idle", "0.0001%", "--max-step", "1ns")
    told = {g["gate"].split()[0]: g["text"] for g in document.get("gates", [])}
    rows = s.sql(path, "SELECT count(*), max(dur) FROM steps")
    anomaly = s.json("anomaly", path)
    whole = [x.get("step_id") for x in anomaly.get("steps") or []] == ["pseudo"]
    yield "step.longest_ms", {"check": time_in(told.get("--max-step", "").split(":")[-1]),
                              "sql": ms(rows[0][1] / 1e6) if rows and rows[0][1] and not whole else None,
                              "anomaly": ms(max((x["service_ms"] for x in anomaly.get("steps") or []), default=None))}
    idle = re.search(r"idle for ([\d.]+) %", told.get("--max-idle", ""))
    share = [(x["service_ms"], x.get("underfeed_ms")) for x in anomaly.get("steps") or [] if x.get("service_ms")]
    if idle and share and all(b is not None for _, b in share):
        yield "step.idle_share", {"check": percent(idle[1]), "anomaly": Shown(sum(b for _, b in share) / sum(a for a, _ in share), 1e-3)}


def itself(s, path):
    told = [c.get("verdict") for c in s.json("diff", path, path).get("comparisons", [])]
    changed = [v for v in told if v in ("slower", "faster")]
    yield "pair.change self", {"json": changed or 0, "the same capture": 0}


def libraries(s, path):
    """The same document through the protocol for agents and through the library."""
    document = s.json("diagnose", path)
    if "causes" in document or "culprits" in document:
        content = s.mcp("diagnose", path=str(ROOT / path)).get("structuredContent") or {}
        yield "verdict.text document", {"json": document, "mcp": content.get("result", content) or None,
                                        "python": s.python(path, "diagnose") or None}


# ---- what a first screen asks for next ----

def follow_ups(s, path):
    """The commands that the first screen names run, and show something."""
    text = s.text(path)
    block = re.search(r"^  next  +(.*(?:\n {6,}.*)*)", text, re.M)
    for line in block[1].split("\n") if block else []:
        words = [w.replace("$P", path) for w in line.split("#")[0].split()]
        if words[:1] != ["strata"] or any("=" in w or w in ("|", ">") for w in words):
            continue
        if "-o" in words:  # writes
            words[words.index("-o") + 1] = "/dev/null"
            words += ["--to", "html"]
        code, out, _ = s.run(*words[1:])
        yield "next " + words[1], {"exit code": code, "of a command that works": 0}
        heads = {"ops": "name", "anomaly": "step", "whatif": "change"}
        rows = [r for head in (heads.get(words[1], "name"), "rank") for r in table(out, head)]
        numbers = [c for r in rows for c in r.values() if re.fullmatch(r"\d[\d.,]*", c) and float(c.replace(",", "")) != 0]
        if words[1] not in heads and "-o" not in words:
            numbers = re.findall(r"[1-9]", "".join(out.split("\n")[1:]))
        says_none = "-o" in words or re.search(r"^No |No change saves|Nothing to group|no such|missing  ", out, re.M) is not None
        yield "next rows of " + words[1], {"rows with numbers": bool(numbers) or says_none, "of a command that helps": True}
        if words[1] == "ops":
            yield "next device time", {"rows with device time": not rows or "device ms" not in rows[0] or any(
                float(r.get("device ms", 0)) > 0 or float(r.get("device %", 0)) > 0 for r in rows), "of a capture with kernels": True}


# ---- several ranks ----

def who(c):
    return c["kind"], c["rank"], tuple((c["link"] or {}).values()), c["saving_total_ms"], c["confidence"]


def first_number(text):
    found = re.search(r"[Rr]ank (\d+)", text)
    return int(found[1]) if found else None


def ranks(s, path):
    d, cluster, (model, _), text = s.json("diagnose", path), s.json("cluster", path), s.page(path), s.text(path)
    (views, _), together = s.page("anomaly", path), s.text("cluster", path)
    named = [who(c) for c in d.get("culprits", [])]
    rows = table(together, "who")
    yield "ranks.culprits", {"json": named, "cluster": [who(c) for c in cluster.get("culprits", [])]}
    for i, told in enumerate(named):
        share, base = d["culprits"][i]["share"], d["culprits"][i]["base_ms"]
        row = rows[i] if i < len(rows) else {}
        sentence = re.findall(r"(?:takes|save) ([\d.]+) ms[^(]*\(([\d.]+) % of ([\d.]+) ms\)", text)
        yield "ranks.saving %d" % i, {"json": ms(told[3]), "cluster text": Shown.of_text(row["saves ms"]) if row else None,
                                      "text": Shown.of_text(sentence[i][0]) if i < len(sentence) else None}
        yield "ranks.saving share %d" % i, {"json": Shown(share, 1e-9), "cluster text": percent(row["share %"]) if row else None,
                                            "text": percent(sentence[i][1]) if i < len(sentence) else None,
                                            "by its base": Shown(told[3] / base, 1e-6)}
        yield "ranks.saving base %d" % i, {"json": ms(base), "cluster text": Shown.of_text(row["of ms"]) if row else None,
                                           "text": Shown.of_text(sentence[i][2]) if i < len(sentence) else None}
    for door, m in (("page", model), ("anomaly page", views)):
        for i, card in enumerate(m["actions"] if m and named else []):
            yield "ranks.saving %s %d" % (door, i), {"json": ms(named[i][3]) if i < len(named) else None, door: ms(card["saving"] / 1e6)}
            yield "ranks.culprits %s %d" % (door, i), {
                "json": (named[i][0], named[i][4]) if i < len(named) else None, door: (card["id"], card["confidence"]["en"])}
    yield "ranks.culprits first", {"json": named[0][1] if named else None, "text": first_number(text),
                                   "cluster text": first_number(together), "page": first_number(model["verdict"]["text"]["en"])
                                   if model else None, "anomaly page": first_number(views["verdict"]["text"]["en"]) if views else None}
    yield "ranks.culprits verdict", {"json": d.get("text"), "text": first_line(text)}
    shown = {r.get("rank"): r for r in table(text, "rank")}
    for capture in d.get("captures", []):
        cells = shown.get(str(capture["rank"]), {})
        yield "step.device_ms of rank %s" % capture["rank"], {
            "json": ms(capture["mean_step_ms"]), "text": Shown.of_text(cells["step ms"]) if cells else None,
            "page": rank_step(model, capture["rank"])}
        yield "ranks.saving of %s" % capture["rank"], {"json": ms(capture["saving_total_ms"]),
                                                       "text": Shown.of_text(cells["run saves ms"]) if cells else None}
    means = {r.get("rank"): r for r in table(together, "rank")}
    for one in cluster.get("ranks", []):
        cells = means.get(str(one["rank"]), {})
        for key, head in (("step_ns", "step ms"), ("exposed_ns", "exposed ms"), ("awaited_ns", "awaited ms")):
            yield ("step.service_ms of rank %s" if key == "step_ns" else "comm.exposed " + key + " of rank %s") % one["rank"], {
                "cluster json": ms(one[key] / 1e6), "cluster text": Shown.of_text(cells[head]) if cells else None}


def rank_step(model, rank):
    of = next((x for x in model["sets"] if x["rank"] == rank), None) if model else None
    mean = of.get("step_mean") if of else None
    return ms(mean["time"] / 1e6) if mean and not mean.get("is_mixed") else None


# ---- two captures ----

def pairs(s, a, b):
    d, text, (model, _) = s.json("diff", a, b), s.text("diff", a, b), s.page("diff", a, b)
    one = (d.get("comparisons") or [{}])[0]
    gate = (s.json("check", b, "--baseline", a).get("gates") or [{}])[0]
    reported = s.text(a, b)
    yield "pair.change", {"json": one.get("text"), "text": one.get("text") if flat(one.get("text") or "?") in flat(text) else first_line(text),
                          "page": model and model["verdict"]["text"]["en"], "strata A B": one.get("text") if flat(
                              one.get("text") or "?") in flat(reported) else first_line(reported)}
    passes = {"faster": "pass", "same": "pass", "slower": "fail"}.get(one.get("verdict"))
    yield "pair.change gate", {"diff": passes, "check": {"faster": "pass", "pass": "pass", "fail": "fail"}.get(gate.get("verdict"))
                               if passes else None}
    told = re.search(r"takes (\S+ \w+) instead of (\S+ \w+)", one.get("text") or "")
    gated = re.search(r"takes (\S+ \w+) instead of (\S+ \w+)", gate.get("text") or "")
    for side, path, place in (("a", a, 2), ("b", b, 1)):
        step = s.json("diagnose", path).get("step") or {}
        kind = one["kinds"][0] if len(one.get("kinds") or []) == 1 else None
        is_same = kind and kind["units_" + side] == step.get("count") and not step.get("is_mixed")
        yield "pair.change %s" % side, {"diff": ms(kind["change"][side] / 1e6) if kind else None,
                                        "diff text": time_in(told[place]) if told and kind else None,
                                        "check": time_in(gated[place]) if gated and kind else None,
                                        "diagnose": ms(step["device_period_ms"]) if is_same else None}


# ---- one core ----

def cores(s, path):
    asked = ("pto", "cc" if path.endswith(".cpp") else "sim", path)
    d, text = (s.json(*asked).get("kernels") or [{}])[0], s.text(*asked)
    model, _ = s.page(*asked) if path.endswith(".cpp") else s.page(path)
    first = s.text(path)
    said = re.search(r"bound by (\w+): ([\d.]+) % of the critical path, ([\d.]+) % less time", text)
    again = re.search(r"bound by (\w+): ([\d.]+) % of the critical path, ([\d.]+) % less time", first)
    shown = re.search(r"Bound by (\w+): ([\d.]+) % of the critical path, ([\d.]+) % less time", model["verdict"]["text"]["en"]) if model else None
    best = (d.get("limits") or [{}])[0]
    cards = model["actions"] if model else []
    if "bound" not in d:
        return
    yield "kernel.bound", {"json": d.get("bound"), "text": said[1] if said else None, "strata PATH": again[1] if again else None,
                           "page": shown[1] if shown else None, "card": cards[0]["id"] if cards else None}
    with tempfile.TemporaryDirectory() as folder:
        yield from of_trace(s, d, asked, pathlib.Path(folder))
    if "bound_share" not in d:
        return
    yield "kernel.bound share", {"json": Shown(d["bound_share"], 1e-9), "text": percent(said[2]) if said else None,
                                 "strata PATH": percent(again[2]) if again else None, "page": percent(shown[2]) if shown else None}
    yield "kernel.bound saving", {"json": Shown(best["saved_share"], 1e-9) if best else None,
                                  "text": percent(said[3]) if said else None, "page": percent(shown[3]) if shown else None,
                                  "card": Shown(cards[0]["share"], 1e-6) if cards else None}
    cycles = re.search(r"^  (\d+) cycles", text, re.M)
    evidence = re.match(r"([\d   ]+) cycles", model["verdict"]["evidence"]["en"]) if model else None
    yield "kernel.bound cycles", {"json": d.get("cycles"), "text": int(cycles[1]) if cycles else None,
                                  "page": int(re.sub(r"\D", "", evidence[1])) if evidence else None}


def of_trace(s, d, asked, folder):
    """A trace that the simulator leaves is judged as the run was; so is the kernel among those of a build."""
    s.run(*asked, "--insight", str(folder / "left"))
    shown, told = s.json("incore", "show", str(folder / "left")), s.text("incore", "show", str(folder / "left"))
    cleaned = s.json("incore", "clean", str(folder / "left"), "-o", str(folder / "clean"))
    model, _ = s.page(str(folder / "left"))
    (folder / "build" / "ptoas").mkdir(parents=True)
    shutil.copy(ROOT / asked[2], folder / "build" / "ptoas")
    s.run("incore", "run", str(folder / "build"), "-o", str(folder / "run"))
    manifests = list((folder / "run").glob("*/manifest.json"))
    row = json.loads(manifests[0].read_text())["kernels"][0] if manifests else {}
    of = {"show": shown.get("breakdown") or {}, "clean": (cleaned or [{}])[0] if isinstance(cleaned, list) else {}}
    cycles = re.search(r"^  (\d+) cycles from the start of the core to the last result, (\d+) of them", told, re.M)
    yield "kernel.bound of the trace", {
        "pto sim": d["bound"], "incore run": row.get("bound"), "page": (model or {}).get("verdict", {}).get("id"),
        **{door: x["limits"][0]["limit"] if x.get("limits") else None for door, x in of.items()}}
    yield "kernel.bound saving of the trace", {
        "pto sim": Shown(d["limits"][0]["saved_share"]) if d.get("limits") else None,
        **{door: Shown(x["limits"][0]["saved_share"]) if x.get("limits") else None for door, x in of.items()}}
    yield "kernel.bound cycles of the trace", {
        "pto sim": d["cycles"], "incore run": row.get("cycles"), "text": int(cycles[1]) if cycles else None,
        **{door: x.get("cycles") for door, x in of.items()}}
    yield "kernel.bound start of the trace", {
        "pto sim": d["start_cycles"], "incore run": row.get("start_cycles"), "text": int(cycles[2]) if cycles else None,
        **{door: x.get("start_cycles") for door, x in of.items()}}


def replayed(s, path):
    """A kernel that a scene launches alone, and the same with the same arguments."""
    text = "%s/%s.pto" % (path, pathlib.Path(path).name)
    d = (s.json("pto", "sim", text, "--arg", "2=0.125", "--arg", "3=2").get("kernels") or [{}])[0]
    with tempfile.TemporaryDirectory() as folder:
        alone = s.json("incore", "replay", path + "/scene.json", "--case", "Small", "--func-id", "0", "--pto", text,
                       "--backend", "sim", "--set-arg", "3=2", "-o", folder + "/alone")
        shown = s.json("incore", "show", folder + "/alone/insight_export").get("breakdown") or {}
    yield "kernel.bound of the replay", {"pto sim": d.get("bound"),
                                         "show": shown["limits"][0]["limit"] if shown.get("limits") else None}
    yield "kernel.bound cycles of the replay", {"pto sim": d.get("cycles"), "incore replay": alone.get("cycles"),
                                                "show": shown.get("cycles")}


ALONE = [verdicts, causes, changes, steps, classes, kernels, communication, gaps, memory, marks, gates, itself, follow_ups]
RANKS = [ranks, follow_ups]
