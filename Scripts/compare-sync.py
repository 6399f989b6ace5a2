#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares sync with what people use instead: `pass git`, and a file of KeePassXC that Syncthing carries.

usage: compare-sync.py [--entries N] [--rounds N] [--record DOCUMENT]

Two machines, each a home on this computer, share N entries (1,000). One entry is changed again and again; then both machines
change it, one deletes it while the other one changes it, and the storage is put back to an older state. Nothing leaves
the computer: remotes are folders, and Syncthing uses the loopback interface. KEYCHAINCTL names a tool that is already built.
"""

import argparse
import base64
import contextlib
import datetime
import itertools
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True

from sync_carriers import Syncthing
from sync_machines import Failed, Machine, kill

PROJECT = Path(__file__).resolve().parent.parent


def milliseconds(action):
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def until(what, action, limit=120):
    """Waits until it is true."""
    end = time.monotonic() + limit
    while not action():
        if time.monotonic() > end:
            raise Failed(f"not within {limit} s: {what}")
        time.sleep(0.005)


def sizes(folder):
    return {file: file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()}


class Person(Machine):
    """A home with programs, whose commands have to succeed unless the caller looks at the result."""
    started = []

    def __init__(self, name, root):
        super().__init__(name, root, Path(root, f"{name}-folder"), (os.environ.get("KEYCHAINCTL"), None))

    def start(self, *arguments):
        process = super().start(*arguments)
        self.started.append(process)
        return process

    @classmethod
    def kill_rest(cls):
        """What still runs of all persons."""
        for process in cls.started:
            if process.poll() is None:
                kill(process)
                process.wait()
        cls.started.clear()

    def command(self, *arguments, text="", fails=False):
        result = subprocess.run(arguments, env=self.env, cwd=self.home, input=text.encode(), capture_output=True, timeout=120)
        if result.returncode and not fails:
            raise Failed(f"{self.name}: {arguments[0]} {arguments[1]}: {result.stderr.decode(errors='replace').strip()}")
        return result.stdout.decode(errors="replace")


class PassGit:
    title = "`pass git`"
    needs = ("pass", "gpg", "git")

    def __init__(self, root):
        self.remote, self.store = Path(root, "remote.git"), "password-store"
        self.one, self.other = Person("one", root), Person("other", root)
        keys = Path(root, "gnupg")
        keys.mkdir(mode=0o700)
        for person in (self.one, self.other):
            person.env |= {"GNUPGHOME": str(keys), "GIT_CONFIG_NOSYSTEM": "1", "PASSWORD_STORE_DIR": str(person.home / self.store)}

    def begin(self, entries):
        for person in (self.one, self.other):
            (person.home / ".gitconfig").write_text(
                "[user]\nname = a\nemail = a@example.com\n[init]\ndefaultBranch = main\n[pull]\nrebase = false\n[gc]\nauto = 0\n")
        one = self.one
        one.command("gpg", "--batch", "--quiet", "--passphrase", "", "--quick-gen-key", "a@example.com", "default", "default", "never")
        one.command("git", "init", "-q", "--bare", str(self.remote))
        one.command("pass", "init", "a@example.com")
        one.command("pass", "git", "init")
        one.command("pass", "git", "remote", "add", "origin", str(self.remote))
        self.write(one, "first")
        # Each entry is a file that stands for itself, so copies do.
        for entry in range(1, entries):
            shutil.copy(one.home / self.store / "entry-0.gpg", one.home / self.store / f"entry-{entry}.gpg")
        one.command("pass", "git", "add", "-A")
        one.command("pass", "git", "commit", "-qm", "entries")
        one.command("pass", "git", "push", "-qu", "origin", "main")
        self.other.command("git", "clone", "-q", str(self.remote), str(self.other.home / self.store))

    def write(self, person, value):
        person.command("pass", "insert", "-e", "-f", "entry-0", text=value + "\n")

    def read(self, person):
        return person.command("pass", "show", "entry-0", fails=True).strip()

    def carry(self):
        self.one.command("pass", "git", "push", "-q")
        self.other.command("pass", "git", "pull", "-q")

    def bytes(self):
        return sum(sizes(self.remote).values())

    def pull(self, person):
        person.command("pass", "git", "pull", "-q", "--no-edit", fails=True)
        state = person.command("git", "-C", str(person.home / self.store), "status", "--porcelain")
        kinds = {line[:2] for line in state.splitlines()}
        return "a conflict of git, which a person merges" if kinds & {"UU", "UD", "DU"} else f"shows {self.read(person)}"

    def reset(self, person):
        person.command("git", "-C", str(person.home / self.store), "merge", "--abort", fails=True)
        person.command("git", "-C", str(person.home / self.store), "reset", "-q", "--hard", "origin/main")

    def apart(self, change_one, change_other):
        change_one(self.one)
        self.one.command("pass", "git", "push", "-q")
        change_other(self.other)
        outcome = self.pull(self.other)
        self.reset(self.other)
        return outcome

    def remove(self, person):
        person.command("pass", "rm", "-f", "entry-0")

    def put_back(self):
        for value in "12345":
            self.write(self.one, value)
        self.one.command("pass", "git", "push", "-q")
        self.pull(self.other)
        self.one.command("git", "-C", str(self.remote), "update-ref", "refs/heads/main", "main~5")
        state = self.other.command("pass", "git", "pull", fails=True)
        clone = self.other.home / "clone"
        self.other.command("git", "clone", "-q", str(self.remote), str(clone))
        is_old = not (clone / "entry-0.gpg").exists() or (clone / "entry-0.gpg").read_bytes() != (
            self.one.home / self.store / "entry-0.gpg").read_bytes()
        said = "said" if re.search("diverged|rewound|forced", state) else "nothing is said"
        return f"{said}; a new clone shows {'an old state' if is_old else 'the new state'}"

    def end(self):
        self.one.command("gpgconf", "--kill", "all")


class KeePassXC:
    title = "KeePassXC, Syncthing"
    needs = ("keepassxc-cli", "syncthing")
    name = "entries.kdbx"

    def __init__(self, root):
        self.one, self.other, self.sent = Person("one", root), Person("other", root), 0
        # The command is a program with windows, which it does not show.
        for person in (self.one, self.other):
            person.database = person.folder / self.name
            person.env |= {"QT_QPA_PLATFORM": "offscreen", "LC_ALL": "C.UTF-8"}
        self.carrier = Syncthing(root)

    def begin(self, entries):
        self.carrier.start([self.one, self.other])
        new = self.one.home / "new.kdbx"
        self.tool(self.one, "db-create", "-q", "--set-password", str(new), text="pw\npw\n")
        xml = self.tool(self.one, "export", "-q", "--format", "xml", str(new))
        file = self.one.home / "entries.xml"
        file.write_text(xml.replace("</Group>", "".join(map(self.entry, range(entries))) + "</Group>", 1))
        self.tool(self.one, "import", "-q", "--set-password", str(file), str(self.one.home / self.name), text="pw\npw\n")
        self.place(self.one, self.one.home / self.name)
        self.carry()

    @staticmethod
    def entry(number):
        strings = {"Title": f"entry-{number}", "UserName": "first", "Password": "a token of about forty characters, say."}
        return (f"<Entry><UUID>{base64.b64encode(os.urandom(16)).decode()}</UUID>"
                + "".join(f"<String><Key>{key}</Key><Value>{value}</Value></String>" for key, value in strings.items()) + "</Entry>")

    def tool(self, person, *arguments, text="pw\n", fails=False):
        return person.command("keepassxc-cli", *arguments, text=text, fails=fails)

    def place(self, person, file):
        shutil.copy(file, person.folder / ".new")
        os.replace(person.folder / ".new", person.database)

    def write(self, person, value, entry="/entry-0"):
        self.tool(person, "edit", "-q", "-u", value, str(person.database), entry)

    def read(self, person, entry="/entry-0"):
        return self.tool(person, "show", "-q", "-a", "UserName", str(person.database), entry, fails=True).strip()

    def carry(self):
        mine = self.one.database.read_bytes()
        until("the file arrives", lambda: self.other.database.exists() and self.other.database.read_bytes() == mine)

    def bytes(self):
        # Syncthing sends what has changed of a file in blocks; the file is one, and encrypted anew each time.
        self.sent += self.one.database.stat().st_size
        return self.sent

    def apart(self, change_one, change_other):
        shared, self.other.database = self.other.database, self.other.home / "copy.kdbx"
        shutil.copy(self.one.database, self.other.database)
        change_one(self.one)
        # Its times have seconds.
        time.sleep(1.1)
        change_other(self.other)
        self.tool(self.one, "merge", "-q", "--same-credentials", str(self.one.database), str(self.other.database))
        self.other.database = shared
        shown = self.read(self.one)
        place = "it is in the recycle bin" if self.read(self.one, "/Recycle Bin/entry-0") else "it is gone"
        return "two files; after `keepassxc-cli merge` " + (f"it shows {shown}" if shown else place)

    def remove(self, person):
        self.tool(person, "rm", "-q", str(person.database), "/entry-0")

    def put_back(self):
        # The first one may be in the recycle bin.
        old, entry = self.one.home / "old.kdbx", "/entry-1"
        self.write(self.one, "0", entry)
        shutil.copy(self.one.database, old)
        for value in "12345":
            self.write(self.one, value, entry)
        self.carry()
        self.place(self.one, old)
        self.carry()
        return f"nothing is said; the other machine shows {'the new state' if self.read(self.other, entry) == '5' else 'an old state'}"

    def end(self):
        self.carrier.stop()


class Ours:
    """Machines of a ring. A subclass says what carries the files."""
    needs = ()

    def __init__(self, root):
        self.one, self.other = Person("one", root), Person("other", root)
        self.files = {}

    def begin(self, entries):
        self.one.do("sync", "init", "--name", "one", "--folder", str(self.one.folder))
        invitation = self.one.do("sync", "invite", "--name", "other").split()
        code = max(invitation, key=len)
        for person in (self.one, self.other):
            person.is_to_watch = False
        self.one.watch()
        self.other.do("sync", "join", "--folder", str(self.other.folder), "--code-fd", "0", text=code)
        self.other.watch()
        for entry in range(1, entries):
            self.one.do("set", "--synchronizable", "-s", "example.com", "-a", f"entry-{entry}", text="a token of about forty characters, say.")
        self.write(self.one, "first")
        self.carry()

    def write(self, person, value):
        person.do("set", "--synchronizable", "-s", "example.com", "-a", "entry-0", text=value)

    def read(self, person):
        return person.run("get", "-s", "example.com", "-a", "entry-0").stdout.decode().strip()

    def carry(self):
        mine = self.read(self.one)
        until("the change arrives", lambda: self.read(self.other) == mine)

    def bytes(self):
        # Files are never changed, and are removed when a snapshot takes their place.
        self.files |= sizes(self.one.folder)
        return sum(self.files.values())

    def same(self):
        states = [person.json("sync", "status") for person in (self.one, self.other)]
        return states[0]["compare"] == states[1]["compare"] and not any(state["pending"] for state in states)

    def apart(self, change_one, change_other):
        for person in (self.one, self.other):
            person.kill_watch()
        change_one(self.one)
        time.sleep(0.01)
        change_other(self.other)
        for person in (self.one, self.other):
            person.watch()
        until("both are equal", self.same)
        kept = len(self.one.json("sync", "conflicts"))
        return f"shows {self.read(self.one) or 'nothing'} on both" + ("; the other value is kept" if kept > 1 else "")

    def remove(self, person):
        person.do("delete", "-s", "example.com", "-a", "entry-0")

    def put_back(self):
        for person in (self.one, self.other):
            person.kill_watch()
        old = self.one.home / "old"
        shutil.copytree(self.one.folder, old)
        for value in "12345":
            self.write(self.one, value)
            self.one.do("sync", "now")
        self.exchange_other()
        for person in {str(person.folder): person for person in (self.one, self.other)}.values():
            shutil.rmtree(person.folder / "skc1")
            shutil.copytree(old / "skc1", person.folder / "skc1")
        known = len(self.other.json("sync", "status")["notices"])
        self.other.run("sync", "now")
        is_said = len(self.other.json("sync", "status")["notices"]) > known
        return f"{'said' if is_said else 'nothing is said'}; the other machine shows {'the new state' if self.read(self.other) == '5' else 'an old state'}"

    def exchange_other(self):
        until("the last change arrives", lambda: self.other.run("sync", "now").returncode == 0 and self.read(self.other) == "5")

    def end(self):
        # Each is told to end, also if another one has failed.
        with contextlib.ExitStack() as ends:
            for person in (self.one, self.other):
                ends.callback(person.end_watch)


class OursInFolder(Ours):
    title = "`keychainctl sync`, one folder"

    def __init__(self, root):
        super().__init__(root)
        self.other.folder = self.one.folder


class OursOverSyncthing(Ours):
    title = "`keychainctl sync`, Syncthing"
    needs = ("syncthing",)

    def __init__(self, root):
        super().__init__(root)
        self.carrier = Syncthing(root)

    def begin(self, entries):
        self.carrier.start([self.one, self.other])
        super().begin(entries)

    def end(self):
        try:
            super().end()
        finally:
            self.carrier.stop()


CONTENDERS = (PassGit, KeePassXC, OursOverSyncthing, OursInFolder)


def measure(contender, entries, rounds):
    missing = [need for need in contender.needs if not shutil.which(need)]
    if missing:
        return {"missing": f"not installed: {', '.join(missing)}"}
    root = tempfile.mkdtemp(prefix="keychain-compare-")
    with contextlib.ExitStack() as ends:
        # The last one comes first. What cannot be ended, or not before another signal, is killed.
        ends.callback(shutil.rmtree, root, ignore_errors=True)
        ends.callback(Person.kill_rest)
        tried = contender(root)
        ends.callback(tried.end)
        tried.begin(entries)
        saved, carried, totals = [], [], [tried.bytes()]
        for number in range(rounds):
            saved.append(milliseconds(lambda: tried.write(tried.one, f"value {number}")))
            carried.append(milliseconds(tried.carry))
            totals.append(tried.bytes())
        write = lambda value: lambda person: tried.write(person, value)
        added = [after - before for before, after in itertools.pairwise(totals)]
        result = {"saved": statistics.median(saved), "carried": statistics.median(carried), "bytes": statistics.median(added),
                  "changed": tried.apart(write("of-one"), write("of-other"))}
        tried.write(tried.one, "again")
        tried.carry()
        result["deleted"] = tried.apart(tried.remove, write("changed"))
        result["put back"] = tried.put_back()
        return result


def table(results, options):
    lines = ["## Beside other ways to share", "",
             f"Written by `Scripts/compare-sync.py` on {datetime.date.today()}: two machines on one computer, {options.entries} entries, "
             f"medians of {options.rounds} changes of one entry. A command is measured as a whole process. `pass` is pushed and pulled by the "
             "script, with a key of GnuPG without a passphrase; Syncthing waits a second after a change (*fsWatcherDelayS* 1); both "
             "`sync watch` run. What is seen elsewhere is asked for with a command, which is part of the time.", "",
             "| | one change | seen on the other machine after | bytes for a change | both have changed it (of-one, then of-other) "
             "| one has deleted it, then the other one changed it | the storage is put back by five changes |",
             "|---|---:|---:|---:|---|---|---|"]
    for title, result in results.items():
        if "missing" in result:
            lines.append(f"| {title} | {result['missing']} | | | | | |")
        else:
            lines.append(f"| {title} | {result['saved']:.0f} ms | {result['carried']:.0f} ms | {result['bytes']:,.0f} "
                         f"| {result['changed']} | {result['deleted']} | {result['put back']} |")
    return "\n".join(lines) + "\n"


def stop(number, frame):
    # Another one would interrupt the end of what was started.
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def main():
    parser = argparse.ArgumentParser(description="Compares sync with other ways to share secrets between two machines.")
    parser.add_argument("--entries", type=int, default=1000, metavar="N")
    parser.add_argument("--rounds", type=int, default=15, metavar="N")
    parser.add_argument("--record", metavar="DOCUMENT", help="replace its section with the results")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, stop)
    if not os.environ.get("KEYCHAINCTL"):
        subprocess.run([PROJECT / "Scripts/install.sh", "release"], check=True)
        os.environ["KEYCHAINCTL"] = str((PROJECT / ".build/release/keychainctl").resolve())
    failed, results = False, {}
    for contender in CONTENDERS:
        try:
            results[contender.title] = measure(contender, options.entries, options.rounds)
        except (Failed, OSError, subprocess.SubprocessError) as failure:
            results[contender.title], failed = {"missing": "failed"}, True
            print(f"{contender.title}: {failure}", file=sys.stderr, flush=True)
        print(contender.title, results[contender.title], flush=True)
    text = table(results, options)
    print(text)
    if options.record and not failed:
        with tempfile.NamedTemporaryFile("w", suffix=".md") as section:
            section.write(text)
            section.flush()
            subprocess.run([PROJECT / "Scripts/evidence.py", options.record, "Beside other ways to share", section.name], check=True)
    sys.exit(failed)


main()
