# SPDX-License-Identifier: Apache-2.0
"""The two kinds of clients: a process that takes a command a line, and a command that is a process of its own."""

import os
import selectors
import signal
import subprocess
import threading
import time

from names import SECRET_LENGTH
from session import end

# A call that takes longer than this is not waited for.
PATIENCE = 30


class Failure(Exception):
    """A call that failed, with the peer's reason."""


class NoAnswer(Failure):
    """A call that was not waited for any longer."""


class Client:
    """A way to use a store. Times are in nanoseconds; the second one is processor time, where it can be known."""

    #: Whether each call is a process of its own.
    is_command = False

    def __init__(self, name, store, language, version, operations=("read", "add", "update", "delete", "list", "fresh")):
        self.name, self.store, self.language, self.version, self.operations = name, store, language, version, operations
        self.is_ours = False

    def start(self):
        pass

    def stop(self):
        pass

    def pids(self):
        return []


class LineClient(Client):
    """A process that answers lines; see contender.h."""

    def __init__(self, name, store, language, arguments, version, **options):
        super().__init__(name, store, language, version, **options)
        self.arguments = arguments
        self.process = None

    def start(self):
        self.stop()
        self.process = open_lines(self.arguments, self.store.environment)

    def stop(self):
        if self.process:
            end(self.process)
        self.process = None

    def call(self, operation, index):
        if self.process is None:
            self.start()
        return int(self.ask(f"{operation} {index}")[1]), None

    def ask(self, line, seconds=0):
        try:
            return ask(self.process, line, seconds)
        except TimeoutError as error:
            # Its next answer would be the one to this question.
            self.stop()
            raise NoAnswer(str(error)) from None

    def fresh(self, index):
        time_taken, processor, _ = run_command([*self.arguments, str(index)], self.store.environment)
        return time_taken, processor

    def throughput(self, operation, size, seconds, count):
        processes = [open_lines(self.arguments, self.store.environment) for _ in range(count)]
        try:
            for number, process in enumerate(processes):
                write_line(process, f"run {operation} {number * size // count} {size} {seconds}")
            answers = [read_line(process, PATIENCE + seconds) for process in processes]
        except TimeoutError as error:
            raise Failure(str(error)) from None
        finally:
            for process in processes:
                end(process)
        return sum(int(words[2]) for words in answers) / max(int(words[1]) for words in answers) * 1e9

    def pids(self):
        return [self.process.pid] if self.process else []


class CommandClient(Client):
    """A command. `words` gives its arguments and standard input for an operation and an index."""

    is_command = True

    def __init__(self, name, store, language, words, version):
        super().__init__(name, store, language, version)
        self.words = words

    def call(self, operation, index):
        arguments, standard_input = self.words(operation, index)
        time_taken, processor, output = run_command(arguments, self.store.environment, standard_input)
        if operation == "read" and len(output.strip()) != SECRET_LENGTH:
            raise Failure(f"{arguments[0]} wrote {len(output)} bytes")
        if operation == "list" and output.count(b"account-") < 100:
            raise Failure(f"{arguments[0]} listed fewer than 100 items")
        return time_taken, processor

    def fresh(self, index):
        return self.call("read", index)

    def throughput(self, operation, size, seconds, count):
        counts, failures = [0] * count, []
        start = time.monotonic()

        def work(number):
            try:
                while time.monotonic() < start + seconds and not failures:
                    self.call(operation, (number * size // count + counts[number] * 7919) % size)
                    counts[number] += 1
            except Failure as failure:
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        return sum(counts) / (time.monotonic() - start)


def open_lines(arguments, environment):
    process = subprocess.Popen(
        arguments, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        start_new_session=True)
    try:
        read_line(process, PATIENCE, expected="ready")
    except (Failure, TimeoutError) as error:
        end(process)
        raise Failure(str(error)) from None
    return process


def ask(process, line, seconds=0):
    write_line(process, line)
    return read_line(process, PATIENCE + seconds)


def write_line(process, line):
    try:
        process.stdin.write(f"{line}\n".encode())
        process.stdin.flush()
    except OSError:
        raise Failure(f"ended with {process.wait()}") from None


def read_line(process, seconds, expected="ok"):
    """The words of an answer. It is shorter than what a pipe takes at once, and nothing follows it."""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        if not selector.select(seconds):
            raise TimeoutError(f"no answer in {seconds:.0f} s")
    words = process.stdout.readline().decode(errors="replace").split()
    if not words:
        raise Failure(f"ended with {process.wait()}")
    if words[0] != expected:
        raise Failure(" ".join(words[1:]))
    return words


def run_command(arguments, environment, standard_input=b""):
    """Runs a process: its wall time, its processor time, and what it wrote. It has no terminal."""
    reading, writing = os.pipe()
    os.write(writing, standard_input)
    os.close(writing)
    output, errors = os.memfd_create("output"), os.memfd_create("errors")
    actions = [(os.POSIX_SPAWN_DUP2, descriptor, number) for number, descriptor in enumerate((reading, output, errors))]
    try:
        start = time.perf_counter_ns()
        pid = os.posix_spawnp(arguments[0], arguments, environment, file_actions=actions, setsid=True)
        deadlines[pid] = time.monotonic() + PATIENCE
        _, status, usage = os.wait4(pid, 0)
        time_taken = time.perf_counter_ns() - start
        del deadlines[pid]
        if status != 0:
            words = (content(errors) or content(output)).decode(errors="replace").split()
            raise Failure(f"{os.path.basename(arguments[0])} ended with {os.waitstatus_to_exitcode(status)}: "
                          + " ".join(words))
        return time_taken, int((usage.ru_utime + usage.ru_stime) * 1e9), content(output)
    finally:
        for descriptor in (reading, output, errors):
            os.close(descriptor)


def content(descriptor):
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0)


# When the commands that are running are ended.
deadlines = {}


def watch():
    while True:
        time.sleep(1)
        for pid, deadline in list(deadlines.items()):
            if time.monotonic() > deadline:
                os.kill(pid, signal.SIGKILL)


threading.Thread(target=watch, daemon=True).start()
