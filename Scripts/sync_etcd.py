# SPDX-License-Identifier: Apache-2.0
# An etcd of three nodes, on the loopback interface and in folders of its own, that the machines exchange over. For check-sync.py.

import http.client
import json
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from sync_machines import Failed, PATH, kill

CONTROL = {"PATH": PATH, "ETCDCTL_API": "3"}
# Nodes on this computer are asked directly, also where a proxy is configured.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class PortTaken(Failed):
    """Another process has taken a port since it was found to be free."""


class Node:
    """One node. Its data folder is another one after each restored snapshot."""

    def __init__(self, root, name, client, peer):
        self.root, self.name, self.data, self.process = root, name, root / f"{name}-1", None
        self.url, self.peer = f"http://127.0.0.1:{client}", f"http://127.0.0.1:{peer}"

    def start(self, cluster, token):
        command = ["etcd", "--name", self.name, "--data-dir", str(self.data), "--log-level", "error",
                   "--listen-client-urls", self.url, "--advertise-client-urls", self.url,
                   "--listen-peer-urls", self.peer, "--initial-advertise-peer-urls", self.peer,
                   "--initial-cluster", cluster, "--initial-cluster-token", token]
        with open(self.root / f"{self.name}.log", "ab") as log:
            self.process = subprocess.Popen(command, env=CONTROL, cwd=self.root, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=subprocess.STDOUT, start_new_session=True)

    def kill(self):
        if self.process:
            kill(self.process)
            self.process.wait()

    def ask(self, question, **values):
        """A call of the JSON gateway."""
        request = urllib.request.Request(f"{self.url}/v3/{question}", data=json.dumps(values).encode())
        with OPENER.open(request, timeout=2) as answer:
            return json.load(answer)

    def revision(self):
        """That of the newest change; the range of all keys needs a majority of the nodes."""
        answer = self.ask("kv/range", key="AA==", range_end="AA==", limit="1", keys_only=True)
        return int(answer["header"]["revision"])

    def leads(self):
        status = self.ask("maintenance/status")
        return status.get("leader", "0") == status["header"]["member_id"]


