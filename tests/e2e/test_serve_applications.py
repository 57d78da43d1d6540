"""Applications as Debian packages them, unchanged, through `apus serve`: Laravel, Symfony and Slim behind a front
controller, Adminer and DokuWiki as folders of scripts."""

import json
import pathlib
import re
import shutil
import tempfile
import unittest

import servers
import support
from serve_cases import Browser, Sites
from test_frameworks import FIXTURES, NEEDED, Applications
from test_psr import needs

FRONT = support.HERE / "fixtures/serve/front.php"
ADMINER = pathlib.Path("/usr/share/adminer/adminer.php")
DOKUWIKI = pathlib.Path("/usr/share/dokuwiki")


class Framework(Applications):
    """What each framework does elsewhere, in `public/` of a project."""

    FRAMEWORK = MARK = SAID = None

    def server(self):
        needs(*NEEDED[self.FRAMEWORK])
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="apus-app-"))).resolve()
        (self.folder / "file.txt").write_text("0123456789")
        (self.folder / "public").mkdir()
        (self.folder / self.MARK).parent.mkdir(exist_ok=True)
        (self.folder / self.MARK).write_text("{}")
        (self.folder / "secret.php").write_text("<?php echo 'not in public';")
        values = f"const FRAMEWORK = {json.dumps(self.FRAMEWORK)}; const FIXTURES = {json.dumps(str(FIXTURES))};"
        (self.folder / "public/index.php").write_text(FRONT.read_text().replace("<?php", f"<?php\n{values}", 1))
        return self.served(self.folder)

    def test_what_is_served_is_its_public_folder(self):
        server = self.server()
        self.assertIn(f"{self.SAID} in {self.folder}/public", server.said())
        self.assertEqual(server.get("/secret.php").status, 404)
        self.assertNotIn(b"not in public", server.get("/../secret.php").body)


class Laravel(Framework, Sites):
    FRAMEWORK, MARK, SAID = "laravel", "artisan", "Laravel"


class Symfony(Framework, Sites):
    FRAMEWORK, MARK, SAID = "symfony", "bin/console", "Symfony"


class Slim(Framework, Sites):
    FRAMEWORK, MARK, SAID = "slim", "composer.json", "a front controller in public/"


class Lumen(Sites):
    def test_its_pages_are_those_under_php_fpm(self):
        needs("Laravel/Lumen")
        front = (support.HERE / "fixtures/serve/lumen.php").read_text()
        project = self.directory({"artisan": "", "public/index.php": front, "storage/logs/lumen.log": "", ".env": ""})
        site = self.served(project)
        self.assertIn(f"Laravel in {project}/public", site.said())
        browser = Browser(site)
        self.assertIn(b"Lumen (8.", browser.get("/").body)
        told = browser.post("/form", {"a": "1", "b[c]": "2"}).json()
        self.assertEqual(told, ["POST", {"a": "1", "b": {"c": "2"}}])
        told = browser.upload("/upload", {}, [("f", "swift.txt", "text/plain", b"never lands")]).json()
        self.assertEqual(told, ["swift.txt", True, "never lands"])
        self.assertEqual(browser.get("/fail").status, 500)
        nginx = self.nginx(project / "public")
        pages = ["/", "/told/w%C3%B6rd?a%5Bb%5D=1", "/cookie", "/teapot", "/away", "/nowhere", "/form", "/index.php/told/x"]
        self.same_pages(site, nginx, pages, {"given": "x"}, ((rb"127\.0\.0\.1:\d+", b"HOST"), (rb"(?<=test):\d+", b"")))


