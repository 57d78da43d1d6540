"""The demo application in a real browser (Chromium, DevTools protocol over pipes)."""

import base64
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from support import PATIENCE, ROOT, Case

BROWSER = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe", "--window-size=1280,1450"]


class Browser:
    """A page that is driven by commands; descriptors 3 and 4 carry them, as the flag --remote-debugging-pipe says."""

    def __init__(self, folder, *flags):
        read_here, write_there = os.pipe()
        read_there, self.write = os.pipe()
        line = ["/bin/bash", "-c", f'exec 3<&{read_there} 4>&{write_there}; exec "$@"', "browser", BROWSER, *FLAGS, *flags, f"--user-data-dir={folder}", "about:blank"]
        self.process = subprocess.Popen(
            line,
            pass_fds=(read_there, write_there),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(read_there)
        os.close(write_there)
        self.read, self.buffer, self.last, self.events, self.session = read_here, b"", 0, [], None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def message(self):
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            if not select.select([self.read], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError("the browser does not answer")
            data = os.read(self.read, 1 << 16)
            if not data:
                raise AssertionError("the browser has ended")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.last += 1
        order = {"id": self.last, "method": method, "params": params}
        if self.session:
            order["sessionId"] = self.session
        os.write(self.write, json.dumps(order).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.last:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def run(self, expression):
        """The value of an expression in the page; promises are awaited."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise AssertionError(result["exceptionDetails"])
        return result["result"].get("value")

    def until(self, expression):
        """Waits in the page until an expression is true."""
        return self.run("new Promise((done, fail) => { const end = Date.now() + %d; const look = () => { const v = (%s); if (v) done(v); else if (Date.now() > end) fail(new Error('not in time: ' + document.body.innerText)); else setTimeout(look, 20); }; look(); })" % (PATIENCE * 1000, expression))

    def screenshot(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]))

    def close(self):
        # Its own children, too: they would go on writing into the profile.
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.read)
        os.close(self.write)


@unittest.skipUnless(BROWSER, "needs chromium")
class Demo(Case):
    def open(self, dark=False):
        server = self.serve(script=f"<?php require {json.dumps(str(ROOT / 'examples/demo/server.php'))};", env={"PORT": "0", "HOST": "127.0.0.1"}, ini=["memory_limit=512M"])
        folder = tempfile.mkdtemp(prefix="apus-e2e-browser-")
        self.addCleanup(shutil.rmtree, folder, True)
        browser = Browser(folder)
        self.addCleanup(browser.close)
        if dark:
            browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        browser.call("Page.navigate", url=server.url("/"))
        browser.until("document.readyState === 'complete' && document.querySelector('#workers')")
        return server, browser

    def text(self, browser, identity):
        return browser.run(f"document.getElementById({json.dumps(identity)}).innerText")

    def test_the_page_lives(self):
        server, browser = self.open()
        browser.until("document.querySelectorAll('.worker').length > 0 && document.querySelector('#link b').innerText !== 'connecting'")
        self.assertEqual(browser.run("document.querySelectorAll('.worker').length"), len(server.workers()))
        # Numbers move: the page's own questions are requests, too.
        before = self.text(browser, "total")
        browser.until(f"document.getElementById('total').innerText !== {json.dumps(before)}")
        browser.until("document.querySelector('#rate-chart path, #rate-chart polyline')")

        # The three trials.
        browser.run("document.getElementById('json-one').click()")
        browser.until("/landed/.test(document.getElementById('json-out').innerText)")
        browser.run("document.getElementById('json-many').click()")
        browser.until("/500/.test(document.getElementById('json-out').innerText) && !document.getElementById('json-many').disabled")
        browser.run("document.getElementById('slow-go').click()")
        browser.until("/[0-9] ms|[0-9] s/.test(document.getElementById('slow-out').innerText) && !document.getElementById('slow-go').disabled && /1,000/.test(document.getElementById('slow-out').innerText)")
        browser.run("document.getElementById('keep').click()")
        uuid = "/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/"
        browser.until(f"{uuid}.test(document.getElementById('upload-out').innerText)")
        browser.run("document.getElementById('mirror').click()")
        browser.until("document.querySelector('#upload-out img') && document.querySelector('#upload-out img').naturalWidth > 0")
        if folder := os.environ.get("APUS_SCREENSHOTS"):
            browser.run("document.getElementById('slow-more').click()")
            browser.until("!document.getElementById('slow-more').disabled")
            browser.run("document.getElementById('json-many').click()")
            browser.until("!document.getElementById('json-many').disabled")
            browser.run("new Promise(done => setTimeout(done, 6000))")
            browser.screenshot(pathlib.Path(folder) / "demo.png")
        # The page logs nothing to the browser's console.
        trouble = [e["params"] for e in browser.events if e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")]
        self.assertEqual(trouble, [])
        self.assertNotRegex(server.said(), "uncaught|fatal|Warning")

    def test_it_says_when_the_server_is_gone_and_recovers_from_a_reload(self):
        server, browser = self.open()
        browser.until("document.querySelectorAll('.worker').length > 0")
        server.control("reload wait")
        before = self.text(browser, "total")
        browser.until(f"document.getElementById('total').innerText !== {json.dumps(before)} && !document.getElementById('link').classList.contains('lost')")
        server.stop()
        browser.until("document.getElementById('link').classList.contains('lost')")

    @unittest.skipUnless(os.environ.get("APUS_SCREENSHOTS"), "only for looking at it")
    def test_dark_and_narrow(self):
        _, browser = self.open(dark=True)
        browser.call("Emulation.setDeviceMetricsOverride", width=390, height=2400, deviceScaleFactor=1, mobile=True)
        browser.run("new Promise(done => setTimeout(done, 3000))")
        browser.screenshot(pathlib.Path(os.environ["APUS_SCREENSHOTS"]) / "demo-dark-narrow.png")
