"""Samples for tests: ours in tests/data, third-party ones below SHARED/data (CMake's STRATA_SHARED).

A test uses what is there: without SHARED our samples alone, and lists what it left out. A test without any sample
of ours fails, and so does one that misses a sample although SHARED is there.
"""
import pathlib
import sys

OURS = pathlib.Path(__file__).resolve().parent.parent / "data"

sys.dont_write_bytecode = True


class Samples:
    def __init__(self, shared):
        self.shared = pathlib.Path(shared).resolve() / "data"
        self.has_shared = self.shared.is_dir()
        self.left_out = []
        self.found = 0

    def path(self, name):
        """Where a sample lies; None when it is third-party and not there."""
        for root in (OURS, self.shared):
            if (root / name).exists():
                self.found += 1
                return root / name
        if self.has_shared:
            raise FileNotFoundError("%s is neither in %s nor in %s" % (name, OURS, self.shared))
        self.left_out.append(name)
        return None

    def ours(self, pattern):
        """Samples of tests/data, in order."""
        found = sorted(OURS.glob(pattern))
        self.found += len(found)
        return found

    def glob(self, pattern):
        """Samples of either place, ordered by their names below it."""
        found = {str(p.relative_to(root)): p for root in (self.shared, OURS) for p in root.glob(pattern)}
        self.found += len(found)
        if not self.has_shared:
            self.left_out.append(pattern)
        return [found[name] for name in sorted(found)]

    def exit_code(self, is_bad):
        if self.left_out:
            print("left out (third-party, not there): " + ", ".join(self.left_out))
        if self.found == 0:
            print("no sample of ours: nothing was tested")
            return 1
        return 1 if is_bad else 0
