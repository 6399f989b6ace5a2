// SPDX-License-Identifier: Apache-2.0
// git itself, with git's HTTP backend behind nginx, which asks for the password.

import Foundation
import KeychainTestSupport
import Testing

/// What these tests run.
private let hasServer =
    Programs.installed("git") != nil && Programs.installed("nginx") != nil && Programs.installed("fcgiwrap") != nil
    && Tool.hasPython && FileManager.default.isExecutableFile(atPath: "/usr/lib/git-core/git-http-backend")

@Suite(
    "git behind nginx",
    .enabled(if: hasServer, "git, its http-backend, nginx, fcgiwrap or python3 is not installed"))
struct GitBehindNginxTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Runs a script beside both servers, which belong to the user who runs the tests and have all of their files in the home
    /// folder. The repository is at `$URL`, for the user alice with the token "t0ken".
    private func shell(_ script: String) throws -> Tool.Run {
        try Data(Self.start.utf8).write(to: tool.home.appendingPathComponent("start.py"))
        return try tool.shell(
            """
            export GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 PATH="$PATH:/usr/sbin"
            git init -q --bare served/a.git && git -C served/a.git config http.receivepack true
            printf 'alice:{PLAIN}t0ken\\n' > users
            fcgiwrap -s "unix:$HOME/git.sock" 2> fcgiwrap.log & backend=$!
            python3 start.py > port 2> nginx.log & server=$!
            trap 'kill $server; wait $server; kill -9 $backend' EXIT
            until [ -s port ] && [ -S git.sock ]; do kill -0 $server $backend || { cat *.log >&2; exit 99; }; done
            export SERVER=http://127.0.0.1:$(cat port); URL=$SERVER/a.git
            "$CTL" helper install git --yes 2> install.log || exit 98
            \(script)
            """)
    }

    /// nginx gets the listening socket: there is no moment at which another program could take the port, and a client that
    /// comes early waits.
    private static let start = """
        import os, socket
        home, listener = os.environ["HOME"], socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.set_inheritable(True)
        port = listener.getsockname()[1]
        # The worker of a server that root starts would be another user, who cannot read the home folder.
        user = "user root root;" if os.geteuid() == 0 else ""
        temporary = "".join(
            f"{name}_temp_path {home}/{name};" for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        with open(home + "/nginx.conf", "w") as file:
            file.write(f'''
                {user} daemon off; worker_processes 1; pid {home}/nginx.pid; error_log stderr;
                events {{}}
                http {{
                    access_log {home}/access.log; client_max_body_size 0; {temporary}
                    server {{
                        listen 127.0.0.1:{port};
                        auth_basic "git"; auth_basic_user_file {home}/users;
                        location / {{
                            fastcgi_pass unix:{home}/git.sock;
                            fastcgi_param SCRIPT_FILENAME /usr/lib/git-core/git-http-backend;
                            fastcgi_param GIT_PROJECT_ROOT {home}/served;
                            fastcgi_param GIT_HTTP_EXPORT_ALL 1;
                            fastcgi_param PATH_INFO $uri;
                            fastcgi_param QUERY_STRING $query_string;
                            fastcgi_param REQUEST_METHOD $request_method;
                            fastcgi_param CONTENT_TYPE $content_type;
                            fastcgi_param CONTENT_LENGTH $content_length;
                            fastcgi_param REMOTE_USER $remote_user;
                        }}
                    }}
                }}''')
        print(port, flush=True)
        os.environ["NGINX"] = f"{listener.fileno()};"
        os.execvp("nginx", ["nginx", "-e", "stderr", "-p", home, "-c", home + "/nginx.conf"])
        """

    @Test func cloneAndPush_withAStoredToken_work() throws {
        let run = try shell(
            """
            printf t0ken | "$CTL" set --server $SERVER -a alice
            git clone -q $URL copy 2> clone.log && cd copy
            head -c 3000000 /dev/urandom > large && git add large
            git -c user.name=a -c user.email=a@b commit -q -m first
            git push -q origin HEAD:refs/heads/main && git -C ../served/a.git log --format=%s main
            """)
        #expect(run.status == 0 && run.text == "first\n", "\(run.everything)")
    }

    @Test func withoutAToken_gitFails() throws {
        let run = try shell("git ls-remote $URL")
        #expect(run.status == 128 && run.errors.contains("could not read Username"), "\(run.everything)")
    }

    @Test func refusedToken_isErased() throws {
        let run = try shell("printf wrong | \"$CTL\" set --server $SERVER -a alice; git ls-remote $URL")
        #expect(run.status == 128 && run.errors.contains("Authentication failed"), "\(run.everything)")
        #expect(try tool.listed().isEmpty)
    }

    @Test func tokenThatTheUserEnters_isStoredAndUsed() throws {
        let run = try shell(
            """
            printf '#!/bin/sh\\ncase "$1" in Username*) echo alice;; *) echo t0ken;; esac\\n' > ask; chmod +x ask
            GIT_ASKPASS="$HOME/ask" git ls-remote $URL && git ls-remote $URL && cut -d ' ' -f 9 access.log | sort -u
            """)
        #expect(run.status == 0 && run.text == "200\n401\n", "\(run.everything)")
        #expect(try tool.listed().first?["account"] as? String == "alice")
    }
}
