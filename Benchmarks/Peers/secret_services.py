# SPDX-License-Identifier: Apache-2.0
"""The three that serve the Secret Service, each on a bus of its own, and opened without a person."""

import base64
import os
import re
import shutil
import socket
import subprocess
import time
import uuid

from clients import Failure
from names import account, new_secret, service
from session import Missing, end, random_password
from stores import FilledByLines


class SecretService(FilledByLines):
    """Filled through libsecret, unless it has a faster way."""

    daemon = None

    def start(self):
        self.home.start_bus()
        self.open()
        self.home.wait_until(self.is_serving, 60, f"{self.name} does not serve the Secret Service")

    def open(self):
        """Prepares the store and starts the daemon for the first time."""
        raise NotImplementedError

    def serve(self):
        """Starts the daemon on what is stored."""
        raise NotImplementedError

    def revive(self):
        """Starts a daemon again that has ended by itself."""
        code = self.daemon.poll()
        if code is None:
            return
        self.crashes.append(f"after {self.size:,} items with " + (f"signal {-code}" if code < 0 else f"code {code}"))
        self.serve()
        try:
            self.home.wait_until(self.is_serving, 60, f"{self.name} does not serve the Secret Service again")
        except Missing as error:
            raise Failure(str(error)) from None

    def is_serving(self):
        if self.daemon.poll() is not None:
            raise Missing(f"{self.name} ended with {self.daemon.returncode}{self.home.last_words()}")
        return self.home.serves_secrets()

    def daemons(self):
        return [self.daemon.pid, self.home.bus.pid]


class GnomeKeyring(SecretService):
    def open(self):
        self.folder, self.password = self.environment["XDG_DATA_HOME"], random_password()
        self.serve()

    def serve(self):
        self.daemon = self.home.start(
            ["gnome-keyring-daemon", "--unlock", "--components=secrets", "--foreground"], stdin=subprocess.PIPE)
        self.daemon.stdin.write(self.password)
        self.daemon.stdin.close()


class KeePassXC(SecretService):
    filling = "an XML file that `keepassxc-cli` imports, after which KeePassXC is started again"

    def open(self):
        folder = self.environment["XDG_CONFIG_HOME"] + "/keepassxc"
        os.makedirs(folder)
        with open(folder + "/keepassxc.ini", "w", encoding="utf-8") as file:
            file.write("[General]\nConfigVersion=2\nUpdateCheckMessageShown=true\n[GUI]\nCheckForUpdates=false\n"
                       "[FdoSecrets]\nEnabled=true\nShowNotification=false\nConfirmAccessItem=false\n"
                       "ConfirmDeleteItem=false\n")
        self.key, self.database = f"{self.home.folder}/key", f"{self.folder}/items.kdbx"
        self.template = self.make_template()
        self.make_database(0, 60)
        self.serve()

    def tool(self, *arguments, seconds=60, **options):
        try:
            return subprocess.run(
                ["keepassxc-cli", *arguments], env=self.environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                text=True, timeout=seconds, check=True, start_new_session=True, **options)
        except subprocess.CalledProcessError as error:
            raise Missing(f"keepassxc-cli {arguments[0]}: {error.stderr.strip()[-160:]}") from None

    def make_template(self):
        """An empty database as XML, with its group given to the Secret Service."""
        empty = f"{self.home.folder}/empty.kdbx"
        self.tool("db-create", "--set-key-file", self.key, empty, stdout=subprocess.DEVNULL)
        xml = self.tool("export", "--no-password", "-k", self.key, "--format", "xml", empty, stdout=subprocess.PIPE).stdout
        group = uuid.UUID(bytes=base64.b64decode(re.search("<UUID>(.*?)</UUID>", xml)[1]))
        exposed = f"<CustomData><Item><Key>FDO_SECRETS_EXPOSED_GROUP</Key><Value>{{{group}}}</Value></Item></CustomData>"
        return xml.replace("</Meta>", exposed + "</Meta>")

    def make_database(self, size, seconds):
        before, after = re.split(r"(?=</Group>\s*<DeletedObjects)", self.template)
        path = f"{self.home.folder}/items.xml"
        with open(path, "w", encoding="utf-8") as file:
            file.write(before)
            file.writelines(map(entry, range(size)))
            file.write(after)
        new = f"{self.home.folder}/new.kdbx"
        try:
            self.tool("import", "--set-key-file", self.key, path, new, seconds=seconds, stdout=subprocess.DEVNULL)
        finally:
            os.unlink(path)
        shutil.move(new, self.database)

    def serve(self):
        self.daemon = self.home.start(
            ["keepassxc", "--keyfile", self.key, self.database], {**self.environment, "QT_QPA_PLATFORM": "offscreen"})

    def fill(self, size, seconds):
        start = time.monotonic()
        end(self.daemon)
        try:
            self.make_database(size, seconds)
            self.size = size
        except subprocess.TimeoutExpired:
            self.stopped = f"the import of {size:,} items took more than {seconds} s"
        self.serve()
        self.home.wait_until(self.is_serving, seconds + 60 - (time.monotonic() - start),
                             f"KeePassXC did not open {self.size:,} items")

    def is_serving(self):
        """It takes the name before it has opened the database, and would then ask a person to open it."""
        return super().is_serving() and "boolean false" in self.home.call(
            "org.freedesktop.secrets", "/org/freedesktop/secrets/collection/items", "org.freedesktop.DBus.Properties.Get",
            "string:org.freedesktop.Secret.Collection", "string:Locked")


