"""phpMyAdmin as Debian packages it, through `apus serve`: logged in to, queries run, a table exported and imported; pages
are compared with nginx and php-fpm on the same installation."""

import json
import pathlib
import re
import shutil
import tempfile
import unittest

import servers
from serve_cases import Browser, Sites

PACKAGE = pathlib.Path("/usr/share/phpmyadmin")
CONFIG = """<?php
$cfg['blowfish_secret'] = 'a secret of the tests, of 32 byt';
$cfg['Servers'][1] = ['auth_type' => 'cookie', 'host' => '127.0.0.1', 'port' => '%d', 'connect_type' => 'tcp'];
$cfg['TempDir'] = '%s/tmp'; $cfg['VersionCheck'] = false; $cfg['SendErrorReports'] = 'never';
"""
MADE = (
    "CREATE TABLE swift (id int PRIMARY KEY, name varchar(20)) CHARSET utf8mb4; "
    "INSERT INTO swift VALUES (1, 'apus apus'), (2, 'pällidus €');"
)
# What differs from one answer to the next of the same server.
FLEETING = (
    (rb'((?:token|set_session)" value="|token=|(?:token|user_token|commonQuery)":?")[^"&]+', rb"\1TOKEN"),
    (rb"\b[0-9a-f]{16,}\b", b"HASH"),
    (rb"\d{6,10}", b"NUMBER"),
    (rb"nginx/[\d.]+|Apus/[\d.]+", b"SOFTWARE"),
    (rb"nocache=\w+|Query took [\d.]+|\d\d:\d\d(:\d\d)?", b"TIME"),
)


class PhpMyAdmin(Sites):
    TROUBLE = ("Parse error", "phpMyAdmin - Error")

    def setUp(self):
        if not (PACKAGE / "libraries/vendor_config.php").exists():
            raise unittest.SkipTest("needs phpmyadmin: tools/install-packages test")
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="apus-pma-"))).resolve()
        self.root = folder / "site"
        shutil.copytree(PACKAGE, self.root, ignore=shutil.ignore_patterns("locale"), ignore_dangling_symlinks=True)
        (folder / "tmp").mkdir()
        database = self.enterContext(servers.MariaDB())
        (folder / "config.php").write_text(CONFIG % (database.port, folder))
        # Where a packager says where things are.
        vendor = self.root / "libraries/vendor_config.php"
        vendor.write_text(vendor.read_text().replace("/etc/phpmyadmin/config.inc.php", str(folder / "config.php")))

    def log_in(self, browser):
        form = browser.fields(browser.get("/"), 'id="login_form"')
        wrong = browser.post("/index.php?route=/", {**form, "pma_username": servers.USER, "pma_password": "no", "server": "1"})
        self.assertIn("Access denied", self.page(wrong))
        form = browser.fields(wrong, 'id="login_form"')
        fields = {**form, "pma_username": servers.USER, "pma_password": servers.PASSWORD, "server": "1"}
        answer = browser.post("/index.php?route=/", fields)
        self.assertEqual(answer.status, 302, answer.body[:3000])
        front = self.page(browser.get("/index.php?route=/"))
        self.assertIn(f"{servers.USER}@", front)
        return re.search(r'token:"([0-9a-f]+)"', front)[1]

    def query(self, browser, token, text):
        fields = {"db": servers.DATABASE, "table": "", "token": token, "sql_query": text, "sql_delimiter": ";", "ajax_request": "true", "is_js_confirmed": "0"}
        told = json.loads(self.page(browser.post("/index.php?route=/import", fields)))
        self.assertTrue(told["success"], told)
        return told

    def export(self, browser, token):
        fields = {
            "db": servers.DATABASE, "table": "swift", "token": token, "export_type": "table", "export_method": "quick", "quick_or_custom": "quick",
            "what": "sql", "output_format": "sendit", "filename_template": "@TABLE@", "charset": "utf-8", "compression": "none",
            "sql_structure_or_data": "structure_and_data", "structure_or_data_forced": "0", "sql_insert_syntax": "both", "sql_create_table": "something",
            "sql_type": "INSERT", "sql_max_query_size": "50000", "single_table": "1",
        }
        answer = browser.post("/index.php?route=/export", fields)
        self.assertEqual(answer.headers["content-disposition"], 'attachment; filename="swift.sql"')
        return self.page(answer)

    def test_a_database_is_managed(self):
        site = self.served(self.root, settings={"package_max_length": "16M"})
        self.assertIn("phpMyAdmin in", site.said())
        browser = Browser(site)
        token = self.log_in(browser)
        self.query(browser, token, MADE)
        told = self.query(browser, token, "SELECT name FROM swift ORDER BY id")
        self.assertIn("pällidus €", told["message"])
        dump = self.export(browser, token)
        self.assertIn("(2, 'pällidus €')", dump)
        self.query(browser, token, "DROP TABLE swift")
        fields = {"db": servers.DATABASE, "table": "", "token": token, "import_type": "database", "format": "sql", "charset_of_file": "utf-8", "ajax_request": "true", "noplugin": "x" * 16}
        answer = browser.upload("/index.php?route=/import", fields, [("import_file", "swift.sql", "application/sql", dump.encode())])
        self.assertIn("Import has been successfully finished", self.page(answer))
        self.assertIn("pällidus", self.query(browser, token, "SELECT name FROM swift")["message"])
        for path in ("/libraries/constants.php", "/libraries/config.default.php", "/templates/footer.twig", "/sql/create_tables.sql", "/config.inc.php"):
            self.assertEqual(browser.get(path).status, 403, path)
        self.compare(site, browser)

    def compare(self, site, browser):
        nginx = self.nginx(self.root, tries="$uri $uri/ =404", server="client_max_body_size 16m;")
        visitor = ["/", "/index.php", "/index.php?route=/nothing", "/url.php?url=https://www.php.net/", "/themes/pmahomme/css/theme.css", "/nothing", "/favicon.ico", "/js/dist/ajax.js"]
        table = "&db=test&table=swift"
        routes = [
            "/", "/server/databases", "/server/variables", "/server/engines", "/server/collations", "/database/structure&db=test", "/database/sql&db=test",
            "/sql" + table, "/table/structure" + table, "/table/search" + table, "/table/export" + table, "/table/operations" + table,
            "/preferences/manage", "/navigation&ajax_request=1", "/nothing",
        ]
        self.same_pages(site, nginx, visitor, {}, FLEETING, own=("/nothing",))
        self.same_pages(site, nginx, [f"/index.php?route={route}" for route in routes], browser.cookies, FLEETING)
