// SPDX-License-Identifier: Apache-2.0
// `watch-session` on a separate system bus, with a simulated logind.

import Foundation
import Testing

@Suite(
    "watch-session", .enabled(if: Tool.hasMockedLogind, "dbus-daemon, libsystemd or python3-dbusmock is not installed"),
    .enabled(if: Tool.hasKeyring, "the kernel keeps no keys for this process"))
struct WatchSessionTests {
    private let vault: LockableTool

    init() throws { vault = try LockableTool() }

    /// Runs a script with `watch` started and `say`, `heard` and `inhibitors` at hand.
    private func watching(_ options: String = "", _ script: String) throws -> Tool.Run {
        try vault.store("--accessibility after-first-unlock")
        try vault.unlock()
        let run = try vault.tool.shell(
            "/usr/bin/python3 - \(options) <<'END'\n" + MockedLogind.driver + "\nwith logind() as bus:\n"
                + script.split(separator: "\n").map { "    " + $0 + "\n" }.joined() + "END")
        try #require(run.status == 0, "\(run.everything)")
        return run
    }

    @Test func session_locked_locksTheVault() throws {
        _ = try watching("", "bus.lock_session('own')\nbus.heard('Locked because the session was locked')")
        #expect(try vault.lockState == "locked")
        #expect(try vault.get().output == secret)
    }

    @Test func session_lockedWithAll_closesWhatIsOpenAfterTheFirstUnlock() throws {
        _ = try watching("--all", "bus.lock_session('own')\nbus.heard('Locked')")
        #expect(try vault.lockState == "beforeFirstUnlock")
    }

    @Test func session_ofAnotherUser_doesNot() throws {
        // The bus keeps the order: what was heard of the second signal, was not heard of the first.
        let run = try watching(
            "", "bus.lock_session('other')\nbus.sleep(True)\nbus.heard('Locked')\nbus.stop()\nbus.heard('lost')")
        #expect(run.text.contains("goes to sleep"))
        #expect(!run.text.contains("the session was locked"))
    }

    @Test func sleep_locksTheVaultFirst() throws {
        let run = try watching(
            "", "print(bus.inhibitors())\nbus.sleep(True)\nbus.heard('the system goes to sleep')\nbus.released()")
        #expect(run.text.contains("swift-keychain"))
        #expect(try vault.lockState == "locked")
    }

    @Test func bus_thatGoesAway_endsTheWatch() throws {
        let run = try watching("", "bus.stop()\nprint('status', bus.tool.wait(600))\nbus.heard('bus was lost')")
        #expect(run.text.contains("status 13"))
    }

    @Test func bus_thatIsNotThere_isUnavailable() throws {
        let run = try vault.tool.shell("DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nowhere \"$CTL\" watch-session")
        #expect(run.status == 13)
        #expect(run.errors.contains("system bus"))
    }

    @Test(.enabled(if: Tool.hasStrace, "strace cannot trace here"))
    func system_withoutLibsystemd_isUnavailable() throws {
        let run = try vault.tool.shell(
            "strace -f -o trace \"$CTL\" status > /dev/null; ! grep -q libsystemd trace && "
                + "strace -f -o /dev/null -e trace=openat -e inject=openat:error=ENOENT -P \"$(ldconfig -p | "
                + "sed -n 's/.*libsystemd.so.0 .*=> //p' | head -n 1)\" \"$CTL\" watch-session")
        #expect(run.status == 13, "\(run.everything)")
    }
}

extension Tool {
    static let hasMockedLogind: Bool = {
        do {
            return try Tool().shell(
                "/usr/bin/python3 -c 'import ctypes, dbus, dbusmock; ctypes.CDLL(\"libsystemd.so.0\")' && dbus-daemon --version"
            ).status == 0
        } catch {
            return false
        }
    }()
}

enum MockedLogind {
    /// Waits for lines and properties, never for time; the limits only end a test that would hang.
    static let driver = """
        import contextlib, os, pathlib, subprocess, sys, threading, queue
        import dbus

        CONFIG = '''<busconfig><type>system</type><listen>unix:dir=%s</listen><auth>EXTERNAL</auth>
          <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
          <allow own="*"/></policy></busconfig>'''
        SERVICE, MANAGER = "org.freedesktop.login1", "/org/freedesktop/login1"
        MOCK = "org.freedesktop.DBus.Mock"

        class Connection(dbus.bus.BusConnection):
            # A busy machine may take longer than the 25 seconds that are usual.
            def call_blocking(self, *arguments, **words):
                return super().call_blocking(*arguments, **{**words, "timeout": 600})

        class Bus:
            def __init__(self, home):
                config = home / "bus.conf"
                config.write_text(CONFIG % home)
                self.daemon = subprocess.Popen(
                    ["dbus-daemon", "--config-file", config, "--nofork", "--print-address=1"], stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL, text=True)
                os.environ["DBUS_SYSTEM_BUS_ADDRESS"] = self.daemon.stdout.readline().strip()
                self.mock = subprocess.Popen(
                    ["/usr/bin/python3", "-m", "dbusmock", "--system", "--template", "logind"],
                    stdout=subprocess.PIPE, text=True)
                self.connection = Connection(os.environ["DBUS_SYSTEM_BUS_ADDRESS"])
                self.connection.set_exit_on_disconnect(False)
                while not self.connection.name_has_owner(SERVICE):
                    assert self.mock.poll() is None
                self.lines = queue.Queue()
                self.sessions = {
                    "own": self.add("c1", os.getuid(), "me"), "other": self.add("c2", os.getuid() + 1, "other")}
                self.calls = queue.Queue()
                threading.Thread(target=self.collect, args=(self.mock.stdout, self.calls), daemon=True).start()
                self.tool = subprocess.Popen(
                    [os.environ["CTL"], "watch-session"] + sys.argv[1:], stderr=subprocess.PIPE, text=True)
                threading.Thread(target=self.collect, args=(self.tool.stderr, self.lines), daemon=True).start()
                self.heard("Waiting")
                self.called("Inhibit")

            def collect(self, stream, lines):
                for line in stream:
                    lines.put(line)

            def expect(self, lines, text):
                while True:
                    line = lines.get(timeout=600)
                    if lines is self.lines:
                        print(line, end="")
                    if text in line:
                        return

            def heard(self, text): self.expect(self.lines, text)
            def called(self, text): self.expect(self.calls, " " + text)
            def object(self, path, interface): return dbus.Interface(self.connection.get_object(SERVICE, path), interface)
            def add(self, name, user, login): return self.object(MANAGER, MOCK).AddSession(name, "seat0", user, login, True)
            def inhibitors(self): return str(self.object(MANAGER, SERVICE + ".Manager").ListInhibitors())

            def lock_session(self, whose):
                self.object(self.sessions[whose], MOCK).EmitSignal(SERVICE + ".Session", "Lock", "", [])

            def sleep(self, begins):
                self.object(MANAGER, MOCK).EmitSignal(SERVICE + ".Manager", "PrepareForSleep", "b", [begins])

            def released(self):
                while "swift-keychain" in self.inhibitors():
                    assert self.tool.poll() is None

            def stop(self):
                for process in [self.mock, self.daemon]:
                    process.kill()
                    process.wait()

        @contextlib.contextmanager
        def logind():
            bus = Bus(pathlib.Path(os.environ["HOME"]))
            try:
                yield bus
            finally:
                bus.tool.kill()
                bus.stop()
        """
}
