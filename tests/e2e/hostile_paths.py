"""Targets of requests as scanners and attackers send them, by family. Each is a target as it stands in a request line."""

import itertools
import random

DOTS = (
    "..", "%2e%2e", "%2E%2E", "%2e.", ".%2e", "%252e%252e", "%25252e%25252e", "%%32%65%%32%65", "%c0%ae%c0%ae", "%c0%2e%c0%2e",
    "%c0%ae.", "%e0%80%ae%e0%80%ae", "%e0%40%ae%e0%40%ae", "%f0%80%80%ae%f0%80%80%ae", "%f8%80%80%80%ae%f8%80%80%80%ae", "%u002e%u002e",
    "%uff0e%uff0e", "%ef%bc%8e%ef%bc%8e", "%e2%80%a5", "\uff0e\uff0e", "\u2025", "...", "....", ". .", "..%20", "..%09", "..%00",
    "..%01", "..;", "..;x=1", "..%3b", "..%3bx", "..%ff", "..%c2%a0", "%2e%2e%", ".%00.", ".%0d.", "%2e%2e%2e", "0x2e0x2e", "..~", "~..",
)
SLASHES = (
    "/", "\\", "//", "/./", "/.//", "%2f", "%2F", "%252f", "%25252f", "%5c", "%5C", "%255c", "%%32%66", "%c0%af", "%c1%9c", "%c0%5c",
    "%c1%8s", "%e0%80%af", "%f0%80%80%af", "%u2215", "%u2216", "%ef%bc%8f", "\u2215", "\uff0f", "\\/", "/\\", "/;/", "/;a=b/", "/%20/",
    "/%00/", "/%2e/", "0x2f", "%0a/", "/~/",
)
TARGETS = (
    "secret", "secret.txt", "etc/passwd", "etc/shadow", "proc/self/environ", "proc/self/root/secret", "dev/zero", "windows/win.ini", "boot.ini",
    "WINNT/system32/cmd.exe", "WEB-INF/web.xml", "inetpub/wwwroot/web.config", "var/log/apache2/access.log", "root/.ssh/id_rsa",
)
ENDS = (
    "", "%00", "%00.html", "%00index.html", "%2500.jpg", ".html", "?", "?/../../secret", "#", "%23", "%3f", "%3f.css", "::$DATA", "::%24DATA", "%20", ".",
    "..", "/", "/.", "/..", ";.css", ";jsessionid=1", "%3b.js", "~", ".bak", "%0a", "%0d%0aX-Y:%20z", "%09", "\\", "%5c", "/index.html", "/%2e%2e/secret",
)
# What lies in the root and is nobody's business, or often does.
HIDDEN = (
    ".env", ".env.local", ".env.bak", ".git/config", ".git/HEAD", ".git/index", ".gitignore", ".svn/entries", ".svn/wc.db", ".hg/hgrc", ".bzr/README", "CVS/Root",
    ".htaccess", ".htpasswd", "in/.htpasswd", ".DS_Store", ".idea/workspace.xml", ".vscode/settings.json", ".ssh/id_rsa", ".aws/credentials", ".docker/config.json",
    ".npmrc", ".bash_history", ".mysql_history", ".index.html.swp", ".index.html.swo", ".well-known/../.env", ".config/secret", "._.DS_Store", ".user.ini",
)
PLAIN = (
    "index.html", "in/a", "index.html~", "index.html.bak", "index.html.old", "index.html.orig", "index.html.save", "index.html.1", "index.html.swp", "%23index.html%23",
    "index.php", "index.php.bak", "index.php~", "index.phps", "copy%20of%20index.html", "backup.zip", "backup.tar.gz", "www.tar", "site.sql", "dump.sql.gz", "db.sqlite",
    "admin/", "administrator/", "phpmyadmin/", "pma/", "wp-admin/", "wp-login.php", "wp-config.php", "wp-config.php.bak", "xmlrpc.php", "server-status", "server-info",
    "cgi-bin/", "cgi-bin/test-cgi", "cgi-bin/printenv", "manager/html", "console/", "actuator/env", "actuator/heapdump", "debug/pprof/", "phpinfo.php", "info.php", "test.php",
    "vendor/phpunit/phpunit/src/Util/PHP/eval-stdin.php", "composer.json", "composer.lock", "package.json", "Dockerfile", "docker-compose.yml", "web.config", "crossdomain.xml",
    "robots.txt", "sitemap.xml", "favicon.ico", "api/v1/pods", "solr/admin/", "jmx-console/", "HNAP1/", "boaform/admin/formLogin", "shell?cd+/tmp", "_ignition/execute-solution",
    "out", "out/", "out/.", "out%00", "up/secret", "up/www/index.html", "pipe", "PIPE", "in", "in/", "in/.", "in//a", "in/./a", "in/../in/a", "IN/A", "in/a/", "in/a/..", "in/a/../../secret",
)
WINDOWS = (
    "c:/windows/win.ini", "C:%5cwindows%5cwin.ini", "c|/boot.ini", "C%3a/secret", "\\\\?\\C:\\secret", "\\\\.\\pipe", "\\\\server\\share\\secret", "%5c%5cserver%5cshare", "con", "CON.html",
    "aux", "nul", "prn", "com1", "lpt1.txt", "index.html::$DATA", "index.html:secret", "INDEX~1.HTM", "SECRET~1", "index.html...", "index.html%20%20", "index%2ehtml.", "..\\..\\secret",
    "..%5c..%5csecret", "..\\../secret", "%2e%2e\\secret", "/..\\secret",
)


