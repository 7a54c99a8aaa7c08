#!/usr/bin/env python3
"""What strata says when an input file is made shorter while it is mapped: SIGBUS comes.

usage: bus.py STRATA
The signal is sent while strata waits for its input, so that it always finds it at the same place.
"""
import pathlib
import signal
import subprocess
import sys
import time

PATIENCE = 60  # seconds


def is_set_up(pid):
    """SIGPIPE is ignored right after SIGBUS got its handler; a sanitizer has one of its own before."""
    for line in pathlib.Path("/proc/%d/status" % pid).read_text().splitlines():
        if line.startswith("SigIgn:"):
            return bool(int(line.split()[1], 16) >> (signal.SIGPIPE - 1) & 1)
    return False


with subprocess.Popen([sys.argv[1], "info", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                      stderr=subprocess.PIPE) as strata:
    end = time.monotonic() + PATIENCE
    while not is_set_up(strata.pid):
        if time.monotonic() > end or strata.poll() is not None:
            strata.kill()
            sys.exit("strata has no handler for SIGBUS")
        time.sleep(0.01)
    strata.send_signal(signal.SIGBUS)
    try:
        code = strata.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        strata.kill()
        sys.exit("SIGBUS did not end strata")
    said = strata.stderr.read().decode()
    if code != 3 or "truncated" not in said or said.count("\n") != 1:
        sys.exit("exit %d, said: %s" % (code, said))