def entry(index):
    texts = {"Title": account(index), "service": service(index), "username": account(index),
             "application": "Python keyring library"}
    strings = "".join(f"<String><Key>{key}</Key><Value>{value}</Value></String>" for key, value in texts.items())
    number = base64.b64encode(uuid.uuid4().bytes).decode()
    return (f"<Entry><UUID>{number}</UUID>{strings}<String><Key>Password</Key>"
            f"<Value ProtectInMemory=\"True\">{new_secret()}</Value></String></Entry>\n")


class KWallet(SecretService):
    """Opened as PAM opens it at a login: with the wallet's key on a pipe."""

    def open(self):
        program = next(filter(shutil.which, ("kwalletd5", "ksecretd", "kwalletd6")), None)
        if program is None:
            raise Missing("neither kwalletd5 nor ksecretd is there")
        self.program, self.key = shutil.which(program), os.urandom(56)
        self.folder = self.environment["XDG_DATA_HOME"]
        with open(self.environment["XDG_CONFIG_HOME"] + "/kwalletrc", "w", encoding="utf-8") as file:
            file.write("[Wallet]\nEnabled=true\nFirst Use=false\nUse One Wallet=true\nDefault Wallet=kdewallet\n"
                       "Prompt on Open=false\nLeave Open=true\nClose When Idle=false\nClose on Screensaver=false\n"
                       "Launch Manager=false\n[org.freedesktop.secrets]\napiEnabled=true\n")
        # The first start makes the wallet; only a wallet that was there at the start is a collection.
        self.serve()
        wallets = self.folder + "/kwalletd"
        is_made = lambda: os.path.isdir(wallets) and any(name.endswith(".kwl") for name in os.listdir(wallets))
        self.home.wait_until(is_made, 20, "KWallet made no wallet")
        self.home.wait_until(self.home.serves_secrets, 20, "KWallet does not serve the Secret Service")
        end(self.daemon)
        self.serve()

    def serve(self):
        path = self.environment["XDG_RUNTIME_DIR"] + "/kwallet.socket"
        if os.path.exists(path):
            os.unlink(path)
        environment = {**self.environment, "QT_QPA_PLATFORM": "offscreen", "PAM_KWALLET5_LOGIN": path}
        reading, writing = os.pipe()
        with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as connection:
            listening.bind(path)
            listening.listen(1)
            self.daemon = self.home.start(
                [self.program, "--pam-login", str(reading), str(listening.fileno())], environment,
                pass_fds=(reading, listening.fileno()))
            os.write(writing, self.key)
            connection.connect(path)
            connection.sendall("".join(f"{name}={value}\n" for name, value in environment.items()).encode())
        os.close(reading)
        os.close(writing)
