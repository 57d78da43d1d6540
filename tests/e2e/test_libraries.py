"""Popular libraries of PHP, as Debian packages them, under 100 coroutines: one object each, and one object for all."""

import pathlib
import unittest

from hooks import HookCase
from lib import servers
from support import HERE

ALL = HERE / "fixtures" / "libraries" / "all.php"
# 100 coroutines, five uses each.
USES = 500
CONFLICT = "Apus\\Coroutine\\ConflictException"
PHP_LIBRARIES = pathlib.Path("/usr/share/php")


class Libraries(HookCase):
    def use(self, name, path, sharing, *kinds):
        if not (PHP_LIBRARIES / path / "autoload.php").exists():
            raise unittest.SkipTest(f"{path} is missing: tools/install-packages test")
        return self.json(ALL, name, sharing, kinds=kinds)

    def all_right(self, *arguments):
        self.assertEqual(self.use(*arguments), {"right": USES, "wrong": [], "thrown": []})

    def right_or_conflict(self, *arguments):
        """A library whose object cannot be shared: whoever comes second is told, nobody gets what is another's."""
        told = self.use(*arguments)
        self.assertEqual(told["wrong"], [])
        self.assertLessEqual(set(told["thrown"] or {}), {CONFLICT})
        self.assertEqual(told["right"] + sum((told["thrown"] or {}).values()), USES)
        self.assertGreaterEqual(told["right"], 1)

    def test_guzzle_own(self):
        self.all_right("guzzle", "GuzzleHttp", "own", servers.Slow)

    def test_guzzle_shared(self):
        self.all_right("guzzle", "GuzzleHttp", "shared", servers.Slow)

    def test_symfony_http_client_own(self):
        self.all_right("symfony", "Symfony/Component/HttpClient", "own", servers.Slow)

    def test_symfony_http_client_shared(self):
        self.all_right("symfony", "Symfony/Component/HttpClient", "shared", servers.Slow)

    def test_doctrine_dbal_own(self):
        self.all_right("dbal", "Doctrine/DBAL", "own", servers.MariaDB)

    def test_doctrine_dbal_shared(self):
        self.right_or_conflict("dbal", "Doctrine/DBAL", "shared", servers.MariaDB)

    def test_twig_own(self):
        self.all_right("twig", "Twig", "own")

    def test_twig_shared(self):
        self.all_right("twig", "Twig", "shared")

    def test_monolog_own(self):
        self.all_right("monolog", "Monolog", "own")

    def test_monolog_shared(self):
        self.all_right("monolog", "Monolog", "shared")

    def test_predis_own(self):
        self.all_right("predis", "Predis", "own", servers.Redis)

    def test_predis_shared(self):
        self.right_or_conflict("predis", "Predis", "shared", servers.Redis)
