"""WordPress under `apus serve` in a real browser: it is installed and logged in to by its forms, its front page has
style and scripts, and the live.php of docs/serve.md brings news from one page to another."""

import shutil
import tempfile
import unittest

from serve_cases import Browser as Client
from support import ROOT
from test_demo import BROWSER, Browser
from test_serve_wordpress import WordPress

PUBLISH = """<?php
require __DIR__ . '/wp-load.php';
$title = $_GET['title'];
$user = 1;
"""


@unittest.skipUnless(BROWSER, "needs chromium")
class InABrowser(WordPress):
    # Once is enough.
    test_a_site_from_its_installer_on = None

    def open(self, site):
        folder = tempfile.mkdtemp(prefix="apus-e2e-browser-")
        self.addCleanup(shutil.rmtree, folder, True)
        browser = Browser(folder, f"--host-resolver-rules=MAP test:80 127.0.0.1:{site.port}")
        self.addCleanup(browser.close)
        return browser

    def go(self, browser, path, holds="true"):
        browser.call("Page.navigate", url=f"http://test{path}")
        self.shows(browser, path.partition("?")[0], holds)

    def shows(self, browser, path, holds="true"):
        """Waits for a page; a look at one that is just being left is no look."""
        for _ in range(100):
            try:
                return browser.until(f"document.readyState === 'complete' && location.pathname === '{path}' && ({holds})")
            except AssertionError as error:
                if "navigated" not in str(error) and "context" not in str(error):
                    raise

    def fill(self, browser, **fields):
        for name, value in fields.items():
            browser.run(f"document.getElementById('{name}').value = '{value}'")

    def test_pages_are_installed_logged_in_to_and_pushed_to(self):
        blocks = (ROOT / "docs/serve.md").read_text().split("## Pushing to browsers")[1].split("```php\n")
        (self.root / "live.php").write_text(blocks[1].split("```")[0])
        (self.root / "publish.php").write_text(PUBLISH + blocks[3].split("```")[0] + "echo $reached;")
        site = self.served(self.root, "--websocket", "/live.php")
        self.install(Client(site))
        browser = self.open(site)
        self.go(browser, "/wp-login.php")
        self.fill(browser, user_login="anna", user_pass="s3cret-of-anna")
        browser.run("document.getElementById('wp-submit').click()")
        self.shows(browser, "/wp-admin/", "document.querySelector('.display-name').textContent === 'anna'")
        # Its scripts run: the menu of the dashboard folds.
        browser.run("document.getElementById('collapse-button').click()")
        browser.until("document.body.classList.contains('folded')")
        self.go(browser, "/", "document.querySelector('#wpadminbar')")
        self.assertIn("Hello world!", browser.run("document.body.textContent"))
        self.assertTrue(browser.run("[...document.styleSheets].some(sheet => sheet.href?.startsWith('http://test/wp-'))"))
        failed = [event["params"]["entry"]["text"] for event in browser.events if event["method"] == "Log.entryAdded"]
        self.assertEqual([text for text in failed if "responded with" in text], [])
        browser.run("window.heard = []; window.live = new WebSocket(`ws://${location.host}/live.php`); live.onmessage = event => heard.push(JSON.parse(event.data)); 0")
        browser.until("live.readyState === 1")
        visitor = Client(site)
        self.assertEqual(self.page(visitor.get("/publish.php?title=Swifts+are+back")), "1")
        browser.until("heard.length === 2")
        self.assertEqual(browser.run("heard"), [{"title": "Swifts are back"}, {"cart": 3}])
