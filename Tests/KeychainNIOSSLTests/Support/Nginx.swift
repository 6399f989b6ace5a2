// SPDX-License-Identifier: Apache-2.0
// nginx, which demands a certificate of its clients.

#if NIOSSL
    import Foundation
    import KeychainTestSupport
    import Testing

    /// A server on a socket in the folder of an authority. It ends with this object.
    final class Nginx {
        static let isInstalled = Programs.installed("nginx") != nil && Programs.installed("python3") != nil

        let socket: String
        private let process = Process()
        private let input = Pipe()

        /// - Parameter authority: What has issued "server".
        init(_ authority: TestAuthority) throws {
            socket = authority.file("nginx.sock").path
            try Data(Self.start.utf8).write(to: authority.file("start.py"))
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            // It ends with the input, even if the test dies.
            let script = "python3 start.py 2> nginx.log & server=$!; cat > /dev/null; kill $server; wait $server"
            process.arguments = ["-c", script]
            process.environment = ["HOME": authority.folder.path, "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"]
            process.currentDirectoryURL = authority.folder.url
            (process.standardInput, process.standardOutput) = (input, output)
            try process.run(limitedTo: .serverLimit)
            let line = try output.fileHandleForReading.readSome()
            let log = (try? authority.text("nginx.log")) ?? ""
            try #require(line == Data("ready\n".utf8), "nginx does not start: \(log)")
        }

        deinit { stop() }

        /// Ends it, with all its connections.
        func stop() {
            guard process.isRunning else { return }
            input.fileHandleForWriting.closeFile()
            process.waitUntilExit()
        }

        /// nginx gets the listening socket, so that a client that comes early waits. It waits for slow clients, too: on a loaded
        /// machine a handshake may take longer than its minute.
        private static let start = """
            import os, socket
            home, listener = os.environ["HOME"], socket.socket(socket.AF_UNIX)
            listener.bind(home + "/nginx.sock")
            listener.listen(64)
            listener.set_inheritable(True)
            # The worker of a server that root starts would be another user, who cannot read the folder.
            user = "user root root;" if os.geteuid() == 0 else ""
            temporary = "".join(
                f"{name}_temp_path {home}/{name};" for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
            with open(home + "/nginx.conf", "w") as file:
                file.write(f'''
                    {user} daemon off; worker_processes 1; pid {home}/nginx.pid; error_log stderr;
                    events {{}}
                    http {{
                        access_log off; client_header_timeout 1h; {temporary}
                        server {{
                            listen unix:{home}/nginx.sock ssl;
                            ssl_protocols TLSv1.2 TLSv1.3;
                            ssl_certificate {home}/server.chain; ssl_certificate_key {home}/server.key;
                            ssl_client_certificate {home}/root.pem; ssl_verify_client on; ssl_verify_depth 2;
                            location / {{ return 200 "$ssl_client_verify $ssl_client_s_dn $ssl_protocol"; }}
                        }}
                    }}''')
            print("ready", flush=True)
            os.environ["NGINX"] = f"{listener.fileno()};"
            os.close(1)
            os.open("/dev/null", os.O_WRONLY)
            os.execvp("nginx", ["nginx", "-e", "stderr", "-p", home, "-c", home + "/nginx.conf"])
            """
    }
#endif
