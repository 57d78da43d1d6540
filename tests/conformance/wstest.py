"""Autobahn's wstest, kept in a cache folder.

It runs on Python 2.7 only, which Debian 12 has no more: interpreter and libraries are the packages of Debian 11,
unpacked beside the system and not installed into it, from the mirrors that apt is set up with; the suite comes by pip,
from the index that pip is set up with.
"""
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile

DEBIAN = ["python2.7", "python2.7-minimal", "libpython2.7-minimal", "libpython2.7-stdlib", "libpython2.7", "libpython2.7-dev", "libffi7", "libssl1.1", "python-pip-whl"]
# The last versions that run on Python 2.7, and that autobahn 0.10.9 (which the suite is written for) takes.
TOOLS = ["wheel==0.37.1", "setuptools==44.1.1"]
LIBRARIES = [
    "six==1.16.0", "txaio==2.1.0", "incremental==16.10.1", "zope.interface==4.6.0", "attrs==20.3.0", "Automat==20.2.0", "constantly==15.1.0", "hyperlink==19.0.0", "idna==2.10",
    "Twisted==19.10.0", "enum34==1.1.10", "ipaddress==1.0.23", "pycparser==2.21", "cffi==1.15.1", "cryptography==3.3.2", "pyOpenSSL==19.1.0",
    "MarkupSafe==1.1.1", "Jinja2==2.11.3", "Werkzeug==1.0.1", "klein==17.10.0", "wsaccel==0.6.3",
]
SUITE = ["autobahn==0.10.9", "autobahntestsuite==25.10.1"]
# Python 2.7's own unittest has all that unittest2 is imported for.
START = "import sys, unittest; sys.modules['unittest2'] = unittest; "
RUN = START + "sys.argv[0] = 'wstest'; from autobahntestsuite.wstest import run; run()"
CASES = START + "from autobahntestsuite.case import Cases; print('\\n'.join(c.__name__[4:].replace('_', '.') for c in Cases))"


class Missing(Exception):
    """It cannot be had here; the text says why."""


def command(line, **options):
    done = subprocess.run(
        [str(word) for word in line],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=1200,
        **options,
    )
    if done.returncode:
        raise Missing(f"{' '.join(map(str, line[:6]))}...: exit {done.returncode}: {done.stdout.strip()[-1500:]}")
    return done.stdout


class Interpreter:
    """Python 2.7 with the suite, under `folder`."""

    def __init__(self, folder):
        self.root = folder / "root"

    def environment(self, **more):
        libraries = f"{self.root}/usr/lib/{platform.machine()}-linux-gnu"
        # Not PYTHONHOME: the interpreter finds its library beside itself, wherever the folder is moved to.
        own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return {**own, "LD_LIBRARY_PATH": libraries, "PYTHONNOUSERSITE": "1", **more}

    def line(self, code, *arguments):
        return [str(self.root / "usr/bin/python2.7"), "-B", "-W", "ignore", "-c", code, *arguments]

    def wstest(self, *arguments, **options):
        return subprocess.Popen(self.line(RUN, *arguments), env=self.environment(), **options)

    def cases(self):
        return command(self.line(CASES), env=self.environment()).split()

    def pip(self, *arguments):
        wheels = sorted((self.root / "usr/share/python-wheels").glob("*.whl"))
        path = ":".join(str(wheel) for wheel in wheels if "py3-none" not in wheel.name or "py2" in wheel.name)
        include = self.root / "usr/include"
        # Compiling one extension must not find the headers of another Python.
        flags = f"-I{include} -I{include}/python2.7 -w -O2"
        code = "import sys; from pip._internal.cli.main import main; sys.exit(main())"
        options = ["install", "-q", "--no-python-version-warning", "--no-deps", "--no-build-isolation", "--no-cache-dir"]
        command(
            [*self.line(code, *options), *arguments],
            env=self.environment(PYTHONPATH=path, CFLAGS=flags, PIP_DISABLE_PIP_VERSION_CHECK="1"),
        )


def mirrors():
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        raise Missing("no apt-get: this is no Debian")
    sites = command(["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages"]).split()
    return sorted(dict.fromkeys(sites), key=lambda site: "security" in site)


def unpack(folder):
    """The packages of Debian 11, through an apt of its own that knows nothing of what is installed."""
    keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
    errors = []
    for site in mirrors():
        apt = folder / "apt"
        shutil.rmtree(apt, ignore_errors=True)
        for part in ("state/lists/partial", "cache/archives/partial", "packages"):
            (apt / part).mkdir(parents=True)
        (apt / "status").touch()
        (apt / "sources").write_text(f"deb [signed-by={keys}] {site} bullseye main\n")
        options = {
            "Dir::Etc::sourcelist": apt / "sources", "Dir::Etc::sourceparts": "-", "Dir::Etc::preferencesparts": "-", "Dir::State": apt / "state",
            "Dir::State::status": apt / "status", "Dir::Cache": apt / "cache", "APT::Sandbox::User": "", "APT::Install-Recommends": "0",
        }
        line = ["apt-get", "-q", *(word for name, value in options.items() for word in ("-o", f"{name}={value}"))]
        try:
            command([*line, "update"])
            command([*line, "download", *DEBIAN], cwd=apt / "packages")
        except Missing as error:
            errors.append(str(error))
            continue
        for package in sorted((apt / "packages").glob("*.deb")):
            command(["dpkg", "-x", package, folder / "root"])
        shutil.rmtree(apt)
        return
    raise Missing("; ".join(errors) or "apt knows no mirror")


def build(folder):
    unpack(folder)
    interpreter = Interpreter(folder)
    for group in (TOOLS, LIBRARIES, SUITE):
        interpreter.pip(*group)
    if len(interpreter.cases()) < 500:
        raise Missing("the suite has too few cases")


def prepare():
    """The interpreter, from the cache or made now."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "apus"
    final = cache / "autobahn-25.10.1"
    if not final.exists():
        cache.mkdir(parents=True, exist_ok=True)
        scratch = pathlib.Path(tempfile.mkdtemp(prefix="autobahn-", dir=cache))
        try:
            build(scratch)
            # Whoever else made it at the same time made the same.
            if not final.exists():
                scratch.rename(final)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Missing(str(error)) from error
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return Interpreter(final)
