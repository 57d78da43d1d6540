"""WordPress as Debian packages it, through `apus serve`: installed, written in and looked at over HTTP; pages are
compared with nginx and php-fpm on the same installation."""

import json
import pathlib
import re
import shutil
import tempfile
import unittest

import servers
from serve_cases import Browser, Sites, picture

PACKAGE = pathlib.Path("/usr/share/wordpress")
CONFIG = """<?php
define('DB_NAME', '%(database)s'); define('DB_USER', 'tester'); define('DB_PASSWORD', 's3cret');
define('DB_HOST', '127.0.0.1:%(port)d'); define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', '');
foreach (['AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY', 'AUTH_SALT', 'SECURE_AUTH_SALT', 'LOGGED_IN_SALT', 'NONCE_SALT'] as $key) {
    define($key, "a secret of the tests for $key");
}
define('WP_HOME', 'http://test'); define('WP_SITEURL', 'http://test');
define('DISABLE_WP_CRON', true); define('WP_HTTP_BLOCK_EXTERNAL', true); define('AUTOMATIC_UPDATER_DISABLED', true);
define('FS_METHOD', 'direct');
$table_prefix = 'wp_';
if (!defined('ABSPATH')) { define('ABSPATH', __DIR__ . '/'); }
require_once ABSPATH . 'wp-settings.php';
"""
PLUGIN = """<?php
/* Plugin Name: Greeting */
add_action('wp_footer', function () { echo '<p id="greeting">greeting of a plugin</p>'; });
"""
# What differs from one answer to the next of the same server.
FLEETING = (
    (rb'(_wpnonce"? ?(?:value=|[=:]) ?"?|"nonce":"|nonce=|createNonce":"|nonce" value=")[0-9a-f]{10}', rb"\1NONCE"),
    (rb"\b[0-9a-f]{10}\b", b"NONCE"),
    (rb"\d\d:\d\d:\d\d", b"TIME"),
)