class Adminer(Sites):
    def test_a_database_is_looked_at(self):
        if not ADMINER.exists():
            raise unittest.SkipTest("needs adminer: tools/install-packages test")
        database = self.enterContext(servers.MariaDB())
        root = self.directory({})
        shutil.copy(ADMINER, root / "index.php")
        browser = Browser(self.served(root))
        self.assertIn(b"Login", browser.get("/").body)
        login = {"driver": "server", "server": f"127.0.0.1:{database.port}", "username": servers.USER, "password": servers.PASSWORD, "db": servers.DATABASE}
        answer = browser.post("/", {f"auth[{name}]": value for name, value in login.items()})
        self.assertEqual(answer.status, 302, answer.body)
        where = "/" + answer.headers["location"].lstrip("/")
        page = browser.get(f"{where}&sql=")
        token = re.search(rb'name="token" value="([^"]+)"', page.body)[1].decode()
        made = "CREATE TABLE swift (id int PRIMARY KEY, name varchar(20)); INSERT INTO swift VALUES (1, 'apus apus'), (2, 'pallidus');"
        answer = browser.upload(f"{where}&sql=", {"query": made, "token": token, "limit": ""}, [])
        self.assertIn(b"2 rows affected", answer.body)
        self.assertIn(b"apus apus", browser.get(f"{where}&select=swift").body)
        fields = {"output": "text", "format": "sql", "table_style": "CREATE", "data_style": "INSERT", "tables[]": "swift", "data[]": "swift", "token": token}
        exported = browser.post(f"{where}&dump=", fields)
        self.assertIn(b"INSERT INTO `swift`", exported.body)
        self.assertIn("text/plain", exported.headers["content-type"])
        self.assertEqual(browser.get("/?file=default.css&version=4.8.1").headers["content-type"], "text/css; charset=utf-8")


class DokuWiki(Sites):
    LOCAL = "<?php $conf['title'] = 'Swifts'; $conf['useacl'] = 0; $conf['savedir'] = '%s/data'; $conf['userewrite'] = 2; $conf['updatecheck'] = 0;"

    def test_a_page_is_written(self):
        if not (DOKUWIKI / "doku.php").exists() or not pathlib.Path("/etc/dokuwiki/dokuwiki.php").exists():
            raise unittest.SkipTest("needs dokuwiki: tools/install-packages test")
        root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="apus-wiki-"))).resolve()
        site = root / "site"
        shutil.copytree(DOKUWIKI, site, ignore_dangling_symlinks=True)
        shutil.copytree("/etc/dokuwiki", root / "conf", ignore_dangling_symlinks=True)
        (root / "conf/local.php").write_text(self.LOCAL % root)
        (site / "inc/preload.php").write_text(f"<?php define('DOKU_CONF', '{root}/conf/');")
        for name in ("pages", "attic", "media", "media_attic", "meta", "media_meta", "cache", "index", "locks", "tmp", "log"):
            (root / "data" / name).mkdir(parents=True)
        browser = Browser(self.served(site))
        # Its addresses are /doku.php/PAGE: PATH_INFO.
        self.assertIn(b"This topic does not exist yet", browser.get("/doku.php/birds:swift").body)
        form = browser.fields(browser.get("/doku.php/birds:swift?do=edit"), 'id="dw__editform"')
        text = "====== The swift ======\n\nIt **never** lands.\n"
        answer = browser.post("/doku.php/birds:swift", {**form, "wikitext": text, "summary": "new", "do[save]": "1"})
        self.assertEqual(answer.status, 302, answer.body)
        page = browser.get("/doku.php/birds:swift")
        self.assertIn(b"It <strong>never</strong> lands.", page.body)
        self.assertEqual((root / "data/pages/birds/swift.txt").read_text(), text)
        # What its pages ask for with a picture: it brings the index up to date after it has answered.
        self.assertEqual(browser.get("/lib/exe/taskrunner.php?id=birds:swift").headers["content-type"], "image/gif")
        support.until("the page is found", lambda: b"The swift" in browser.get("/doku.php?do=search&id=start&q=lands").body)
        self.assertIn("text/css", browser.get("/lib/exe/css.php?t=dokuwiki").headers["content-type"])
        self.assertEqual(browser.get("/lib/tpl/dokuwiki/images/logo.png").headers["content-type"], "image/png")
