# SPDX-License-Identifier: Apache-2.0
"""Stores that are files or the kernel's: the vault, SQLite, the kernel keyring, and pass's folder of files."""

import os
import subprocess
import time

from clients import PATIENCE, Failure, ask, open_lines
from names import ITEMS_PER_SERVICE, account, new_secret, service
from session import Missing, end


class Store:
    """Where items are. Several clients may use one store."""

    #: What a change waits for, if system calls do not show it.
    durability = None
    #: How it is filled, for the text.
    filling = "its own calls"
    has_files = True

    def __init__(self, name, home, version):
        self.name, self.home, self.version = name, home, version
        self.environment = home.environment
        self.folder = home.folder + "/store"
        os.mkdir(self.folder, 0o700)
        self.size = 0
        #: Why it has fewer items than it should.
        self.stopped = None
        #: When its daemon ended by itself, and how.
        self.crashes = []
        self.empty = 0

    def start(self):
        pass

    def fill(self, size, seconds):
        """Adds items up to `size` for at most that time, and keeps how many there are."""
        raise NotImplementedError

    def revive(self):
        """After a failure: makes the store usable again, if its daemon has ended."""

    def daemons(self):
        """Processes whose memory counts, besides the client."""
        return []

    def bytes_on_disk(self):
        """What the file system has allocated."""
        total = 0
        for folder, _, files in os.walk(self.folder):
            total += sum(os.lstat(os.path.join(folder, file)).st_blocks * 512 for file in files)
        return total


class FilledByLines(Store):
    """A store that is filled by a contender's own `fill`."""

    def __init__(self, name, home, version, arguments):
        super().__init__(name, home, version)
        self.arguments = [argument.replace("STORE", self.folder) for argument in arguments]

    def fill(self, size, seconds):
        filler = open_lines(self.arguments, self.environment)
        start = time.monotonic()
        try:
            words = ask(filler, f"fill {self.size} {size} {seconds}", seconds)
        except TimeoutError:
            raise Failure(f"one addition took more than {PATIENCE} s") from None
        finally:
            end(filler)
        self.size = int(words[2])
        if self.size < size:
            self.stopped = " ".join(words[3:]) or f"filling stopped after {time.monotonic() - start:.0f} s"


class VaultStore(FilledByLines):
    filling = "transactions of 1,000 items"

    def __init__(self, home, version, program):
        vault, key = f"{home.folder}/store/vault", f"{home.folder}/key/device.key"
        super().__init__("swift-keychain", home, version, [program, "--peer", vault, key])
        self.environment.update(KEYCHAIN_VAULT=vault, KEYCHAIN_DEVICE_KEY=key, KEYCHAIN_ANCHORS="file")


class SQLiteStore(FilledByLines):
    filling = "transactions of 1,000 items"


class KernelStore(FilledByLines):
    durability = "none: the kernel's memory, gone with the last process of the session"
    has_files = False

    def start(self):
        if not self.home.session.has_keyring:
            raise Missing("the kernel gives this process no session keyring")


class PasswordStore(Store):
    """The folder of pass, which the `gopass` of Debian 12 uses too."""

    filling = "copies of one file that gpg encrypted, since each file stands for itself"

    def __init__(self, home, version):
        super().__init__("pass", home, version)
        editor = f"{home.folder}/editor"
        with open(editor, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nexec cat >\"$1\"\n")
        os.chmod(editor, 0o700)
        self.environment.update(PASSWORD_STORE_DIR=self.folder, EDITOR=editor)

    def start(self):
        user = "peers@example.com"
        self.run("gpg", "--batch", "--pinentry-mode", "loopback", "--passphrase", "", "--quick-gen-key", user, "default",
                 "default", "never")
        self.home.session.at_end.append(self.end_agent)
        self.sealed = self.run("gpg", "--batch", "--quiet", "--encrypt", "--recipient", user, standard_input=new_secret().encode())
        with open(f"{self.folder}/.gpg-id", "w", encoding="utf-8") as file:
            file.write(user + "\n")

    def run(self, *arguments, standard_input=b""):
        try:
            return subprocess.run(
                arguments, env=self.environment, input=standard_input, capture_output=True, timeout=PATIENCE, check=True,
                start_new_session=True).stdout
        except (OSError, subprocess.SubprocessError) as error:
            words = (getattr(error, "stderr", b"") or b"").decode(errors="replace").strip().splitlines()
            raise Missing(words[-1] if words else str(error)) from None

    def agent(self):
        words = self.run("gpg-connect-agent", "--no-autostart", "getinfo pid", "/bye").decode().split()
        return int(words[1]) if words[:1] == ["D"] else None

    def end_agent(self):
        try:
            pid = self.agent()
            if pid:
                os.kill(pid, 15)
            # The agent of a user with a runtime folder has its sockets there.
            self.run("gpgconf", "--remove-socketdir")
        except (Missing, OSError):
            pass

    def daemons(self):
        pid = self.agent()
        return [pid] if pid else []

    def fill(self, size, seconds):
        end_of_time = time.monotonic() + seconds
        while self.size < size and time.monotonic() < end_of_time:
            folder = f"{self.folder}/{service(self.size)}"
            os.makedirs(folder, mode=0o700, exist_ok=True)
            with open(f"{folder}/{account(self.size)}.gpg", "wb") as file:
                file.write(self.sealed)
            self.size += 1
        # The `gopass` of Debian 12 makes no folders, and `pass` removes empty ones.
        for index in (self.size, self.size + ITEMS_PER_SERVICE):
            folder = f"{self.folder}/{service(index)}"
            os.makedirs(folder, mode=0o700, exist_ok=True)
            with open(f"{folder}/.keep", "w", encoding="ascii"):
                pass
        if self.size < size:
            self.stopped = f"filling stopped after {seconds} s"
