# SPDX-License-Identifier: Apache-2.0
# What carries the objects of the machines: one folder for all, git, Syncthing, etcd. For check-sync.py.

import http.client
import json
import re
import shutil
import signal
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

from sync_etcd import Etcd, free_ports
from sync_machines import Failed, kill


class Folders:
    """What all carriers of folders have in common."""
    missing = None

    @classmethod
    def lack(cls, tool):
        """Why it cannot be tried; None if it can."""
        return cls.missing

    def place(self, machine):
        """How the tool is told where the machine exchanges."""
        return ["--folder", str(machine.folder)]

    def last_arrival(self, machines):
        """When the carrier made the newest file in any of the folders."""
        times = [0]
        for folder in {machine.folder for machine in machines}:
            for file in folder.rglob("*.skc"):
                try:
                    times.append(file.stat().st_ctime)
                except FileNotFoundError:
                    pass
        return max(times)

    def check(self):
        """What else the results should say."""
        return None


class Folder(Folders):
    """One folder that all machines use directly."""
    title = "one folder"

    def __init__(self, root):
        self.root = Path(root)

    def folder(self, name):
        return self.root / "shared"

    def start(self, machines):
        pass

    def faults(self, machine, write):
        return []

    def stop(self):
        pass


class Git(Folders):
    """Each machine commits its folder, pulls and pushes, again and again, as Docs/Sync.md says."""
    title = "git"
    missing = None if shutil.which("git") else "git is not installed"
    STEPS = ("git add -A && { git diff --cached --quiet || git commit -qm sync; }",
             "git pull -q --no-rebase --no-edit -X theirs", "git push -q origin HEAD")

    def __init__(self, root):
        self.root, self.children, self.ends, self.threads = Path(root), {}, threading.Event(), []
        self.starting = threading.Lock()

    def folder(self, name):
        return self.root / f"{name}-folder"

    def start(self, machines):
        origin = self.root / "origin.git"
        for machine in machines:
            machine.env |= {"GIT_CONFIG_NOSYSTEM": "1"}
            (machine.home / ".gitconfig").write_text(
                "[user]\nname = sync\nemail = sync@example.com\n[init]\ndefaultBranch = main\n"
                "[merge]\nrenames = false\n[gc]\nauto = 0\n[commit]\ngpgSign = false\n")
        first = machines[0]
        self.shell(first, f"git init -q --bare '{origin}' && cd '{first.folder}' && git init -q "
                          f"&& git remote add origin '{origin}' && echo '* -text' >.gitattributes && git add -A "
                          "&& git commit -qm first && git push -qu origin HEAD")
        for machine in machines[1:]:
            machine.folder.rmdir()
            self.shell(machine, f"git clone -q '{origin}' '{machine.folder}'")
        for machine in machines:
            self.threads.append(threading.Thread(target=self.carry, args=(machine,), daemon=True))
            self.threads[-1].start()

    def shell(self, machine, script):
        with open(machine.home / "git.log", "ab") as log:
            with self.starting:
                process = machine.start(["/bin/sh", "-c", script], log)
                self.children[machine.name] = process
            status = process.wait()
        self.children[machine.name] = None
        return status == 0

    def carry(self, machine):
        there = f"cd '{machine.folder}' && "
        while not self.ends.wait(0.3):
            for step in self.STEPS:
                if not self.shell(machine, there + step):
                    break

    def kill_git(self, machine):
        """Somewhere between its beginning and its end. What it leaves locked is unlocked, as git says to do."""
        for _ in range(20_000):
            process = self.children.get(machine.name)
            if process and process.poll() is None:
                break
            time.sleep(0.001)
        else:
            raise Failed(f"{machine.name}: no git was running for 20 s")
        kill(process)
        process.wait()
        for lock in (machine.folder / ".git").rglob("*.lock"):
            lock.unlink(missing_ok=True)
        self.unlock_origin()

    def unlock_origin(self):
        """A push that was killed may have left a lock there. While another git runs, a lock may be its own."""
        with self.starting:
            for process in list(self.children.values()):
                if process:
                    process.wait()
            for lock in (self.root / "origin.git").rglob("*.lock"):
                lock.unlink(missing_ok=True)

    def faults(self, machine, write):
        return [("git killed", lambda: self.kill_git(machine))] * 3

    def stop(self):
        self.ends.set()
        for thread in self.threads:
            thread.join(60)


