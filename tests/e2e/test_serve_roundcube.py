"""Roundcube as Debian packages it, through `apus serve`: logged in to, a mailbox read and searched, beside a real IMAP
server and database; pages are compared with nginx and php-fpm on the same installation."""

import imaplib
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import servers
import sites
from serve_cases import Browser, Sites

PACKAGE = pathlib.Path("/usr/share/roundcube")
FRONT = pathlib.Path("/var/lib/roundcube/public_html/index.php")
DEFAULTS = pathlib.Path("/etc/roundcube")
CONFIG = """<?php
$config['db_dsnw'] = 'mysql://%(user)s:%(password)s@127.0.0.1:%(port)d/%(database)s';
$config['imap_host'] = '127.0.0.1:%(imap)d'; $config['smtp_host'] = '127.0.0.1:1'; $config['des_key'] = 'a key of the tests 24 byt';
$config['temp_dir'] = '%(folder)s/temp'; $config['log_dir'] = '%(folder)s/logs'; $config['plugins'] = [];
$config['skin'] = 'elastic'; $config['enable_installer'] = false; $config['language'] = 'en_US';
"""
MESSAGE = (
    "From: Ben <ben@example.org>\r\nTo: anna@example.org\r\nSubject: =?utf-8?q?Swifts_=C3=A4?=\r\n"
    "Date: Thu, 01 Jan 2026 00:00:00 +0000\r\nMessage-ID: <one@example.org>\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
    "They never land.\r\n"
)
# What differs from one answer to the next of the same server.
FLEETING = (
    (rb'((?:request_token|_token|_remote|token)"?(?: value=|[:=])"?)[\w-]{16,}', rb"\1TOKEN"),
    (rb"\?s=\d+", b"?s=N"),
    (rb"rcmbtn\d+|rcm\w*\d{6,}|\b\d{10}\b", b"ID"),
)


class Roundcube(Sites):
    TROUBLE = ("SERVICE CURRENTLY NOT AVAILABLE",)

    def setUp(self):
        if not (PACKAGE / "index.php").exists() or not FRONT.exists():
            raise unittest.SkipTest("needs roundcube-core: tools/install-packages test")
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="apus-mail-"))).resolve()
        self.root = folder / "site"
        shutil.copytree(PACKAGE, self.root, ignore_dangling_symlinks=True, ignore=shutil.ignore_patterns("installer"))
        documents = self.root / "public_html"
        (documents / "program").mkdir(parents=True)
        shutil.copy(FRONT, documents)
        for name in ("plugins", "skins", "program/js", "program/resources"):
            (documents / name).symlink_to(self.root / name)
        for name in ("temp", "logs", "config"):
            (folder / name).mkdir()
        for name in ("defaults.inc.php", "mimetypes.php"):
            shutil.copy(DEFAULTS / name, folder / "config")
        self.mail = self.enterContext(sites.Dovecot())
        database = self.enterContext(servers.MariaDB())
        values = {"user": servers.USER, "password": servers.PASSWORD, "database": servers.DATABASE, "folder": folder}
        values |= {"port": database.port, "imap": self.mail.port}
        (folder / "config/config.inc.php").write_text(CONFIG % values)
        line = [servers.program("mariadb"), "-h127.0.0.1", f"-P{database.port}", f"-u{servers.USER}", f"-p{servers.PASSWORD}", servers.DATABASE]
        subprocess.run(line, input=(PACKAGE / "SQL/mysql.initial.sql").read_bytes(), check=True)
        self.config = {"ROUNDCUBE_CONFIG_DIR": str(folder / "config")}
        imap = imaplib.IMAP4("127.0.0.1", self.mail.port)
        imap.login("anna", self.mail.PASSWORD)
        imap.append("INBOX", None, None, MESSAGE.encode())
        imap.logout()

    def log_in(self, browser):
        form = browser.fields(browser.get("/?_task=login"))
        wrong = browser.post("/?_task=login", {**form, "_user": "anna", "_pass": "no"})
        self.assertIn("Login failed", self.page(wrong, 401))
        form = browser.fields(browser.get("/?_task=login"))
        answer = browser.post("/?_task=login", {**form, "_user": "anna", "_pass": self.mail.PASSWORD})
        self.assertEqual(answer.status, 302, answer.body[:3000])
        return re.search(r'"request_token":"(\w+)"', self.page(browser.get("/?_task=mail")))[1]

    def test_mail_is_read(self):
        site = self.served(self.root, env=self.config)
        self.assertIn(f"Roundcube in {self.root}/public_html", site.said())
        browser = Browser(site)
        token = self.log_in(browser)
        ajax = {"X-Roundcube-Request": token, "X-Requested-With": "XMLHttpRequest"}
        listed = browser.get("/?_task=mail&_action=list&_mbox=INBOX&_remote=1", headers=ajax).json()
        self.assertIn("Swifts ä", listed["exec"])
        self.assertIn("They never land.", self.page(browser.get("/?_task=mail&_mbox=INBOX&_uid=1&_action=show")))
        found = browser.get("/?_task=mail&_action=search&_q=land&_headers=text&_mbox=INBOX&_remote=1", headers=ajax).json()
        self.assertIn("Swifts ä", found["exec"])
        form = {"_token": token, "_task": "addressbook", "_action": "save", "_source": "0", "_firstname": "Ben", "_surname": "Swift", "_email_home[]": "ben@example.org"}
        self.page(browser.post("/?_task=addressbook&_action=save&_framed=1", form))
        contacts = browser.get("/?_task=addressbook&_action=list&_source=0&_remote=1", headers=ajax).json()
        self.assertIn("Ben Swift", contacts["exec"])
        self.assertIn("text/css", browser.get("/skins/elastic/styles/styles.min.css").headers["content-type"])
        for path in ("/config/config.inc.php", "/program/include/iniset.php", "/../config/config.inc.php"):
            self.assertIn(browser.get(path).status, (400, 403, 404), path)
        nginx = self.nginx(self.root / "public_html", tries="$uri $uri/ =404", pool=[f"env[{name}] = {value}" for name, value in self.config.items()])
        mail = ["/?_task=mail", "/?_task=mail&_mbox=INBOX&_uid=1&_action=show", "/?_task=mail&_mbox=INBOX&_uid=1&_action=viewsource", "/?_task=settings&_action=about", "/?_task=addressbook"]
        self.same_pages(site, nginx, ["/", "/?_task=login", "/?_task=mail", "/index.php?_task=none"], {}, FLEETING)
        self.same_pages(site, nginx, mail, browser.cookies, FLEETING)
