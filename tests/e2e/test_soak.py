"""A short soak (tests/soak), and the judgements by which the long one passes or fails."""

import json
import os
import pathlib
import random
import subprocess
import sys
import unittest

import support

SOAK = support.HERE.parent / "soak"
sys.path[:0] = [str(SOAK), str(support.HERE.parent)]

import chaos  # noqa: E402
import load  # noqa: E402


def judged(route, status, body, number=7, mark="m1"):
    tally = load.Tally()
    load.judge(tally, route, number, mark, 0.0, status, body if isinstance(body, bytes) else json.dumps(body).encode())
    return tally


def right(route, number=7, mark="m1"):
    return {"ok": True, "route": route, "id": number, **load.expected(route, number, mark)}


def failure(message):
    return {"ok": False, "route": "pdo", "errors": [{"class": "PDOException", "code": 2006, "message": message}]}


class Judgement(unittest.TestCase):
    def test_right_answers(self):
        for route in load.ROUTES:
            tally = judged(route, 200, right(route))
            self.assertEqual((tally.right[route], tally.problems), (1, []), route)

    def test_data_of_another_request_is_a_problem(self):
        other = right("pdo", number=8)
        wrong = (
            ("pdo", other),
            ("pdo", other | {"id": 7}),
            ("pdo", right("pdo") | {"mark": "m2"}),
            ("pdo", right("redis")),
            ("unfinished", right("unfinished") | {"left": 1}),
        )
        for route, body in wrong:
            self.assertIn("WRONG ANSWER", "".join(judged(route, 200, body).problems), body)

    def test_answers_of_another_shape_are_a_problem(self):
        for status, body in (
            (200, b""),
            (200, b"<html>"),
            (500, failure("gone away")),
            (503, {"ok": False, "errors": []}),
            (200, failure("server has gone away")),
        ):
            self.assertEqual(len(judged("pdo", status, body).problems), 1, body)

    def test_clear_errors_are_no_problem_and_unclear_ones_are(self):
        tally = judged("pdo", 503, failure("SQLSTATE[HY000]: General error: 2006 MySQL server has gone away"))
        self.assertEqual((tally.problems, tally.clear["pdo"], len(tally.errors)), ([], 1, 1))
        for text in ("", "Call to a member function fetch() on bool", "MIXED: redis gave timeout"):
            self.assertIn("no clear error", judged("pdo", 503, failure(text)).problems[0])

    def test_errors_are_excused_in_storms_and_shortly_after(self):
        trouble = chaos.Chaos(random.Random(1), None, None)
        trouble.storms = [[10.0, 20.0]]
        for began, ended, excused in ((1, 9, False), (1, 10, True), (15, 16, True), (23, 24, True), (25, 26, False)):
            self.assertEqual(trouble.excused(began, ended, 4.0), excused, (began, ended))


class Soak(support.Case):
    def test_twenty_seconds(self):
        module = support.module()
        line = [sys.executable, str(SOAK / "soak.py")]
        variables = {**os.environ, "SOAK_SECONDS": os.environ.get("SOAK_SECONDS", "20"), "APUS_SO": module}
        done = subprocess.run(
            line,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=pathlib.Path.home(),
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout[-8000:])
        if "left out:" in done.stdout:
            self.skipTest(done.stdout.strip().splitlines()[-1])
        self.assertIn("passed: 0 problems", done.stdout)