class Syncthing(Folders):
    """Each machine runs a Syncthing of its own, on the loopback interface: no discovery, no relays."""
    title = "Syncthing"
    missing = None if shutil.which("syncthing") else "syncthing is not installed"

    def __init__(self, root):
        self.root, self.running, self.machines = Path(root), {}, []
        self.keys, self.web = {}, {}

    def folder(self, name):
        return self.root / f"{name}-folder"

    def start(self, machines):
        self.machines = machines
        names = [machine.name for machine in machines]
        free = free_ports(2 * len(names))
        ids, ports = {}, dict(zip(names, free))
        self.web = dict(zip(names, free[len(names):]))
        for machine in machines:
            machine.env |= {"STNOUPGRADE": "1", "STNODEFAULTFOLDER": "1"}
            home = str(machine.home / "syncthing")
            self.call(machine, "generate", "--home", home, "--no-default-folder")
            ids[machine.name] = self.call(machine, "--home", home, "--device-id").strip()
        for machine in machines:
            self.configure(machine, ids, ports)
            self.serve(machine)
        self.wait_for_connections(len(machines) - 1)

    def call(self, machine, *arguments):
        return subprocess.run(["syncthing", *arguments], env=machine.env, check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True).stdout

    def configure(self, machine, ids, ports):
        file = machine.home / "syncthing/config.xml"
        text = file.read_text()
        self.keys[machine.name] = re.search("<apikey>(.*?)</apikey>", text)[1]
        members = "".join(f'<device id="{device}"></device>' for device in ids.values())
        folder = (f'<folder id="keychain" label="keychain" path="{machine.folder}" type="sendreceive" rescanIntervalS="3600" '
                  f'fsWatcherEnabled="true" fsWatcherDelayS="1">{members}</folder>')
        others = "".join(f'<device id="{device}" name="{name}" compression="metadata"><address>tcp://127.0.0.1:{ports[name]}'
                         "</address></device>" for name, device in ids.items() if name != machine.name)
        text = text.replace("<device ", others + "<device ", 1).replace("<gui ", folder + "<gui ", 1)
        text = re.sub(r"<address>127.0.0.1:\d+</address>", f"<address>127.0.0.1:{self.web[machine.name]}</address>", text)
        settings = {"globalAnnounceEnabled": "false", "localAnnounceEnabled": "false", "relaysEnabled": "false",
                    # Otherwise the process that does the work leaves its group, so that signals only reach the one that watches it.
                    "setLowPriority": "false",
                    "natEnabled": "false", "urAccepted": "-1", "crashReportingEnabled": "false", "startBrowser": "false",
                    "autoUpgradeIntervalH": "0", "reconnectionIntervalS": "1",
                    "listenAddress": f"tcp://127.0.0.1:{ports[machine.name]}"}
        for name, value in settings.items():
            text = re.sub(f"<{name}>.*?</{name}>", f"<{name}>{value}</{name}>", text)
        file.write_text(text)

    def serve(self, machine):
        with open(machine.home / "syncthing.log", "ab") as log:
            self.running[machine.name] = machine.start(
                ["syncthing", "serve", "--no-browser", "--no-restart", "--no-upgrade", "--home",
                 str(machine.home / "syncthing")], log)

    def ask(self, machine, question):
        request = urllib.request.Request(f"http://127.0.0.1:{self.web[machine.name]}/rest/{question}",
                                         headers={"X-API-Key": self.keys[machine.name]})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def wait_for_connections(self, count):
        end = time.monotonic() + 600
        while time.monotonic() < end:
            try:
                if all(sum(there["connected"] for there in self.ask(machine, "system/connections")["connections"].values())
                       == count for machine in self.machines):
                    return
            except (OSError, http.client.HTTPException, ValueError, KeyError):
                pass
            time.sleep(0.2)
        raise Failed("the Syncthings did not find each other within ten minutes")

    def restart(self, machine):
        kill(self.running[machine.name])
        self.running[machine.name].wait()
        self.serve(machine)

    def pause(self, machine, seconds):
        kill(self.running[machine.name], signal.SIGSTOP)
        time.sleep(seconds)
        kill(self.running[machine.name], signal.SIGCONT)

    def faults(self, machine, write):
        return [("Syncthing killed and started again", lambda: self.restart(machine)),
                ("Syncthing stopped for 3 s", lambda: self.pause(machine, 3))]

    def stop(self):
        for process in self.running.values():
            kill(process, signal.SIGTERM)
        for process in self.running.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                kill(process)


CARRIERS = {"folder": Folder, "git": Git, "syncthing": Syncthing, "etcd": Etcd}
