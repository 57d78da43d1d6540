"""nginx with php-fpm, set up as Debian's own files of nginx say it, to compare `apus serve` with; and an IMAP server for
a mail client."""

import grp
import os
import pathlib
import pwd
import shutil
import socket

from servers import Daemon, program

CONF = pathlib.Path("/etc/nginx")
# What nginx has to write into.
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


class PhpFpm(Daemon):
    """php-fpm with so many processes. Options: lines of the pool's configuration."""

    name = "php-fpm"

    def __init__(self, *options, processes=2):
        self.processes = processes
        super().__init__(*options)

    def prepare(self):
        self.program = program("php-fpm8.*", "/usr/sbin")
        self.socket = self.folder / "socket"
        root = ("user = root", "group = root") if os.geteuid() == 0 else ()
        lines = [
            "[global]",
            f"error_log = {self.folder / 'error.log'}",
            "daemonize = no",
            "[www]",
            *root,
            f"listen = {self.socket}",
            "pm = static",
            f"pm.max_children = {self.processes}",
            *self.options,
        ]
        (self.folder / "fpm.conf").write_text("\n".join(lines) + "\n")

    def line(self):
        root = ["--allow-to-run-as-root"] if os.geteuid() == 0 else []
        return [self.program, "-y", self.folder / "fpm.conf", *root]

    def answers(self):
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(1)
            probe.connect(str(self.socket))
            return True

    def _end(self, number):
        # TERM: its children leave with it.
        import signal

        super()._end(signal.SIGTERM)


class Nginx(Daemon):
    """nginx before a php-fpm: the directory, and what it tries where no file is."""

    name = "nginx"

    def __init__(self, fpm, root, tries="$uri $uri/ /index.php?$args", server="", processes=1):
        self.fpm, self.root, self.tries, self.server, self.processes = fpm, root, tries, server, processes
        super().__init__()

    def prepare(self):
        shutil.copy(CONF / "fastcgi.conf", self.folder)
        shutil.copy(CONF / "mime.types", self.folder)
        snippet = (CONF / "snippets/fastcgi-php.conf").read_text()
        (self.folder / "fastcgi-php.conf").write_text(snippet)
        temporary = "".join(f"    {name}_temp_path {self.folder / name};\n" for name in TEMPORARY)
        user = "user root;" if os.geteuid() == 0 else ""
        (self.folder / "nginx.conf").write_text(f"""
daemon off;
{user}
worker_processes {self.processes};
pid {self.folder / 'pid'};
error_log {self.folder / 'error.log'};
events {{ worker_connections 1024; }}
http {{
    include mime.types;
    default_type application/octet-stream;
    access_log off;
    keepalive_requests 1000000000;
    client_max_body_size 16m;
{temporary}
    server {{
        listen 127.0.0.1:{self.port};
        server_name test;
        root {self.root};
        index index.php index.html;
        {self.server}
        location ~ /\\.(?!well-known) {{ return 404; }}
        location / {{ try_files {self.tries}; }}
        location ~ [^/]\\.php(/|$) {{
            include fastcgi-php.conf;
            fastcgi_pass unix:{self.fpm.socket};
        }}
    }}
}}
""")

    def line(self):
        return [program("nginx"), "-p", self.folder, "-c", self.folder / "nginx.conf"]

    def _end(self, number):
        import signal

        super()._end(signal.SIGTERM)


class Dovecot(Daemon):
    """IMAP for whoever has the password."""

    name = "dovecot"
    PASSWORD = "s3cret"

    def prepare(self):
        mail = self.folder / "mail"
        mail.mkdir()
        me = pwd.getpwuid(os.geteuid())
        owner = pwd.getpwnam("nobody") if me.pw_uid == 0 else me
        os.chown(mail, owner.pw_uid, owner.pw_gid)
        # Its processes are of other users, and get there.
        os.chmod(self.folder, 0o755)
        own = f"""
default_internal_user = {me.pw_name}
default_internal_group = {grp.getgrgid(me.pw_gid).gr_name}
default_login_user = {me.pw_name}
service anvil {{ chroot = }}
service imap-login {{ chroot = }}
""" if me.pw_uid != 0 else ""
        (self.folder / "dovecot.conf").write_text(f"""
base_dir = {self.folder}/run
state_dir = {self.folder}/state
log_path = {self.folder}/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
first_valid_uid = 1
first_valid_gid = 0
mail_location = maildir:{mail}/%u
{own}
passdb {{
  driver = static
  args = password={self.PASSWORD}
}}
userdb {{
  driver = static
  args = uid={owner.pw_uid} gid={owner.pw_gid} home={mail}/%u
}}
service imap-login {{
  inet_listener imap {{
    port = {self.port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
""")

    def line(self):
        return [program("dovecot"), "-F", "-c", self.folder / "dovecot.conf"]

    def answers(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=1) as probe:
            return probe.recv(4) == b"* OK"

    def _end(self, number):
        # TERM: its processes leave with it.
        import signal

        super()._end(signal.SIGTERM)
