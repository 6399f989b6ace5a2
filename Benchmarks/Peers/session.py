# SPDX-License-Identifier: Apache-2.0
"""The throw-away session: folders, buses and daemons that nobody else sees, and that are gone at the end."""

import ctypes
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
KEYCTL_JOIN_SESSION_KEYRING = 1
SYS_KEYCTL = {"x86_64": 250, "aarch64": 219}
LIBC = ctypes.CDLL(None, use_errno=True)

# No service files: only the daemon that was started for a name on this bus serves it.
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
  <limit name="max_match_rules_per_connection">1000000</limit>
</busconfig>
"""


class Missing(Exception):
    """Why a peer is not measured."""


def end_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def join_session_keyring():
    """Gives this process and its children a session keyring of their own. False if the kernel has none."""
    number = SYS_KEYCTL.get(os.uname().machine)
    return number is not None and LIBC.syscall(number, KEYCTL_JOIN_SESSION_KEYRING, None) > 0


class Session:
    """Two folders: `place` on the disk that is measured, and `run`, whose short path suits sockets."""

    def __init__(self, parent):
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.has_keyring = join_session_keyring()
        self.processes = []
        self.at_end = []
        self.place = tempfile.mkdtemp(prefix="peers-", dir=parent)
        self.run = tempfile.mkdtemp(prefix="peers-", dir="/tmp")

    def home(self, name):
        return Home(self, name)

    def start(self, arguments, environment, log, **options):
        """A daemon: in a session of its own, so that it has no terminal to ask on."""
        with open(log, "ab") as file:
            process = subprocess.Popen(
                arguments, env=environment, stdout=file, stderr=file, start_new_session=True,
                preexec_fn=end_with_parent, **options)
        self.processes.append(process)
        return process

    def close(self):
        for action in self.at_end:
            action()
        for process in reversed(self.processes):
            end(process)
        for pid in children():
            kill(pid)
        for folder in (self.place, self.run):
            shutil.rmtree(folder, ignore_errors=True)


class Home:
    """What one store and its clients take for the home folder of their user."""

    def __init__(self, session, name):
        self.session = session
        self.folder = f"{session.place}/{name}"
        self.run = f"{session.run}/{name}"
        self.log = f"{self.folder}/log"
        parts = {"HOME": "home", "XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "config", "XDG_CACHE_HOME": "cache",
                 "XDG_STATE_HOME": "state"}
        short = {"XDG_RUNTIME_DIR": "run", "TMPDIR": "tmp", "GNUPGHOME": "gnupg"}
        self.environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "NO_COLOR": "1"}
        self.environment.update({name: f"{self.folder}/{part}" for name, part in parts.items()})
        self.environment.update({name: f"{self.run}/{part}" for name, part in short.items()})
        for name in (*parts, *short):
            os.makedirs(self.environment[name], mode=0o700)
        self.bus = None

    def start(self, arguments, environment=None, **options):
        return self.session.start(arguments, environment or self.environment, self.log, **options)

    def start_bus(self):
        socket = f"{self.run}/bus"
        with open(f"{self.run}/bus.conf", "w", encoding="utf-8") as file:
            file.write(BUS.format(socket=socket))
        self.bus = self.start(["dbus-daemon", f"--config-file={self.run}/bus.conf", "--nofork", "--nopidfile"])
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={socket}"
        self.wait_until(lambda: os.path.exists(socket), 10, "dbus-daemon made no socket")

    def serves_secrets(self):
        words = self.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus.NameHasOwner", "string:org.freedesktop.secrets")
        return "boolean true" in words

    def call(self, destination, path, method, *arguments):
        """The words of a D-Bus reply; none if there was no reply."""
        command = ["dbus-send", "--session", "--print-reply", f"--dest={destination}", path, method, *arguments]
        try:
            return subprocess.run(
                command, env=self.environment, capture_output=True, text=True, timeout=20, check=False).stdout
        except subprocess.TimeoutExpired:
            return ""

    def wait_until(self, condition, seconds, otherwise):
        end_of_wait = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end_of_wait:
                raise Missing(f"{otherwise}{self.last_words()}")
            time.sleep(0.05)

    def last_words(self):
        """What the daemon said last, for the table."""
        try:
            with open(self.log, encoding="utf-8", errors="replace") as file:
                lines = [line.strip() for line in file if line.strip() and "fd limit" not in line]
        except OSError:
            lines = []
        words = lines[-1].replace(self.run, "…").replace(self.folder, "…") if lines else ""
        return f": {words[:160]}" if words else ""


def random_password():
    return secrets.token_urlsafe(24).encode()


def end(process, seconds=3):
    """Asks a process to end, and then ends it. KeePassXC may ignore the question."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for stream in (process.stdin, process.stdout):
        if stream:
            stream.close()


def children():
    """Processes that were started here and have not ended, also those that their parents left behind."""
    found = []
    for thread in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{thread}/children", encoding="ascii") as file:
            found += [int(pid) for pid in file.read().split()]
    return found


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass
