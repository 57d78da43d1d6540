"""What a server has to bear meanwhile, and what is seen of its memory."""

import os
import pathlib
import signal
import statistics
import time
import unittest

# What may come and go: buffers of clients that are being answered, a process more while another leaves.
MASTER_BOUND = 1 << 20
FRESH_BOUND = 1.15
DESCRIPTOR_BOUND = 4
# What has to stay flat, and is kept of a run.
KEPT = ("master", "each", "descriptors")
# A straight line through samples of a shorter time says nothing.
LINE_FROM = 900
LINE_BOUND = 0.01


class Chaos:
    """Reloads and kills, by the clock; those of these roles are killed in turn."""

    def __init__(self, site, options, rng, roles=("script", "worker")):
        self.site, self.options, self.random, self.roles = site, options, rng, roles
        now = time.monotonic()
        self.next_reload, self.next_kill = now + options.reload, now + options.kill * 0.75
        self.reloads, self.kills, self.problems = 0, [], []

    def turn(self):
        now = time.monotonic()
        if now >= self.next_reload:
            self.next_reload = now + self.options.reload
            answer = self.site.control("reload wait")
            self.reloads += 1
            if not answer.get("ok"):
                self.problems.append(f"a reload failed: {answer}")
        elif now >= self.next_kill:
            self.next_kill = now + self.options.kill
            self.kill(self.roles[len(self.kills) % len(self.roles)])

    def kill(self, role):
        serving = [worker["pid"] for worker in self.site.status()["workers"] if worker["role"] == role and worker["state"] == "serving"]
        if not serving:
            self.problems.append(f"no {role} serves")
            return
        self.kills.append((time.monotonic(), role))
        try:
            os.kill(self.random.choice(serving), signal.SIGKILL)
        except ProcessLookupError:
            pass


class Memory:
    """The master's memory, that of all together, descriptors, processes, temporary files; once every two seconds."""

    EVERY = 2.0

    def __init__(self, site, temporary, kept_back=0):
        """`kept_back`: bytes that a process may keep of what was freed."""
        self.site, self.temporary, self.samples, self.next = site, temporary, [], 0.0
        self.kept_back = kept_back
        # By how much a straight line through the second half of the samples rises; not in a short run.
        self.rises = {}
        self.begun = time.monotonic()

    def look(self):
        now = time.monotonic()
        if now < self.next:
            return
        self.next = now + self.EVERY
        master = self.site.pid
        pids = self.site.workers()
        shares = [share for share in map(own, (master, *pids)) if share]
        self.samples.append({
            "at": now - self.begun,
            "master": anonymous(master),
            "each": sum(shares) / len(shares),
            "processes": len(pids),
            "descriptors": len(os.listdir(f"/proc/{master}/fd")),
            "files": len(os.listdir(self.temporary)),
        })

    def halves(self, what):
        """The medians of the second and of the last fifth, for the first one warms up; of the memory of each process the
        most, for after a reload all begin small."""
        fifth = max(1, len(self.samples) // 5)
        parts = self.samples[fifth : 2 * fifth] or self.samples, self.samples[-fifth:]
        of = max if what == "each" else statistics.median
        return [of([sample[what] for sample in part]) for part in parts]

    def summary(self):
        shown = ", ".join("{} {:,.0f} -> {:,.0f}".format(what, *self.halves(what)) for what in self.samples[0] if what != "at")
        return f"memory of {len(self.samples)} looks, second fifth -> last: {shown}"

    def rising(self):
        """What a straight line through the second half of the samples rises by, where that is too much."""
        half = self.samples[len(self.samples) // 2 :]
        if half[-1]["at"] - half[0]["at"] < LINE_FROM:
            return []
        found = []
        for what in KEPT:
            line = statistics.linear_regression([one["at"] for one in half], [one[what] for one in half])
            rise = line.slope * (half[-1]["at"] - half[0]["at"]) / statistics.mean(one[what] for one in half)
            self.rises[what] = rise
            print(f"a line through the second half of {what} rises by {rise:.2%}")
            if rise > LINE_BOUND:
                found.append(f"{what} rises by {rise:.2%}")
        return found

    def figures(self):
        """The last fifth's, what rises by how many per cent, and the means of each minute."""
        sizes = {what: self.halves(what)[1] for what in KEPT}
        rises = {f"{what}_rise": rise * 100 for what, rise in self.rises.items()}
        return {**sizes, **rises, "minutes": {what: self.minutes(what) for what in KEPT}}

    def minutes(self, what):
        of = {}
        for sample in self.samples:
            of.setdefault(int(sample["at"] // 60), []).append(sample[what])
        return [round(statistics.mean(seen)) for seen in of.values()]

    def problems(self):
        found = []
        for what, allowed in (
            ("master", lambda before: before + MASTER_BOUND),
            ("each", lambda before: before * FRESH_BOUND + self.kept_back),
            ("descriptors", lambda before: before + DESCRIPTOR_BOUND),
            ("processes", lambda before: before + 2),
            ("files", lambda before: before + 12),
        ):
            before, after = self.halves(what)
            if after > allowed(before):
                found.append(f"{what} went from {before:,.0f} to {after:,.0f}")
        return found


def anonymous(pid):
    """Bytes that are a process's own: opcache and other memory that all share come and go with what is looked at."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("RssAnon:"))


def own(pid):
    """Bytes of a process's own memory, also where that is swapped out, what it shares counted in parts; 0 when it is
    gone. Neither of files, which the kernel drops and reads again as it likes, nor shared memory, whose size is fixed: of
    a queue each page is resident once the queue has come round to it, however long that takes."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    parts = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if "Pss" in line}
    return parts.get("Pss_Anon", 0) + parts.get("SwapPss", 0)


def counted(soak, options):
    """Runs a soak, a test case; the last line counts. The exit code."""
    soak.options = options
    print(f"seed {options.seed}", flush=True)
    result = unittest.TextTestRunner(verbosity=0).run(soak())
    bad = len(result.failures) + len(result.errors)
    print(f"{len(result.skipped)} skipped\n{result.testsRun - bad - len(result.skipped)} passed, {bad} failed")
    return 1 if bad else 0