class WordPress(Sites):
    TROUBLE = ("critical error", "Parse error")

    def setUp(self):
        if not (PACKAGE / "wp-load.php").exists():
            raise unittest.SkipTest("needs wordpress: tools/install-packages test")
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="apus-wp-"))).resolve() / "site"
        ignore = shutil.ignore_patterns("languages", "akismet", "wp-config.php", "*.min.css.map")
        shutil.copytree(PACKAGE, self.root, ignore=ignore, ignore_dangling_symlinks=True)
        database = self.enterContext(servers.MariaDB())
        (self.root / "wp-config.php").write_text(CONFIG % {"database": servers.DATABASE, "port": database.port})
        (self.root / "wp-content/plugins/greeting.php").write_text(PLUGIN)

    def install(self, browser):
        self.assertIn("/wp-admin/install.php", browser.get("/").headers["location"])
        self.page(browser.get("/wp-admin/install.php"))
        fields = {
            "weblog_title": "Swifts", "user_name": "anna", "admin_password": "s3cret-of-anna",
            "admin_password2": "s3cret-of-anna", "pw_weak": "1", "admin_email": "anna@example.org", "blog_public": "0",
            "Submit": "Install WordPress", "language": "",
        }
        self.assertIn("Success!", self.page(browser.post("/wp-admin/install.php?step=2", fields)))

    def log_in(self, browser):
        self.page(browser.get("/wp-login.php"))
        wrong = browser.post("/wp-login.php", {"log": "anna", "pwd": "no", "testcookie": "1"})
        self.assertIn("incorrect", self.page(wrong))
        fields = {"log": "anna", "pwd": "s3cret-of-anna", "testcookie": "1", "redirect_to": "http://test/wp-admin/"}
        answer = browser.post("/wp-login.php", fields)
        self.assertEqual((answer.status, answer.headers["location"]), (302, "http://test/wp-admin/"))
        self.assertIn("Dashboard", self.page(browser.get("/wp-admin/")))

    def call(self, browser, method, route, status, body=b"", **fields):
        nonce = self.page(browser.get("/wp-admin/admin-ajax.php?action=rest-nonce"))
        headers = {"X-WP-Nonce": nonce, **{name.replace("_", "-"): value for name, value in fields.items()}}
        answer = browser.request(method, f"/wp-json/wp/v2/{route}", body, headers)
        self.assertEqual(answer.status, status, answer.body)
        return answer.json()

    def write(self, browser, number):
        post = {"title": f"Post {number}", "content": f"About swift {number}: <b>never</b> at rest ä€", "status": "publish", "date": f"2026-01-0{number + 1}T00:00:00"}
        told = self.call(browser, "POST", "posts", 201, json.dumps(post).encode(), Content_Type="application/json")
        self.assertEqual(told["slug"], f"post-{number}")
        return told

    def upload(self, browser):
        """By the form of the media library, which PHP reads, and by REST, where the body is the file."""
        self.page(browser.get("/wp-admin/media-new.php"))
        form = browser.fields(browser.get("/wp-admin/media-new.php"), "id=\"file-form\"")
        content = picture(800, 600)
        answer = browser.upload("/wp-admin/async-upload.php", {"_wpnonce": form["_wpnonce"], "action": "upload-attachment"}, [
            ("async-upload", "swift.png", "image/png", content)])
        told = json.loads(self.page(answer))
        self.assertTrue(told["success"], told)
        path = told["data"]["url"].removeprefix("http://test")
        self.assertEqual(browser.get(path).body, content)
        sizes = told["data"]["sizes"]
        small = browser.get(sizes["thumbnail"]["url"].removeprefix("http://test"))
        self.assertEqual((small.status, small.headers["content-type"], small.body[:4]), (200, "image/png", b"\x89PNG"))
        by_rest = self.call(browser, "POST", "media", 201, content, Content_Type="image/png", Content_Disposition='attachment; filename="other.png"')
        self.assertEqual(by_rest["media_details"]["width"], 800)
        return path

    def set_up(self, browser):
        """Pretty addresses, and a plugin."""
        fields = browser.fields(browser.get("/wp-admin/options-permalink.php"), 'name="form"')
        structure = {"selection": "/%postname%/", "permalink_structure": "/%postname%/", "category_base": "", "tag_base": ""}
        answer = browser.post("/wp-admin/options-permalink.php", {**fields, **structure, "submit": "Save"})
        self.assertIn(answer.status, (200, 302))
        plugins = self.page(browser.get("/wp-admin/plugins.php"))
        link = re.search(r'href="(plugins\.php\?action=activate&amp;plugin=greeting\.php[^"]*)"', plugins)[1]
        self.assertEqual(browser.get("/wp-admin/" + link.replace("&amp;", "&")).status, 302)

    def test_a_site_from_its_installer_on(self):
        site = self.served(self.root, settings={"package_max_length": "16M"})
        self.assertIn("WordPress in", site.said())
        browser = Browser(site)
        self.install(browser)
        self.log_in(browser)
        self.set_up(browser)
        for number in range(3):
            self.write(browser, number)
        path = self.upload(browser)
        visitor = Browser(site)
        front = self.page(visitor.get("/"))
        self.assertIn("Post 2", front)
        self.assertIn("greeting of a plugin", front)
        self.assertIn("About swift 1", self.page(visitor.get("/post-1/")))
        self.page(visitor.get("/nowhere/"), 404)
        comment = {"comment": "so fast", "author": "Ben", "email": "ben@example.org", "comment_post_ID": "1", "comment_parent": "0"}
        self.assertEqual(visitor.post("/wp-comments-post.php", comment).status, 302)
        self.assertEqual([post["slug"] for post in visitor.get("/wp-json/wp/v2/posts").json()][1:], ["post-2", "post-1", "post-0"])
        self.assertEqual(visitor.get("/wp-cron.php").status, 200)
        self.assertEqual(visitor.get("/wp-admin/").status, 302)
        evil = self.root / path.lstrip("/")
        (evil.parent / "evil.php").write_text("<?php echo 'executed';")
        self.assertEqual(visitor.get(path.rpartition("/")[0] + "/evil.php").status, 403)
        self.compare(site, browser)

    def compare(self, site, browser):
        """The same pages from both, as a visitor and logged in."""
        nginx = self.nginx(self.root, server="client_max_body_size 16m;")
        visitor = ["/", "/?p=1", "/post-0/", "/post-1/", "/feed/", "/comments/feed/", "/nowhere/", "/?s=swift", "/sample-page/",
                   "/category/uncategorized/", "/author/anna/", "/wp-json/", "/wp-json/wp/v2/posts", "/wp-json/wp/v2/nothing",
                   "/wp-login.php", "/wp-login.php?action=lostpassword", "/xmlrpc.php", "/robots.txt", "/wp-sitemap.xml",
                   "/?feed=rss2", "/?author=1", "/index.php", "/wp-admin", "/wp-includes/js/jquery/jquery.min.js",
                   "/wp-includes/", "/readme.html", "/wp-trackback.php", "/post-0", "/?p=99999", "/page/2/"]
        logged_in = ["/wp-admin/", "/wp-admin/edit.php", "/wp-admin/upload.php", "/wp-admin/users.php",
                     "/wp-admin/options-general.php", "/wp-admin/plugins.php", "/wp-admin/tools.php", "/wp-admin/options-reading.php",
                     "/wp-admin/admin-ajax.php?action=heartbeat", "/"]
        for paths, cookies in ((visitor, {}), (logged_in, browser.cookies)):
            self.same_pages(site, nginx, paths, cookies, FLEETING, own=("/wp-admin", "/wp-includes/"))