def _traversals(chance: random.Random, count: int):
    for _ in range(count):
        depth = chance.choice((1, 1, 2, 2, 3, 4, 6, 9))
        # One way of writing throughout, as tools do; or each step in its own.
        dots, slash = chance.choice(DOTS), chance.choice(SLASHES)
        mixed = chance.random() < 0.3
        steps = [(chance.choice(DOTS) + chance.choice(SLASHES)) if mixed else dots + slash for _ in range(depth)]
        before = chance.choice(("/", "/", "/in/", "/in/a/", "//", "/in/%2e/", "/out/", "/up/", "/static/", "/;/", "/in;x=1/", "/%2f", ""))
        yield before + "".join(steps) + chance.choice(TARGETS) + chance.choice(ENDS)


def _written(chance: random.Random, text: str) -> str:
    """The same otherwise: letters by number, in the other case, slashes doubled."""
    way = chance.randrange(6)
    if way == 0:
        return "".join(f"%{ord(letter):02x}" if chance.random() < 0.4 else letter for letter in text)
    if way == 1:
        return "".join(f"%25{ord(letter):02x}" if chance.random() < 0.3 else letter for letter in text)
    if way == 2:
        return text.swapcase()
    if way == 3:
        return text.replace("/", chance.choice(SLASHES))
    if way == 4:
        return text.replace(".", chance.choice(("%2e", "%252e", "%c0%ae", "\uff0e")))
    return text


def targets(place: str, seed: int, traversals: int):
    """Targets, each once. `place`: the folder, outside of the root, in which the canary `secret` lies."""
    chance = random.Random(seed)
    known = [*HIDDEN, *PLAIN, *WINDOWS]
    made = itertools.chain(
        ("/" + name for name in known),
        ("/" + name + end for name in known for end in ENDS),
        (chance.choice(("/", "//", "/in/../", "/./", "/%2e/")) + _written(chance, name) for name in known for _ in range(6)),
        ("/" + dots + slash + "secret" for dots in DOTS for slash in SLASHES),
        # Absolute, in a path, behind a scheme, and with what does not belong there.
        (before + place + "/secret" + end for before in ("", "/", "//", "/%2f", "/%2f%2f", "/in/", "/file:", "/file://", "file://") for end in ("", "%00", "/", "?x")),
        (
            scheme + host + path
            for scheme in ("http://", "https://", "HTTP://", "ftp://", "file://", "gopher://")
            for host in ("www.test", "www.test:80", "other.test", "a@www.test", "www.test@other.test", "www.test%00", "[::1]", "")
            for path in ("/../secret", "/%2e%2e/secret", "/..%2fsecret", "/..;/secret", "//etc/passwd", "/.env", "/in/a", "")
        ),
        ("/" + "../" * count + "secret" for count in (10, 100, 1000)),
        ("/" + "in/../" * count + "../secret" for count in (10, 100, 600)),
        ("/" + "./" * count + "../secret" for count in (10, 500)),
        ("/" + "a" * count for count in (255, 256, 4095, 4096, 6000)),
        ("*", "/*", "", "secret", "../secret", "?", "?../secret", "#", "\\secret", "..\\secret", ".", "..", "/.", "/..", "//", "///", "/%", "/%2", "/%zz", "/%00", "/\x7f", "/a\tb", "/a b", "/\u202e"),
        _traversals(chance, traversals),
    )
    return list(dict.fromkeys(made))
