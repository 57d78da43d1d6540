"""MediaWiki as Debian packages it, through `apus serve`: installed, logged in to, written in, searched and given a
picture; pages are compared with nginx and php-fpm on the same installation."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import servers
import support
from serve_cases import Browser, Sites, picture

PACKAGE = pathlib.Path("/usr/share/mediawiki")
LINKED = (
    "api.php", "extensions", "img_auth.php", "includes", "index.php", "languages", "load.php", "maintenance",
    "mw-config", "opensearch_desc.php", "resources", "rest.php", "skins", "thumb.php", "thumb_handler.php", "vendor",
)
MORE = """
$wgEnableUploads = true; $wgUploadDirectory = '%(root)s/images'; $wgUploadPath = '/images'; $wgCacheDirectory = '%(root)s/cache';
$wgArticlePath = '/wiki/$1'; $wgUseImageMagick = false; $wgEnableEmail = false; $wgMainCacheType = CACHE_DB; $wgJobRunRate = 0;
$wgShowExceptionDetails = true;
"""
# What differs from one answer to the next of the same server.
FLEETING = (
    (rb'"wg(RequestId|BackendResponseTime)":("[^"]*"|\d+)', rb'"wg\1":0'),
    (rb"<!--\s+NewPP limit report.*?-->", b"REPORT"),
    (rb'"(cputime|walltime)":"[\d.]+"|"timingprofile":\[[^\]]*\]', b"TAKEN"),
    (rb"Saved in parser cache with key .*", b"SAVED"),
    (rb"\b[0-9a-f]{20,}(\+|%2B|\\u002B)\\*", b"TOKEN"),
    (rb"\b20\d{6}\d{6}\b|20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d\d:\d\d(:\d\d)?", b"TIME"),
)


class Wiki(Sites):
    """A directory of the package, and a database that is empty."""

    OWN = (*Sites.OWN, "x-request-id")
    TROUBLE = ("Internal error", "mw-fatal")

    def setUp(self):
        if not (PACKAGE / "load.php").exists():
            raise unittest.SkipTest("needs mediawiki: tools/install-packages test")
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="apus-mw-"))).resolve()
        for name in LINKED:
            (self.root / name).symlink_to(PACKAGE / name)
        for name in ("images", "cache"):
            (self.root / name).mkdir()
        (self.root / "cache/secret.txt").write_text("of nobody")
        self.config = {"MW_CONFIG_FILE": str(self.root / "LocalSettings.php")}
        self.database = self.enterContext(servers.MariaDB())

    def keep(self, settings):
        """Writes LocalSettings.php, without what needs programs of its own."""
        settings = re.sub(r"wfLoadExtension\( '(?!Cite'|ParserFunctions').*", "", settings)
        (self.root / "LocalSettings.php").write_text(settings + MORE % {"root": self.root})

    def log_in(self, browser, name, password):
        where = "/index.php?title=Special:UserLogin"
        form = browser.fields(browser.get(where), 'name="userlogin"')
        wrong = browser.post(where, {**form, "wpName": name, "wpPassword": "no"})
        self.assertIn("Incorrect username or password", self.page(wrong))
        form = browser.fields(wrong, 'name="userlogin"')
        answer = browser.post(where, {**form, "wpName": name, "wpPassword": password})
        self.assertEqual(answer.status, 302, answer.body[:3000])
        self.assertIn(f'"wgUserName":"{name}"', self.page(browser.get("/wiki/Main_Page")))


class ByTheWeb(Wiki):
    """The installer's pages, one after the other."""

    def follow(self, browser, answer):
        while answer.status == 302:
            answer = browser.get(answer.headers["location"].removeprefix("http://test"))
        return answer

    def test_a_wiki_is_installed(self):
        site = self.served(self.root, env=self.config)
        browser = Browser(site)
        said = {
            "DBType": "mysql", "mysql_wgDBserver": f"127.0.0.1:{self.database.port}", "mysql_wgDBname": servers.DATABASE,
            "mysql__InstallUser": servers.USER, "mysql__InstallPassword": servers.PASSWORD, "mysql__SameAccount": "1",
            "config_wgSitename": "Swallows", "config__NamespaceType": "site-name", "config__AdminName": "Berta",
            "config__AdminPassword": "s3cret-of-berta", "config__AdminPasswordConfirm": "s3cret-of-berta",
            "config__SkipOptional": "skip", "ContLang": "en", "UserLang": "en",
        }
        pages, answer = [], browser.get("/mw-config/index.php")
        while "localsettings=1" not in (text := self.page(answer)):
            pages.append(re.search(r'action="[^"]*page=(\w+)', text)[1])
            self.assertLess(len(pages), 12, text)
            fields = {name: said.get(name, value) for name, value in browser.fields(answer).items()}
            # Boxes that are not ticked: neither mail to its authors nor a note to them.
            for box in ("config__Subscribe", "config_wgPingback"):
                fields.pop(box, None)
            form = {**fields, "submit-continue": "Continue"}
            answer = self.follow(browser, browser.post(f"/mw-config/index.php?page={pages[-1]}", form))
        self.assertEqual(list(dict.fromkeys(pages)), ["Language", "Welcome", "DBConnect", "DBSettings", "Name", "Install"])
        settings = browser.get("/mw-config/index.php?localsettings=1")
        self.assertEqual(settings.headers["content-disposition"], 'attachment; filename="LocalSettings.php"')
        self.keep(self.page(settings))
        self.assertIn("MediaWiki has been installed", self.page(self.follow(browser, browser.get("/wiki/Main_Page"))))
        self.log_in(browser, "Berta", "s3cret-of-berta")


