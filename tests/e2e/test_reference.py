"""The API reference and the package that `apus stubs` writes."""

import html.parser
import json
import re
import subprocess
import unittest
import urllib.parse

from support import module, php
from test_command import Commands
from test_demo import BROWSER

VOID = {"meta", "link", "input", "br"}


class Page(html.parser.HTMLParser):
    """One page: every element is closed in its order, ids are there once."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.text = [], [], [], []
        text = path.read_text()
        assert text.startswith("<!DOCTYPE html>"), path
        self.path = path
        self.feed(text)
        self.close()
        assert not self.open, (path, self.open)
        assert len(self.ids) == len(set(self.ids)), path

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attributes:
            assert value is not None, (self.path, tag, name)
            if name == "id":
                self.ids.append(value)
            if name in ("href", "src"):
                self.links.append(value)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (self.path, tag, self.getpos())

    def handle_data(self, data):
        assert "`" not in data or self.open[-1] == "script", (self.path, data)
        self.text.append(data)


class Reference(Commands):
    def setUp(self):
        super().setUp()
        self.apus("stubs", "--html", "api", "--package", "stubs")
        self.api = self.folder / "api"

    def declared(self):
        """Classes with their own methods and constants, and functions, as PHP knows them."""
        code = """
        $extension = new ReflectionExtension('apus');
        $own = fn (array $all, string $class) => array_values(array_map(fn ($m) => $m->name, array_filter($all, fn ($m) => $m->class === $class)));
        $classes = [];
        foreach ($extension->getClasses() as $class) {
            $classes[$class->name] = [$own($class->getMethods(), $class->name), $own($class->getReflectionConstants(), $class->name)];
        }
        echo json_encode([$classes, array_map(fn ($f) => $f->name, array_values($extension->getFunctions()))]);
        """
        run = subprocess.run([php(), "-n", "-d", f"extension={module()}", "-r", code], capture_output=True, text=True, check=True)
        return json.loads(run.stdout)

    def test_everything_is_there_and_every_link_leads_somewhere(self):
        pages = {path.name: Page(path) for path in self.api.glob("*.html")}
        classes, functions = self.declared()
        self.assertGreater(len(classes), 50)
        for name, (methods, constants) in classes.items():
            page = pages[name.replace("\\", ".") + ".html"]
            self.assertLessEqual({*methods, *constants}, set(page.ids), name)
        self.assertLessEqual({name.replace("\\", ".") for name in functions}, set(pages["functions.html"].ids))
        self.assertGreater(len(pages["constants.html"].ids), 100)
        entries = self.index()
        for page, link in [(page, link) for page in pages.values() for link in page.links] + [
            (None, entry[1]) for entry in entries
        ]:
            # Nothing from elsewhere: it works without a network.
            self.assertRegex(link, r"^[\w.]*(#.+)?$", page and page.path)
            name, _, place = link.partition("#")
            target = pages.get(name) if name else page
            self.assertTrue(target or (self.api / name).is_file(), link)
            if place:
                self.assertIn(place, target.ids, link)
        names = {entry[0] for entry in entries}
        self.assertLessEqual({"Apus\\Http\\Request", "Apus\\Http\\Request::json()", "Apus\\Http\\Request::$get", "Apus\\go()"}, names)

    def index(self):
        text = (self.api / "index.js").read_text()
        return json.loads(re.fullmatch(r"const INDEX = (\[.*\]);\n", text, re.S)[1])

    @unittest.skipUnless(BROWSER, "needs chromium")
    def test_the_search_finds(self):
        browser = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/browser", "--dump-dom"]
        asked = urllib.parse.urlencode({"q": "request json"})
        run = subprocess.run([*browser, f"file://{self.api}/index.html?{asked}"], capture_output=True, text=True, check=True, timeout=120)
        found = re.search(r'<ul id="found">(.*?)</ul>', run.stdout, re.S)[1]
        self.assertRegex(found, r'^<li><a href="Apus\.Http\.Request\.html#json">Apus\\Http\\Request::json\(\)<br><small>The body, which is JSON')

    def test_the_package(self):
        package = json.loads((self.folder / "stubs/composer.json").read_text())
        self.assertEqual(package["name"], "apus/stubs")
        self.assertNotIn("autoload", package)
        included = [self.folder / "stubs" / name for name in package["extra"]["phpstan"]["includes"]]
        scanned = re.findall(r"^ +- (\S+)$", included[0].read_text(), re.M)
        self.assertEqual(scanned, ["apus.stub.php"])
        for name in scanned:
            subprocess.run([php(), "-n", "-l", self.folder / "stubs" / name], check=True, stdout=subprocess.DEVNULL)
            self.assertEqual((self.folder / "stubs" / name).read_text(), self.apus("stubs"))
