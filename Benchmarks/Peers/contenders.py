# SPDX-License-Identifier: Apache-2.0
"""Who is measured: the stores, their clients, and why some of them are missing."""

import os
import shutil
import subprocess

import commands
import secret_services
import stores
from clients import CommandClient, LineClient
from session import Missing

IN_C, AS_COMMAND, IN_PYTHON = "C", "command", "Python"


class Contenders:
    """Makes the stores and clients. A peer that cannot be used becomes a line in `missing`."""

    def __init__(self, session, programs):
        self.session, self.programs = session, programs
        self.stores, self.clients, self.missing = [], [], not_installed(programs)

    def make(self):
        self.make_ours()
        self.make_services()
        self.make_password_stores()
        self.make_floors()

    def make_ours(self):
        benchmarks, tool = f"{self.programs['release']}/keychain-benchmarks", f"{self.programs['release']}/keychainctl"
        store = stores.VaultStore(self.session.home("vault"), output(tool, "--version"), benchmarks)
        self.stores.append(store)
        self.add(LineClient("KeychainKit", store, "Swift", store.arguments, store.version,
                            operations=("read", "again", "add", "update", "delete", "list", "fresh")))
        self.add(CommandClient("keychainctl", store, AS_COMMAND, commands.keychainctl(tool), store.version))
        for client in self.clients:
            client.is_ours = True

    def make_services(self):
        library = version("libsecret-1-0")
        kinds = {"GNOME Keyring": (secret_services.GnomeKeyring, "gnome-keyring", "gnome-keyring"),
                 "KeePassXC": (secret_services.KeePassXC, "keepassxc", "keepassxc"),
                 "KWallet": (secret_services.KWallet, "kwallet", "libkf5wallet-bin")}
        for number, (name, (kind, tag, package)) in enumerate(kinds.items()):
            if tag in self.missing:
                continue
            # KeePassXC 2.7 asks a person before it replaces an item.
            libsecret = [f"{self.programs['built']}/libsecret", "find-and-set" if tag == "keepassxc" else "store"]
            store = self.start(kind(name, self.session.home(f"s{number}"), version(package), libsecret), name)
            if store:
                self.in_c(f"libsecret, {name}", "libsecret", store, libsecret, f"libsecret {library}, {name} {store.version}")
        gnome = next((store for store in self.stores if store.name == "GNOME Keyring"), None)
        if gnome and "secret-tool" not in self.missing:
            self.add(CommandClient("secret-tool, GNOME Keyring", gnome, AS_COMMAND, commands.secret_tool,
                                   f"{version('libsecret-tools')}, GNOME Keyring {gnome.version}"))
        if gnome and "Python keyring" not in self.missing:
            program = [self.programs["python"], f"{os.path.dirname(__file__)}/python_keyring.py"]
            self.add(LineClient("Python keyring, GNOME Keyring", gnome, IN_PYTHON, program, self.python_versions()))

    def python_versions(self):
        code = ("import importlib.metadata as m, sys; print(*(f'{n} {m.version(n)},' for n in ('keyring', 'SecretStorage')), "
                "f'Python {sys.version.split()[0]}')")
        return output(self.programs["python"], "-c", code)

    def make_password_stores(self):
        tags = [tag for tag in ("pass", "gopass") if tag not in self.missing]
        store = self.start(stores.PasswordStore(self.session.home("pass"), version("pass")), "pass") if tags else None
        for tag in tags if store else []:
            self.add(CommandClient(tag, store, AS_COMMAND, commands.password_store(tag), f"{version(tag)}, GnuPG {version('gpg')}"))

    def make_floors(self):
        built = self.programs["built"]
        kernel = stores.KernelStore("kernel keyring", self.session.home("kernel"), os.uname().release, [f"{built}/keyring", "-"])
        if self.start(kernel, "kernel keyring"):
            self.in_c("kernel keyring", "keyring", kernel, kernel.arguments, f"Linux {kernel.version}")
        openssl = f"OpenSSL {version('libssl3')}"
        for name, program in (("raw SQLite", "sqlite"), ("raw SQLite, AES-GCM", "sqlite-sealed")):
            store = stores.SQLiteStore(name, self.session.home(program), version("libsqlite3-0"), [f"{built}/{program}", "STORE"])
            self.stores.append(store)
            used = f"SQLite {store.version}" + (f", {openssl}" if program == "sqlite-sealed" else "")
            self.in_c(name, program, store, store.arguments, used)

    def in_c(self, name, program, store, arguments, used):
        """A client in C, if its program could be compiled."""
        if os.path.exists(f"{self.programs['built']}/{program}"):
            self.add(LineClient(name, store, IN_C, arguments, used))
        else:
            self.missing[name] = "its program could not be compiled; the reason is in the output of the command"

    def start(self, store, name):
        try:
            store.start()
            store.empty = store.bytes_on_disk()
        except (Missing, OSError, subprocess.SubprocessError) as error:
            self.missing[name] = str(error)
            return None
        self.stores.append(store)
        return store

    def add(self, client):
        self.clients.append(client)


def not_installed(programs):
    """What the script has written: a peer and the reason, in each line."""
    with open(programs["missing"], encoding="utf-8") as file:
        return dict(line.rstrip("\n").split("\t", 1) for line in file if "\t" in line)


def output(*arguments):
    try:
        return subprocess.run(arguments, capture_output=True, text=True, timeout=20, check=False).stdout.strip()
    except OSError:
        return ""


def version(package):
    if shutil.which("dpkg-query"):
        return output("dpkg-query", "-W", "-f", "${Version}", package)
    return ""
