// SPDX-License-Identifier: Apache-2.0
// git itself, with a server of repositories that wants a user and a token.

import Foundation
import KeychainTestSupport
import Testing

/// What these tests run.
private let hasServer =
    Programs.installed("git") != nil && Tool.hasPython
    && FileManager.default.isExecutableFile(atPath: "/usr/lib/git-core/git-http-backend")

@Suite("git over HTTP", .enabled(if: hasServer, "git, its http-backend or python3 is not installed"))
struct GitOverHTTPTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Runs a script beside a server, whose repository is at `$URL`, for the user alice with the token "t0ken".
    private func shell(_ script: String) throws -> Tool.Run {
        try Data(Self.server.utf8).write(to: tool.home.appendingPathComponent("server.py"))
        return try tool.shell(
            """
            export GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
            git init -q --bare served/a.git && git -C served/a.git config http.receivepack true
            python3 server.py "$HOME/served" alice:t0ken > port 2> server.log & server=$!
            trap 'kill -9 $server' EXIT
            until [ -s port ]; do kill -0 $server || { cat server.log >&2; exit 99; }; done
            export SERVER=http://127.0.0.1:$(cat port); URL=$SERVER/a.git
            "$CTL" helper install git --yes 2> install.log || exit 98
            \(script)
            """)
    }

    @Test func cloneAndPush_withAStoredToken_work() throws {
        let run = try shell(
            """
            printf t0ken | "$CTL" set --server $SERVER -a alice
            git clone -q $URL copy 2> clone.log && cd copy
            git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first
            git push -q origin HEAD:refs/heads/main && git -C ../served/a.git log --format=%s main
            """)
        #expect(run.status == 0 && run.text == "first\n", "\(run.everything)")
    }

    @Test func withoutAToken_gitFails() throws {
        let run = try shell("git ls-remote $URL")
        #expect(run.status == 128, "\(run.everything)")
    }

    @Test func refusedToken_isErased() throws {
        let run = try shell("printf wrong | \"$CTL\" set --server $SERVER -a alice; git ls-remote $URL")
        #expect(run.status == 128 && run.errors.contains("Authentication failed"), "\(run.everything)")
        #expect(try tool.listed().isEmpty)
    }

    @Test func tokenThatTheUserEnters_isStored() throws {
        let run = try shell(
            """
            printf '#!/bin/sh\\ncase "$1" in Username*) echo alice;; *) echo t0ken;; esac\\n' > ask; chmod +x ask
            GIT_ASKPASS="$HOME/ask" git ls-remote $URL && git ls-remote $URL
            """)
        #expect(run.status == 0, "\(run.everything)")
        #expect(try tool.listed().first?["account"] as? String == "alice")
    }

    @Test func askpass_answersBothQuestionsOfGit() throws {
        let run = try shell(
            """
            printf t0ken | "$CTL" set --server $SERVER -a alice; "$CTL" helper remove git --yes
            ln -s "$CTL" keychain-askpass; GIT_ASKPASS="$HOME/keychain-askpass" git ls-remote $URL
            """)
        #expect(run.status == 0, "\(run.everything)")
    }

    /// Git's own rules for helpers, which it applies to the answers.
    @Test func fillApproveReject_throughGit_areGetStoreErase() throws {
        let run = try shell(
            """
            printf 'protocol=https\\nhost=h\\nusername=alice\\npassword=secret\\n\\n' > all
            printf 'protocol=https\\nhost=h\\n\\n' > request
            git credential approve < all; git credential fill < request
            git credential reject < all; git credential fill < request 2> fill.log; echo $?
            """)
        #expect(run.text == "protocol=https\nhost=h\nusername=alice\npassword=secret\n128\n", "\(run.everything)")
    }

    private static let server = """
        import base64, http.server, os, subprocess, sys
        root, want = sys.argv[1], "Basic " + base64.b64encode(sys.argv[2].encode()).decode()
        class Handler(http.server.BaseHTTPRequestHandler):
            def serve(self):
                if self.headers.get("Authorization") != want:
                    return self.answer("401 Unauthorized", {"WWW-Authenticate": 'Basic realm="git"'}, b"")
                path, _, query = self.path.partition("?")
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                run = subprocess.run(["git", "http-backend"], input=body, stdout=subprocess.PIPE, env={
                    "PATH": os.environ["PATH"], "HOME": root, "GIT_PROJECT_ROOT": root, "GIT_HTTP_EXPORT_ALL": "1",
                    "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_USER": "alice",
                    "CONTENT_TYPE": self.headers.get("Content-Type") or "", "CONTENT_LENGTH": str(len(body)),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or ""})
                head, _, content = run.stdout.partition(b"\\r\\n\\r\\n")
                fields = dict(line.split(": ", 1) for line in head.decode().split("\\r\\n"))
                self.answer(fields.pop("Status", "200 OK"), fields, content)
            def answer(self, status, fields, content):
                self.send_response(int(status.split()[0]))
                for name, value in fields.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            do_GET = do_POST = serve
            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print(server.server_port, flush=True)
        server.serve_forever()
        """
}
