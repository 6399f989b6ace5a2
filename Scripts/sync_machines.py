# SPDX-License-Identifier: Apache-2.0
# Machines of a ring, each a home of its own on this computer: for check-sync.py.

import json
import os
import signal
import subprocess
import time
from pathlib import Path

PATH = os.environ.get("PATH", "/usr/bin:/bin")


# Seconds for what a busy machine does at last.
LIMIT = 600
# Exit statuses of the tool. After these three the same command may succeed: the vault is busy, a limit has passed, a carrier does not answer.
UNAVAILABLE = 13
WAITING = (11, 12, UNAVAILABLE)


class Failed(Exception):
    """What ends the check."""


def kill(process, number=signal.SIGKILL):
    """A signal to a process that this program has started, and to its children."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


class Machine:
    """A home with a vault, its copy of the shared folder if there is one, and the programs that run in it."""

    def __init__(self, name, root, folder, programs):
        self.name, self.home, self.folder = name, Path(root, name), folder and Path(folder)
        self.tool, self.exerciser = programs
        self.home.mkdir()
        if self.folder:
            self.folder.mkdir(exist_ok=True)
        self.env = {"HOME": str(self.home), "PATH": PATH, "KEYCHAIN_ANCHORS": "file"}
        self.place = [str(self.home / ".local/share/swift-keychain"), str(self.home / ".config/swift-keychain/device.key")]
        self.watching = None
        self.is_to_watch = False

    def start(self, command, output, stdin=subprocess.DEVNULL):
        # A group of its own, so that a signal reaches it and its children, and nothing else.
        return subprocess.Popen(command, env=self.env, cwd=self.home, stdin=stdin, stdout=output,
                                stderr=subprocess.STDOUT, start_new_session=True)

    def run(self, *arguments, text="", limit=600):
        return subprocess.run([self.tool, *arguments], env=self.env, cwd=self.home, input=text.encode(),
                              capture_output=True, timeout=limit)

    def do(self, *arguments, text=""):
        """Runs the tool, which has to succeed."""
        result = self.run(*arguments, text=text)
        if result.returncode:
            raise Failed(f"{self.name}: {' '.join(arguments[:3])}: {result.stderr.decode(errors='replace').strip()}")
        return result.stdout.decode()

    def json(self, *arguments):
        return json.loads(self.insist(*arguments, "--json"))

    def set(self, account, value):
        self.insist("set", "--synchronizable", "-s", "tool", "-a", account, text=value)

    def delete(self, account):
        self.insist("delete", "-s", "tool", "-a", account)

    def insist(self, *arguments, text=""):
        """As a person would, with the tool. Repeats what the tool says it has not done."""
        end, others = time.monotonic() + LIMIT, 0
        while True:
            result = self.run(*arguments, text=text)
            if result.returncode == 0:
                return result.stdout.decode()
            others += result.returncode not in WAITING
            if time.monotonic() > end or others == 8:
                break
            time.sleep(0.1)
        raise Failed(f"{self.name}: {' '.join(arguments)}: {result.stderr.decode(errors='replace').strip()}")

    # MARK: - sync watch

    def watch(self):
        with open(self.home / "watch.log", "ab") as log:
            self.watching = self.start([self.tool, "sync", "watch"], log)
        self.is_to_watch = True

    def kill_watch(self):
        self.check_watch()
        kill(self.watching)
        self.watching.wait()
        self.is_to_watch = False

    def check_watch(self):
        """It must run until it is killed here."""
        if self.is_to_watch and self.watching.poll() is not None:
            raise Failed(f"{self.name}: sync watch ended with {self.watching.returncode}; see watch.log")

    def end_watch(self):
        self.check_watch()
        self.is_to_watch = False
        if self.watching and self.watching.poll() is None:
            kill(self.watching, signal.SIGCONT)
            kill(self.watching, signal.SIGTERM)
            try:
                self.watching.wait(LIMIT)
            except subprocess.TimeoutExpired:
                kill(self.watching)
                raise Failed(f"{self.name}: sync watch did not end when it was told to") from None
