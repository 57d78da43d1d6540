"""The content of one results file: medians, ratios, the aims."""

from ..document import Aim, Document


class WsResults(Document):
    """The content of one results file."""

    FORMAT = "ws-1"

    def failed(self, case: str, contender: str) -> int | None:
        """Connections and messages that failed, over all rounds; one more where a measurement failed as a whole."""
        whole = int(f"{contender} in {case}" in self.document["failed"])
        runs = self.runs(case, contender)
        if not runs and not whole:
            return None
        return whole + sum(run["failed"] + run.get("out_of_order", 0) for run in runs)

    def all_failed(self, contender: str) -> int | None:
        counts = [count for case in self.cases if (count := self.failed(case, contender)) is not None]
        return sum(counts) if counts else None

    def aims(self) -> list[Aim]:
        aims = [Aim("Connections and messages of Apus that failed, at most", self.all_failed("apus"), 0)]
        for many in (64, 1000):
            case, text = f"echo-{many}", f"an echo, {many:,} connections"
            value = self.ratio(case, "cpu_us", "apus", "uws")
            aims.append(Aim(f"CPU {text}: Apus / {self.titles.get('uws', 'uws')}, at most", value, 1.1))
            for peer, limit in (("swoole", 0.4), ("node", 0.25)):
                value = self.own_ratio(case, peer)
                aims.append(Aim(f"Own part of the CPU of {text}: Apus / {self.titles.get(peer, peer)}, at most", value, limit))
        peer = self.titles.get("uws", "uws")
        value = self.ratio("open-20000", "seconds", "apus", "uws")
        aims.append(Aim(f"Time to open 20,000 connections at once: Apus / {peer}, at most", value, 1.5))
        value = self.ratio("idle-10000", "bytes", "apus", "swoole")
        aims.append(Aim("Memory of an idle connection: Apus / Swoole, at most", value, 0.25))
        aims.append(Aim("The same in bytes, Apus, at most", self.value("idle-10000", "apus", "bytes"), 1024))
        rate = self.value("push", "apus", "rate")
        aims.append(Aim("Pushes a second from worker to worker, at least", rate, 300_000, at_least=True))
        late = self.ratio("push-calm", "p99_us", "apus", "floor")
        aims.append(Aim("p99 of those at 30,000 a second: Apus / floor, at most", late, 1.5))
        return aims
