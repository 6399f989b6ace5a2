// SPDX-License-Identifier: Apache-2.0
// A question on a pseudo-terminal, and a simulated user who answers it.

import Crypto
import Foundation
import KeychainTestSupport
import Testing

/// What happens when some text appears on the screen.
enum Reply {
    case type(String)
    case send(signal: Int32)
}

typealias Step = (appears: String, reply: Reply)

/// A finished conversation.
struct Conversation {
    /// Everything that was shown.
    let screen: String
    /// Whether the terminal shows what is typed, afterwards.
    let hasEcho: Bool
    /// `answer …`, or a failure's reason and message.
    let result: String
    /// Whether handlers and mask were the same after the question.
    let signalsAreKept: Bool
    /// The last signal that reached the program's own handler.
    let hostSignal: String

    var reason: String { result.components(separatedBy: ":")[0] }

    static let hasPython = succeeds("/usr/bin/env", ["python3", "-c", "import pty"])
    static let curses = "/usr/bin/pinentry-curses"
    static let tty = "/usr/bin/pinentry-tty"
    static let hasPinentries = [curses, tty].allSatisfy(FileManager.default.isExecutableFile)

    /// What the exerciser prints for an answer.
    static func answer(_ text: String) -> String {
        let digest = SHA256.hash(data: Data(text.utf8)).prefix(4).map { String($0, radix: 16) }
        return "answer \(text.utf8.count) \(digest.joined(separator: "."))"
    }

    /// Asks on a terminal; each step waits for its text before it replies.
    ///
    /// - Parameter place: `foreground` of the terminal, its `background`, or a session `detached` from any.
    init(
        _ arguments: [String], steps: [Step] = [], place: String = "foreground", environment: [String: String] = [:]
    ) throws {
        let spelled = steps.map { step -> [String: Any] in
            switch step.reply {
            case .type(let text): ["appears": step.appears, "type": text]
            case .send(let signal): ["appears": step.appears, "signal": Int(signal)]
            }
        }
        let input: [String: Any] = [
            "steps": spelled, "words": [Exerciser.path, "ask"] + arguments, "place": place,
            "environment": environment,
        ]
        let script = String(decoding: try JSONSerialization.data(withJSONObject: input), as: UTF8.self)
        let output = try run("/usr/bin/env", ["python3", "-c", Self.driver, script])
        let object = try #require(try JSONSerialization.jsonObject(with: output) as? [String: Any], "the driver failed")
        let screen = try #require(object["screen"] as? String)
        func line(_ name: String) throws -> String {
            let rest = try #require(screen.components(separatedBy: name + " ").dropFirst().last, "\(screen)")
            return String(rest.prefix { !$0.isNewline })
        }
        self.screen = screen
        hasEcho = try #require(object["echo"] as? Bool)
        result = try line("RESULT")
        signalsAreKept = try line("SIGNALS") == "kept"
        hostSignal = try line("HOST")
    }

    /// What has to hold after every question.
    func expectAllInOrder(notShowing secrets: String..., at location: SourceLocation = #_sourceLocation) {
        #expect(hasEcho, sourceLocation: location)
        #expect(signalsAreKept, sourceLocation: location)
        for secret in secrets { #expect(!screen.contains(secret), sourceLocation: location) }
    }

    /// Between the terminal and the exerciser stands what a shell is: it puts its job in front, and lets it go on when it
    /// stops. Waits for output, never for time; the limit only ends a test that would hang.
    private static let driver = """
        import fcntl, json, os, pty, select, signal, struct, sys, termios
        task = json.loads(sys.argv[1])
        words = task["words"]
        def echo(terminal):
            return termios.tcgetattr(terminal)[3] & termios.ECHO != 0
        def is_stopped(group):
            for name in filter(str.isdigit, os.listdir("/proc")):
                try:
                    state, _, own = open("/proc/%s/stat" % name).read().rsplit(")", 1)[1].split()[:3]
                except OSError:
                    continue
                if own == str(group) and state not in "TZX":
                    return False
            return True
        def shell():
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            job = os.fork()
            if job == 0:
                if task["place"] == "detached":
                    os.setsid()
                else:
                    os.setpgid(0, 0)
                if task["place"] == "foreground":
                    os.tcsetpgrp(0, os.getpid())
                signal.signal(signal.SIGTTOU, signal.SIG_DFL)
                # The test process may hold back signals.
                signal.pthread_sigmask(signal.SIG_SETMASK, [])
                os.execve(words[0], words, dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8", **task["environment"]))
            while True:
                status = os.waitpid(job, os.WUNTRACED)[1]
                if not os.WIFSTOPPED(status):
                    os._exit(os.waitstatus_to_exitcode(status) & 255)
                # A program of the job may still be at work on its own stopping.
                while not is_stopped(job):
                    os.sched_yield()
                os.tcsetpgrp(0, os.getpgrp())
                os.write(1, b"[stopped %s echo]" % (b"with" if echo(0) else b"without"))
                os.tcsetpgrp(0, job)
                os.kill(-job, signal.SIGCONT)
        child, terminal = pty.fork()
        if child == 0:
            shell()
        screen, seen, limit = b"", 0, 840
        def more():
            global screen
            if not select.select([terminal], [], [], limit)[0]:
                os.killpg(os.tcgetpgrp(terminal), 9)
                sys.exit("nothing appeared for too long; so far: %r" % screen)
            try:
                bytes = os.read(terminal, 65536)
            except OSError:
                bytes = b""
            screen += bytes
            return bytes != b""
        for step in task["steps"]:
            wanted = step["appears"].encode()
            while wanted not in screen[seen:]:
                if not more():
                    break
            seen = screen.find(wanted, seen) + len(wanted)
            if "type" in step:
                os.write(terminal, step["type"].encode())
            else:
                os.kill(os.tcgetpgrp(terminal), step["signal"])
        while more():
            pass
        os.waitpid(child, 0)
        print(json.dumps({"screen": screen.decode(errors="replace"), "echo": echo(terminal)}))
        """
}

// MARK: - Programs

private func run(_ path: String, _ arguments: [String]) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("KEYCHAIN_") }
    let output = Pipe()
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    try process.run(limitedTo: .testLimit)
    let data = try output.fileHandleForReading.readAll()
    try process.waitForEnd()
    return data
}

private func succeeds(_ path: String, _ arguments: [String]) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    do { try process.run(limitedTo: .testLimit) } catch { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
}

/// A folder for scripts, which is removed with this object.
final class Scripts {
    private let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder("authenticators") }

    var folder: URL { temporary.url }

    /// Writes a shell script and says where it is.
    ///
    /// Another process writes it: a program that is open for writing cannot be started, and a test that starts one at this
    /// moment on another thread would take our open file along.
    func script(_ body: String, mode: String = "755") throws -> String {
        let path = folder.appendingPathComponent(UUID().uuidString).path
        _ = try run(
            "/bin/sh", ["-ec", "printf '%s' \"$1\" > \"$2\"; chmod \(mode) \"$2\"", "sh", "#!/bin/sh\n\(body)\n", path])
        return path
    }

    func contents(_ name: String) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }
}
