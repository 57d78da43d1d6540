"""The gateway's page in real browsers: two of them, on two workers, while workers are killed."""

import json
import os
import pathlib
import shutil
import signal
import tempfile
import unittest

from gateway import KEY, SECRET, GatewayCase, token
from support import until
from test_demo import BROWSER, Browser

STATE = "document.getElementById('state').className"
COUNT = "document.querySelectorAll('#messages li').length"
# The states that the page goes through, and the messages as they come.
WATCH = "gateway.onstate = (old => state => { (window.states ??= []).push(state.name); old(state); })(gateway.onstate)"


@unittest.skipUnless(BROWSER, "needs chromium")
class Page(GatewayCase):
    def page(self, server, path="/?user=tester01"):
        folder = tempfile.mkdtemp(prefix="apus-e2e-browser-")
        self.addCleanup(shutil.rmtree, folder, True)
        browser = Browser(folder)
        self.addCleanup(browser.close)
        self.go(browser, server, path)
        return browser

    def go(self, browser, server, path):
        browser.call("Page.navigate", url=server.url(path))
        browser.until(f"document.readyState === 'complete' && document.getElementById('state') && {STATE} !== 'small connecting' && {STATE} !== 'small'")

    def messages(self, browser):
        """Texts of the messages shown, the oldest first."""
        return browser.run("[...document.querySelectorAll('#messages li code')].map(c => c.textContent).reverse()")

    def push(self, server, **fields):
        """Pushes on a connection of its own, as the snippet does; none while the worker that takes it dies."""
        lines = None
        try:
            lines = self.lines(server)
            return lines.ask(**fields)
        except (OSError, EOFError):
            return {"ok": False, "error": "the worker is gone"}

    def spread(self, server):
        """Two browsers of one user, each on a worker of its own."""
        browsers = [self.page(server), self.page(server)]

        def on_both():
            if self.stats(server)["workers"] == [1, 1]:
                return True
            # The kernel chooses who accepts; on a quiet machine it takes some tries.
            self.go(browsers[1], server, "/?user=tester01")
            until("both are connected", lambda: self.stats(server)["connections"] == 2)
            return self.stats(server)["workers"] == [1, 1]

        until("each worker has a browser", on_both)
        return browsers

    def test_two_browsers_two_workers_and_a_worker_killed_in_between(self):
        server = self.gateway(workers=2)
        browsers = self.spread(server)
        self.assertEqual(self.push(server, user="tester01", command="update_data", message="before"), {"ok": True, "delivered": 2})
        for browser in browsers:
            browser.until(f"{COUNT} === 1")
            self.assertEqual(self.messages(browser), ['"before"'])
            browser.run(f"{WATCH}; 0")
        for round_, victim in enumerate(server.workers(), 1):
            os.kill(victim, signal.SIGKILL)
            until("it is replaced", lambda: victim not in server.workers() and len(server.workers()) == 2)
            # Both are connected again, by themselves.
            delivered = until("it reaches both", lambda: self.push(server, user="tester01", queue=False, message="probe").get("delivered") == 2)
            self.assertTrue(delivered)
            answer = until("it is taken", lambda: (a := self.push(server, user="tester01", message=f"after {round_}", wait=10))["ok"] and a)
            self.assertEqual((answer["delivered"], answer["acked"]), (2, True))
            for browser in browsers:
                browser.until(f"{COUNT} > 0 && document.querySelector('#messages li code').textContent === '\"after {round_}\"'")
        # Each of the first workers held one of them.
        for browser in browsers:
            states = browser.run("window.states")
            self.assertIn("waiting", states)
            self.assertEqual(states[-1], "open")
            said = self.messages(browser)
            self.assertEqual([text for text in said if text != '"probe"'], ['"before"', '"after 1"', '"after 2"'])

    def test_the_form_pushes_and_the_state_is_shown(self):
        server = self.gateway()
        browser = self.page(server)
        browser.until(f"{STATE} === 'small open'")
        browser.run("document.getElementById('ack').click(); document.getElementById('text').value = '{\"price\": 18}'; document.getElementById('go').click()")
        browser.until("/acked/.test(document.getElementById('answer').textContent)")
        answer = json.loads(browser.run("document.getElementById('answer').textContent"))
        self.assertEqual((answer["delivered"], answer["acked"]), (1, True))
        browser.until(f"{COUNT} === 1")
        self.assertEqual(json.loads(self.messages(browser)[0]), {"price": 18})
        self.push(server, user="tester01", command="<b>bold</b>", message="<script>alert(1)</script>")
        browser.until(f"{COUNT} === 2")
        self.assertEqual(browser.run("document.querySelectorAll('#messages b b, #messages script').length"), 0)
        if folder := os.environ.get("APUS_SCREENSHOTS"):
            browser.screenshot(pathlib.Path(folder) / "gateway.png")
        trouble = [e["params"] for e in browser.events if e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")]
        self.assertEqual(trouble, [])
        server.stop()
        browser.until(f"{STATE} === 'small waiting' && /again in/.test(document.getElementById('why').textContent)")

    def test_tokens_and_why_one_is_refused(self):
        server = self.gateway(secret=SECRET, push_keys=KEY)
        browser = self.page(server, f"/?token={token(user='ada')}")
        browser.until(f"{STATE} === 'small open' && document.getElementById('me').textContent === 'ada'")
        self.assertEqual(self.push(server, user="ada", key=KEY, message=1)["delivered"], 1)
        browser.until(f"{COUNT} === 1")
        self.go(browser, server, f"/?token={token(user='ada', exp=1)}")
        browser.until(f"{STATE} === 'small refused' && /expired/.test(document.getElementById('why').textContent)")
        browser.call("Network.setCookie", name="gateway_token", value=token(user="bob"), url=server.url("/"), httpOnly=True)
        self.go(browser, server, "/?")
        browser.until(f"{STATE} === 'small open' && document.getElementById('me').textContent === 'bob'")
