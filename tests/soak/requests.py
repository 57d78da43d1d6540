#!/usr/bin/env python3
"""Ten million requests to one worker: its memory after the first million and after the last may differ by 1 %.

Handlers use the query, a header, a cookie, an array and a waiting coroutine now and then. Needs wrk.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "e2e")]

from support import Server, rss  # noqa: E402

MILLION = 1_000_000
BOUND = 0.01
HANDLER = """
    $name = $request->get['name'] ?? 'nobody';
    $seen = ($request->cookie['seen'] ?? 0) + 1;
    if ($seen % 7 === 0) {
        Coroutine::sleep(0.001);
    }
    $response->header('X-Agent', $request->header['user-agent'] ?? '');
    $response->cookie('seen', (string) $seen);
    $response->end(json_encode(['name' => $name, 'rows' => array_fill(0, 10, strtoupper($name))]));
"""
SCRIPT = """
local number = 0
request = function()
    number = number + 1
    return wrk.format("GET", "/?name=n" .. number % 1000, {["Cookie"] = "seen=" .. number % 100, ["User-Agent"] = "wrk"})
end
"""


def asked(server, script, most):
    """Has wrk ask until the worker has begun so many requests."""
    while (count := server.status()["totals"]["requests"]) < most:
        line = ["wrk", "-t1", "-c64", "-d5", "-s", str(script), server.url("/")]
        said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in said or "Socket errors" in said:
            raise AssertionError(said)
        if server.status()["totals"]["requests"] == count:
            raise AssertionError(f"nothing was answered: {said}")
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("millions", nargs="?", type=int, default=10, metavar="MILLIONS")
    parser.add_argument("--figures", action="store_true", help="the last line is what was measured, as JSON")
    options = parser.parse_args()
    millions = options.millions
    if not shutil.which("wrk"):
        print("wrk is not installed\n0 passed, 0 failed, 1 skipped")
        return 0
    with Server(HANDLER) as server:
        script = server.folder / "requests.lua"
        script.write_text(SCRIPT)
        [worker] = server.workers()
        found = []
        for many in (1, millions):
            count = asked(server, script, many * MILLION)
            found.append(rss(worker))
            print(f"after {count:,} requests: {found[-1]:,} bytes", flush=True)
        good = server.workers() == [worker] and abs(found[1] / found[0] - 1) <= BOUND
    print("1 passed, 0 failed" if good else f"memory went from {found[0]:,} to {found[1]:,} bytes\n0 passed, 1 failed")
    if options.figures:
        first, last = found
        print(json.dumps({"answered": count, "first": first, "last": last, "rise": (last / first - 1) * 100, "wrong": not good}))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
