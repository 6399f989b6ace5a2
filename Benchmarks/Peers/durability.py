# SPDX-License-Identifier: Apache-2.0
"""What an addition waits for: the syncs and renames that strace sees before and after the answer."""

import os
import re
import shutil
import signal
import subprocess
import time

from clients import CommandClient, Failure

CALLS = "fsync,fdatasync,sync_file_range,msync,rename,renameat,renameat2"
LINE = re.compile(r"^\d+\s+(\d+\.\d+) (\w+)\((?:\d+<([^>]*)>)?")
# KWallet writes its wallet some seconds after a change.
DAEMON_SECONDS, OWN_SECONDS = 7, 0.3


def observe(client, say):
    """Words for the table."""
    if client.store.durability:
        return client.store.durability
    if not shutil.which("strace"):
        return "not observed: strace is not installed"
    log = f"{client.store.home.folder}/strace"
    try:
        answered = trace_command(client, log) if isinstance(client, CommandClient) else trace_call(client, log)
        with open(log, encoding="utf-8", errors="replace") as file:
            return in_words(file.readlines(), answered)
    except (Failure, OSError, subprocess.SubprocessError) as error:
        say(f"  {client.name}: {error}")
        return f"not observed: {error}"
    finally:
        if os.path.exists(log):
            os.unlink(log)


def trace_command(client, log):
    arguments, standard_input = client.words("add", client.store.size)
    subprocess.run(["strace", *options(log), *arguments], input=standard_input, env=client.store.environment, timeout=60,
                   capture_output=True, check=True, start_new_session=True)
    answered = time.time()
    client.call("delete", client.store.size)
    return answered


def trace_call(client, log):
    # The first write of a process, or after a deletion, may make files that the next ones find.
    client.call("add", client.store.size)
    pids = client.pids() + client.store.daemons()
    tracer = subprocess.Popen(["strace", *options(log), *(f"--attach={pid}" for pid in pids)], stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, start_new_session=True)
    try:
        # One line for each process, or the reason why not.
        for _ in pids:
            words = tracer.stderr.readline().decode(errors="replace").strip()
            if "attached" not in words:
                raise Failure(words)
        client.call("add", client.store.size + 1)
        answered = time.time()
        time.sleep(DAEMON_SECONDS if client.store.daemons() else OWN_SECONDS)
    finally:
        tracer.send_signal(signal.SIGINT)
        tracer.communicate(timeout=20)
    client.call("delete", client.store.size)
    client.call("delete", client.store.size + 1)
    return answered


def options(log):
    return ["--follow-forks", "--decode-fds=path", "--absolute-timestamps=format:unix,precision:us", f"--trace={CALLS}",
            f"--output={log}"]


def in_words(lines, answered):
    counts = {}
    for line in lines:
        found = LINE.match(line)
        if not found:
            continue  # a call that was interrupted, resumed
        name = "rename" if "rename" in found[2] else "sync of a folder" if os.path.isdir(found[3] or "") else "sync of a file"
        key = ("before" if float(found[1]) < answered else "after", name)
        counts[key] = counts.get(key, 0) + 1
    parts = [in_one(counts, "before"), in_one(counts, "after")]
    return f"{parts[0] or 'nothing'} before the answer" + (f"; {parts[1]} after it" if parts[1] else "")


def in_one(counts, when):
    words = [f"{count} × {name}" for (moment, name), count in counts.items() if moment == when]
    return ", ".join(words)
