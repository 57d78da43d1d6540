"""What `make` does where Rust is missing or too old: tools/toolchain, with a system of its own and no network."""

import os
import pathlib
import pty
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEEDED = re.search(r'^rust-version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.M)[1]
PATIENCE = 30


class Toolchain(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="apus-toolchain-")
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        self.bin = self.home / "system"
        self.bin.mkdir()
        # What the script itself is made of, and nothing else: no cargo, no rustup.
        for tool in ("bash", "sh", "sed", "sort", "mktemp", "rm", "dirname", "cat", "mkdir", "chmod", "cp"):
            path = next(p for p in ("/usr/bin", "/bin") if os.path.exists(f"{p}/{tool}"))
            (self.bin / tool).symlink_to(f"{path}/{tool}")
        self.rust(self.home / "new", NEEDED)
        # In place of the network: an installer that puts the new one where rustup does.
        self.program(self.bin / "curl", f'''while [ $# -gt 1 ]; do shift; done
cat > "$1" <<EOF
mkdir -p "$HOME/.cargo/bin"
cp "{self.home}"/new/* "$HOME/.cargo/bin/"
echo "installed with $*"
EOF''')

    @staticmethod
    def program(path, text):
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def rust(self, folder, version):
        self.program(folder / "rustc", f"echo 'rustc {version}.0 (0123456 2026-01-01)'")
        self.program(folder / "cargo", f"echo 'cargo {version}.0'")

    def environment(self, **more):
        return {"PATH": str(self.bin), "HOME": str(self.home), **more}

    def toolchain(self, code, **more):
        done = subprocess.run(
            ["bash", ROOT / "tools/toolchain"],
            env=self.environment(**more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
        )
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def on_a_terminal(self, answer):
        ours, theirs = pty.openpty()
        with os.fdopen(ours, "wb", buffering=0) as terminal:
            process = subprocess.Popen(
                ["bash", ROOT / "tools/toolchain"],
                env=self.environment(),
                stdin=theirs,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            os.close(theirs)
            terminal.write(answer)
            said, _ = process.communicate(timeout=PATIENCE)
        return process.returncode, said

    def test_one_that_fits_is_left_alone(self):
        self.rust(self.bin, NEEDED)
        self.assertEqual(self.toolchain(0), "")

    def test_missing_without_a_terminal_says_what_to_do(self):
        self.assertRegex(self.toolchain(1), rf"missing: Apus needs Rust {NEEDED} or newer\. RUSTUP=yes")
        self.assertFalse((self.home / ".cargo").exists())

    def test_an_old_one_is_told_from_its_version(self):
        self.rust(self.bin, "1.63")
        self.assertIn(f"Rust 1.63.0 is too old: Apus needs Rust {NEEDED} or newer. RUSTUP=yes", self.toolchain(1))

    def test_with_leave_it_is_installed_and_goes_before_the_old_one(self):
        self.rust(self.bin, "1.63")
        self.assertIn("installed", self.toolchain(0, RUSTUP="yes"))
        self.assertEqual(self.toolchain(0), "")

    def test_on_a_terminal_it_asks(self):
        code, _ = self.on_a_terminal(b"n\n")
        self.assertEqual(code, 1)
        self.assertFalse((self.home / ".cargo").exists())
        code, said = self.on_a_terminal(b"\n")
        self.assertEqual(code, 0, said)
        self.assertTrue((self.home / ".cargo/bin/cargo").exists())

    def test_a_rustup_that_is_there_updates(self):
        self.rust(self.bin, "1.63")
        self.program(self.bin / "rustup", f"echo \"rustup $*\"; mkdir -p $HOME/.cargo/bin; cp {self.home}/new/* $HOME/.cargo/bin/")
        self.assertIn("rustup update stable", self.toolchain(0, RUSTUP="yes"))

    def test_a_default_that_stays_old_is_named(self):
        self.rust(self.bin, "1.63")
        self.program(self.bin / "rustup", "true")
        self.assertIn("rustup default stable", self.toolchain(1, RUSTUP="yes"))


if __name__ == "__main__":
    unittest.main()
