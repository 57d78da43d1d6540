"""All benchmarks, by the first word behind bench/run; none: that of requests."""

from importlib import import_module

SUITES = {
    "": ("web", "Web"),
    "db": ("db.suite", "Databases"),
    "ws": ("ws.suite", "WebSockets"),
    "coro": ("coro", "Coro"),
    "memory": ("memory", "Memory"),
    "pack": ("pack", "Pack"),
    "tasks": ("tasks", "Tasks"),
    "start": ("start", "Start"),
    "superglobals": ("superglobals", "Superglobals"),
    "preemption": ("preemption", "Preemption"),
    "compat": ("compat", "Compat"),
    "tls": ("tls", "Tls"),
    "travel": ("travel.suite", "Travel"),
    "front": ("front", "Front"),
    "api": ("api", "Api"),
    "serve": ("serve", "Serve"),
    "soak": ("soak", "Soak"),
}


def find(word: str) -> type:
    module, name = SUITES[word]
    return getattr(import_module(f"harness.{module}"), name)


def main(words: list[str]) -> int:
    if words and words[0] in SUITES:
        return find(words[0]).main(words[1:])
    return find("").main(words)
