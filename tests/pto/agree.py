"""What a simulated kernel says of itself: bound, critical path and what-if cannot contradict."""


def problems(result):
    """Sentences about a result of `pto sim --json --what-if`; none when all agree."""
    limits, cycles = result["limits"], result["cycles"]
    name = "%s (%s)" % (result["kernel"], result["sync"])
    if sum(r["cycles"] for r in result["path_reasons"]) != cycles:
        yield name + ": what the critical path waits for does not add up"
    if not limits:
        if result["bound"] != "nothing" or result["instructions"] > 0:
            yield name + ": bound by %s without anything to be bound by" % result["bound"]
        return
    best = max(limits, key=lambda l: l["saved_cycles"])
    if result["bound"] == "balance":
        if best["saved_cycles"] * 100 >= cycles:
            yield "%s: %s saves %d, but nothing bounds it" % (name, best["limit"], best["saved_cycles"])
    elif limits[0]["limit"] != result["bound"] or limits[0]["saved_cycles"] < best["saved_cycles"]:
        yield "%s: bound by %s, but %s saves more" % (name, result["bound"], best["limit"])
    if result["what_if"][0]["limit"] != limits[0]["limit"]:
        yield "%s: the best what-if is not the bound" % name
    for l in limits:
        if l["limit"] not in ("buffers", "sync") and l["saved_cycles"] > 1.13 * l["path_cycles"] + 2:
            yield "%s: %s saves %d with %d on the critical path" % (
                name, l["limit"], l["saved_cycles"], l["path_cycles"])