class MediaWiki(Wiki):
    def setUp(self):
        super().setUp()
        line = [
            support.php(), PACKAGE / "maintenance/install.php", "--dbtype", "mysql", "--dbserver", f"127.0.0.1:{self.database.port}",
            "--dbname", servers.DATABASE, "--dbuser", servers.USER, "--dbpass", servers.PASSWORD, "--server", "http://test",
            "--scriptpath", "", "--confpath", self.root, "--lang", "en", "--pass", "s3cret-of-anna", "Swifts", "Anna",
        ]
        env = {**os.environ, **self.config}
        made = subprocess.run(list(map(str, line)), env=env, capture_output=True, text=True, check=False)
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
        self.keep((self.root / "LocalSettings.php").read_text())

    def edit(self, browser, title, text):
        where = f"/index.php?title={title}&action=edit"
        form = browser.fields(browser.get(where), 'id="editform"')
        answer = browser.upload(f"/index.php?title={title}&action=submit", {**form, "wpTextbox1": text, "wpSummary": "new", "wpSave": "Save"}, [])
        self.assertEqual(answer.status, 302, answer.body[:3000])

    def upload(self, browser):
        form = browser.fields(browser.get("/wiki/Special:Upload"), 'id="mw-upload-form"')
        fields = {**form, "wpDestFile": "Swift.png", "wpUploadDescription": "A swift", "wpUpload": "Upload file"}
        fields.pop("wpUploadFile", None)
        content = picture(800, 600)
        answer = browser.upload("/index.php/Special:Upload", fields, [("wpUploadFile", "swift.png", "image/png", content)])
        self.assertEqual(answer.status, 302, answer.body[:3000])
        shown = self.page(browser.get("/wiki/File:Swift.png"))
        self.assertIn("800 × 600", shown)
        self.assertEqual(browser.get(re.search(r'"(?:http://test)?(/images/./../Swift\.png)"', shown)[1]).body, content)
        small = browser.get("/thumb.php?f=Swift.png&width=120")
        self.assertEqual((small.status, small.headers["content-type"], small.body[:4]), (200, "image/png", b"\x89PNG"))

    def test_a_wiki_is_written_in(self):
        site = self.served(self.root, settings={"package_max_length": "16M"}, env=self.config)
        self.assertIn("MediaWiki in", site.said())
        browser = Browser(site)
        answer = browser.get("/")
        self.assertEqual((answer.status, answer.headers["location"]), (301, "http://test/wiki/Main_Page"))
        self.assertIn("MediaWiki has been installed", self.page(browser.get("/wiki/Main_Page")))
        self.log_in(browser, "Anna", "s3cret-of-anna")
        self.edit(browser, "Swift", "== The swift ==\nIt '''never''' lands, ä€.<ref>So they say</ref>\n\n[[File:Swift.png|thumb]]\n[[Category:Birds]]")
        self.edit(browser, "Swallow", "{{#if: x | Another bird }} beside the [[Swift]]")
        self.upload(browser)
        visitor = Browser(site)
        self.assertIn("It <b>never</b> lands, ä€.", self.page(visitor.get("/wiki/Swift")))
        self.assertIn("Another bird", self.page(visitor.get("/index.php/Swallow")))
        self.page(visitor.get("/wiki/Nothing"), 404)
        # It brings its index up to date after it has answered.
        self.assertEqual(support.until("the page is found", lambda: self.found(visitor, "lands")), ["Swift"])
        self.assertIn("Swallow", self.page(visitor.get("/index.php?title=Special:Search&search=bird&fulltext=1")))
        self.assertEqual(visitor.get("/rest.php/v1/page/Swift").json()["title"], "Swift")
        self.assertIn("text/javascript", visitor.get("/load.php?modules=startup&only=scripts&raw=1").headers["content-type"])
        self.denied(visitor)
        self.compare(site, browser)

    def found(self, visitor, text):
        answer = visitor.get(f"/api.php?action=query&list=search&srwhat=text&srsearch={text}&format=json").json()
        return [hit["title"] for hit in answer["query"]["search"]]

    def denied(self, visitor):
        """What Debian's and MediaWiki's files for Apache deny; a script in the uploads is no script."""
        (self.root / "images/evil.php").write_text("<?php echo 'executed';")
        for path in (
            "/cache/secret.txt", "/includes/Setup.php", "/includes/tests/run-tests.js", "/languages/Language.php", "/vendor/README.md",
            "/maintenance/update.php", "/images/evil.php", "/LocalSettings.php/x", "/images/deleted/x",
        ):
            answer = visitor.get(path)
            self.assertEqual(answer.status, 403, f"{path} {answer}")

    def compare(self, site, browser):
        variables = [f"env[{name}] = {value}" for name, value in self.config.items()]
        nginx = self.nginx(self.root, pool=variables)
        visitor = [
            "/", "/wiki/Main_Page", "/wiki/Swift", "/wiki/Swallow", "/wiki/Nothing", "/wiki/Category:Birds", "/wiki/File:Swift.png",
            "/wiki/Special:RecentChanges", "/wiki/Special:AllPages", "/wiki/Special:Version", "/wiki/Special:NoSuch", "/wiki/Talk:Swift",
            "/index.php", "/index.php/Swift", "/index.php?title=Swift&action=raw", "/index.php?title=Swift&action=history",
            "/index.php?title=Swift&action=info", "/index.php?title=Swift&printable=yes", "/index.php?title=Special:Search&search=bird&fulltext=1",
            "/index.php?curid=1", "/index.php?title=%3Cbad%3E", "/api.php", "/api.php?action=query&meta=siteinfo&format=json",
            "/api.php?action=parse&page=Swift&format=json", "/api.php?action=nothing&format=json", "/rest.php/v1/page/Swift", "/rest.php/v1/nothing",
            "/load.php?modules=site.styles&only=styles", "/load.php?modules=startup&only=scripts&raw=1", "/opensearch_desc.php",
            "/resources/assets/poweredby_mediawiki_88x31.png", "/thumb.php?f=Swift.png&width=120", "/thumb.php?f=None.png&width=120",
        ]
        logged_in = ["/wiki/Swift", "/wiki/Special:Watchlist", "/wiki/Special:Preferences", "/index.php?title=Swift&action=edit", "/wiki/Special:Upload"]
        self.same_pages(site, nginx, visitor, {}, FLEETING)
        self.same_pages(site, nginx, logged_in, browser.cookies, FLEETING)
