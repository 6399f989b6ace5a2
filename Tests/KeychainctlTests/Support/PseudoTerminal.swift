// SPDX-License-Identifier: Apache-2.0
// The tool on a pseudo-terminal, and a simulated user who types when asked.

import Foundation
import Testing

extension Tool {
    /// What happens when some text appears on the screen.
    enum Reply {
        case type(String)
        case send(signal: Int32)
    }

    /// A finished dialogue.
    struct Dialogue {
        /// The exit code; for a signal its number below zero.
        let status: Int32
        /// Everything that was shown.
        let screen: String
        /// Whether the terminal shows what is typed, afterwards.
        let hasEcho: Bool
    }

    /// Runs the tool, or another program, on a terminal of its own; each step waits for its text before it replies.
    func dialogue(
        _ arguments: String..., program: [String] = [Tool.executable], steps: [(appears: String, reply: Reply)] = []
    ) throws -> Dialogue {
        let spelled = steps.map { step -> [String: Any] in
            switch step.reply {
            case .type(let text): ["appears": step.appears, "type": text]
            case .send(let signal): ["appears": step.appears, "signal": Int(signal)]
            }
        }
        let script = String(decoding: try JSONSerialization.data(withJSONObject: spelled), as: UTF8.self)
        let words = String(decoding: try JSONEncoder().encode(program + arguments), as: UTF8.self)
        let run = try python(Self.driver, script, words)
        let object = try #require(try JSONSerialization.jsonObject(with: run.output) as? [String: Any])
        return Dialogue(
            status: Int32(try #require(object["status"] as? Int)), screen: try #require(object["screen"] as? String),
            hasEcho: try #require(object["echo"] as? Bool))
    }

    /// Waits for output, never for time; the limit only ends a test that would hang.
    private static let driver = """
        import json, os, pty, select, signal, sys, termios
        steps, words = json.loads(sys.argv[2]), json.loads(sys.argv[3])
        child, terminal = pty.fork()
        if child == 0:
            # Whoever runs the tests may ignore some, as nohup does, and the tool would do so too.
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            os.execvp(words[0], words)
        screen, seen, limit = b"", 0, 840
        def more():
            global screen
            if not select.select([terminal], [], [], limit)[0]:
                os.kill(child, 9)
                sys.exit("nothing appeared for too long; so far: %r" % screen)
            try:
                bytes = os.read(terminal, 65536)
            except OSError:
                bytes = b""
            screen += bytes
            return bytes != b""
        for step in steps:
            wanted = step["appears"].encode()
            while wanted not in screen[seen:]:
                if not more():
                    break
            seen = screen.find(wanted, seen) + len(wanted)
            if "type" in step:
                os.write(terminal, step["type"].encode())
            else:
                os.kill(child, step["signal"])
        while more():
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        echo = termios.tcgetattr(terminal)[3] & termios.ECHO != 0
        print(json.dumps({"status": status, "screen": screen.decode(errors="replace"), "echo": echo}))
        """
}