class Etcd:
    """The nodes, and an administrator who compacts the history once a second."""
    title = "etcd, three nodes"

    def __init__(self, root):
        self.root = Path(root, "etcd")
        self.nodes, self.restored, self.saved, self.number = [], 0, 0, 0
        self.compactions, self.newest, self.arrived = 0, 0, 0
        self.ends, self.thread = threading.Event(), None

    @classmethod
    def lack(cls, tool):
        """Why it cannot be tried; None if it can."""
        missing = [name for name in ("etcd", "etcdctl") if not shutil.which(name)]
        if missing:
            return f"{' and '.join(missing)} not installed (Debian: etcd-server, etcd-client)"
        with tempfile.TemporaryDirectory(prefix="keychain-etcd-") as home:
            env = {"HOME": home, "PATH": PATH, "KEYCHAIN_ANCHORS": "file"}
            run = subprocess.run([tool, "sync", "init", "--etcd", "http://127.0.0.1:1"], env=env, cwd=home,
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        # Unavailable: it has tried to reach the address. Unsupported: it says how to build it.
        return None if run.returncode == 13 else f"'{tool}' cannot use it: {run.stderr.strip()}"

    def folder(self, name):
        return None

    def place(self, machine):
        return ["--etcd", ",".join(node.url for node in self.nodes)]

    def last_arrival(self, machines):
        return self.arrived

    # MARK: - The cluster

    def start(self, machines):
        for _ in range(3):
            try:
                self.start_over_free_ports()
                break
            except PortTaken:
                for node in self.nodes:
                    node.kill()
                shutil.rmtree(self.root)
        else:
            self.start_over_free_ports()
        self.thread = threading.Thread(target=self.administer, daemon=True)
        self.thread.start()

    def start_over_free_ports(self):
        self.root.mkdir()
        ports = free_ports(6)
        self.nodes = [Node(self.root, f"n{number + 1}", *ports[2 * number:2 * number + 2]) for number in range(3)]
        self.start_nodes()

    @property
    def cluster(self):
        return ",".join(f"{node.name}={node.peer}" for node in self.nodes)

    def start_nodes(self):
        for node in self.nodes:
            node.start(self.cluster, f"keychain-{self.restored}")
        for node in self.nodes:
            self.wait_for(node)

    def wait_for(self, node):
        """Until it answers and has a leader."""
        def answers():
            if node.process.poll() is not None:
                log = self.root / f"{node.name}.log"
                taken = "address already in use" in log.read_text(errors="replace")
                raise (PortTaken if taken else Failed)(f"etcd's node {node.name} ended; see {log}")
            return node.revision()
        self.until(f"etcd's node {node.name} is ready", answers)

    def until(self, what, question):
        """The first answer that counts; nodes may be killed or stopped meanwhile."""
        end = time.monotonic() + 600
        while time.monotonic() < end:
            answer = attempt(question)
            if answer:
                return answer
            time.sleep(0.1)
        raise Failed(f"waited in vain: {what}")

    def leader(self, *others):
        """The node that leads, of all or of some."""
        def find():
            return next((node for node in others or self.nodes if attempt(node.leads)), None)
        return self.until("etcd has a leader", find)

    def administer(self):
        """Compacts once a second, and notes when there was something new."""
        node, due = self.nodes[0], time.monotonic() + 1
        while not self.ends.wait(0.1):
            revision = attempt(node.revision)
            if not revision:
                node = self.nodes[(self.nodes.index(node) + 1) % 3]
                continue
            if revision != self.newest:
                self.newest, self.arrived = revision, time.time()
            if time.monotonic() >= due:
                due += 1
                # What is compacted already is refused.
                self.compactions += bool(attempt(lambda: node.ask("kv/compaction", revision=str(revision))))

    # MARK: - Faults

    def faults(self, machine, write):
        """While nodes are stopped, and between a snapshot and its restoration, `write` saves items on the machines."""
        return [("an etcd snapshot saved, then the leader killed and started again", self.save_and_kill),
                ("etcd's leader stopped for 3 s", lambda: self.pause(self.leader(), write)),
                ("another node of etcd stopped for 3 s", lambda: self.pause(self.follower(), write)),
                ("the etcd snapshot restored into a new cluster", lambda: self.restore(write))]

    def save_and_kill(self):
        node = self.leader()
        self.number += 1
        # On a busy machine an answer takes longer than the 2 s and 5 s that etcdctl waits otherwise.
        self.control("--endpoints", node.url, "--dial-timeout=60s", "--command-timeout=120s", "snapshot", "save",
                     str(self.snapshot))
        self.saved = self.until(f"etcd's node {node.name} answers", node.revision)
        node.kill()
        self.leader(*(other for other in self.nodes if other is not node))
        node.start(self.cluster, f"keychain-{self.restored}")
        self.wait_for(node)

    @property
    def snapshot(self):
        return self.root / f"snapshot-{self.number}.db"

    def follower(self):
        leader = self.leader()
        return next(node for node in self.nodes if node is not leader)

    def pause(self, node, write):
        kill(node.process, signal.SIGSTOP)
        end = time.monotonic() + 3
        while time.monotonic() < end:
            write()
            time.sleep(0.2)
        kill(node.process, signal.SIGCONT)
        self.wait_for(node)

    def restore(self, write):
        """What was written since the snapshot is gone from all nodes."""
        def is_newer():
            write()
            time.sleep(0.2)
            return self.nodes[0].revision() > self.saved
        self.until("something is written after the snapshot", is_newer)
        for node in self.nodes:
            node.kill()
        self.restored += 1
        for node in self.nodes:
            node.data = self.root / f"{node.name}-{self.restored + 1}"
            self.control("snapshot", "restore", str(self.snapshot), "--data-dir", str(node.data), "--name", node.name,
                         "--initial-cluster", self.cluster, "--initial-cluster-token", f"keychain-{self.restored}",
                         "--initial-advertise-peer-urls", node.peer)
        self.start_nodes()

    def control(self, *arguments):
        # Newer versions restore with another program.
        program = "etcdutl" if "restore" in arguments and shutil.which("etcdutl") else "etcdctl"
        run = subprocess.run([program, *arguments], env=CONTROL, cwd=self.root, stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=600)
        if run.returncode:
            raise Failed(f"{program} {' '.join(arguments)}: {run.stderr.strip() or run.stdout.strip()}")

    # MARK: - Afterwards

    def check(self):
        """Whether everything has happened that the result says."""
        if self.compactions == 0:
            raise Failed("etcd was never compacted")
        return f"etcd was compacted {self.compactions} times and restored {self.restored} times"

    def stop(self):
        self.ends.set()
        if self.thread:
            self.thread.join(60)
        for node in self.nodes:
            node.kill()


def attempt(question):
    """None if a node does not answer, or refuses."""
    try:
        return question()
    except (OSError, http.client.HTTPException, ValueError):
        return None


def free_ports(count):
    """All at once, so that they are different ones."""
    listeners = [socket.socket() for _ in range(count)]
    try:
        for listener in listeners:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in listeners]
    finally:
        for listener in listeners:
            listener.close()
