// SPDX-License-Identifier: Apache-2.0
// `swift package` itself, with a registry that wants a token.

import Foundation
import KeychainTestSupport
import Testing

/// A toolchain without the libraries that it needs does not run.
private let hasSwift = Tool.hasPython && (try? Tool().shell("swift package --version").status) == 0

@Suite("SwiftPM and a registry", .enabled(if: hasSwift, "swift or python3 is not installed, or does not run"))
struct SwiftPMRegistryTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Runs a script in a package that depends on one of the registry. Without the token, the registry refuses everything.
    ///
    /// SwiftPM keeps checksums of packages in the home folder of the account, whatever HOME says, so it is given folders.
    private func shell(_ script: String) throws -> Tool.Run {
        try Data(Self.registry.utf8).write(to: tool.home.appendingPathComponent("registry.py"))
        try Data(Self.manifest.utf8).write(to: tool.home.appendingPathComponent("Package.swift"))
        return try tool.shell(
            """
            python3 registry.py t0ken > port 2> registry.log & server=$!
            trap 'kill -9 $server' EXIT
            until [ -s port ]; do kill -0 $server || { cat registry.log >&2; exit 99; }; done
            mkdir -p .swiftpm/configuration Sources/App; : > Sources/App/main.swift
            HOST=127.0.0.1:$(cat port)
            printf '{"version": 1, "registries": {"[default]": {"url": "http://%s", "supportsAvailability": false}},
                "authentication": {"%s": {"type": "token"}}}' $HOST $HOST > .swiftpm/configuration/registries.json
            printf t0ken | "$CTL" set --server https://127.0.0.1 -a token
            mkdir bin; printf '#!/bin/sh\nverb=$1; shift; exec "%s" "$verb" %s "$@"\n' "$(command -v swift)" \
                "--cache-path '$HOME/cache' --config-path '$HOME/config' --security-path '$HOME/security'" > bin/swift
            chmod +x bin/swift; PATH="$HOME/bin:$PATH"
            \(script)
            """)
    }

    private static let manifest = """
        // swift-tools-version: 5.9
        import PackageDescription
        let library = Target.Dependency.product(name: "Lib", package: "demo.Lib")
        let package = Package(
            name: "App", dependencies: [.package(id: "demo.Lib", from: "1.0.0")],
            targets: [.executableTarget(name: "App", dependencies: [library])])
        """

    private static let registry = """
        import hashlib, http.server, io, json, sys, zipfile
        manifest = b'''// swift-tools-version: 5.9
        import PackageDescription
        let package = Package(
            name: "Lib", products: [.library(name: "Lib", targets: ["Lib"])], targets: [.target(name: "Lib")])
        '''
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as file:
            file.writestr("Lib/Package.swift", manifest)
            file.writestr("Lib/Sources/Lib/Lib.swift", b"public let answer = 42")
        archive = buffer.getvalue()
        resource = {"name": "source-archive", "type": "application/zip", "checksum": hashlib.sha256(archive).hexdigest()}
        answers = {
            "/demo/Lib": ("application/json", json.dumps({"releases": {"1.0.0": {}}}).encode()),
            "/demo/Lib/1.0.0": ("application/json", json.dumps(
                {"id": "demo.Lib", "version": "1.0.0", "resources": [resource], "metadata": {}}).encode()),
            "/demo/Lib/1.0.0/Package.swift": ("text/x-swift", manifest),
            "/demo/Lib/1.0.0.zip": ("application/zip", archive)}
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.headers.get("Authorization") != "Bearer " + sys.argv[1]:
                    return self.answer(401, "application/problem+json", b'{"detail": "no token"}')
                kind, body = answers.get(self.path.partition("?")[0], (None, b""))
                self.answer(200 if kind else 404, kind or "application/problem+json", body)
            def answer(self, status, kind, body):
                self.send_response(status)
                fields = {"Content-Version": "1", "Content-Type": kind, "Content-Length": str(len(body))}
                for name, value in fields.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print(server.server_port, flush=True)
        server.serve_forever()
        """

    /// Newer than 6.3.1: https://github.com/swiftlang/swift-package-manager/pull/9941
    private static let readsEnvironment = hasEnvironment()

    private static func hasEnvironment() -> Bool {
        do {
            let script =
                "grep -q SWIFTPM_NETRC_DATA \"$(readlink -f \"$(command -v swift-package || command -v swift)\")\""
            return try Tool().shell(script).status == 0
        } catch {
            return false
        }
    }

    @Test(.enabled(if: readsEnvironment, "this SwiftPM does not read SWIFTPM_NETRC_DATA and SWIFTPM_REGISTRY_TOKEN"))
    func package_resolvedWithTheVariables_getsTheToken() throws {
        let run = try shell("\"$CTL\" run --swiftpm -- swift package resolve && grep -qi demo.lib Package.resolved")
        #expect(run.status == 0, "\(run.everything)")
    }

    /// The recipe of Docs/Commands.md for other versions.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/shm"), "there is no /dev/shm"))
    func package_resolvedWithANetrcFileInMemory_getsTheToken() throws {
        let run = try shell(
            """
            "$CTL" run --swiftpm -- sh -ec 'umask 077; file=$(mktemp -p /dev/shm)
                printf %s "$SWIFTPM_NETRC_DATA" > "$file"; exec 3< "$file"; rm "$file"
                unset SWIFTPM_NETRC_DATA SWIFTPM_REGISTRY_TOKEN
                exec swift package --netrc-file /dev/fd/3 resolve' && grep -qi demo.lib Package.resolved
            """)
        #expect(run.status == 0, "\(run.everything)")
    }

    /// SwiftPM publishes only over TLS: the stub has a certificate, which the system trusts in this mount table.
    private static let canPublish =
        Tool.hasMounts && Tool.hasKeyPrograms && FileManager.default.fileExists(atPath: authorities)
        && FileManager.default.fileExists(atPath: "/dev/shm")
    private static let authorities = "/etc/ssl/certs/ca-certificates.crt"

    @Test(.enabled(if: canPublish, "openssl, unshare or \(authorities) is not there"))
    func package_publishedWithANetrcFileInMemory_carriesTheToken() throws {
        try tool.write(Data(Self.publishing.utf8), to: "registry.py")
        try tool.write(Data(Self.published.utf8), to: "Package.swift")
        let run = try tool.shellWithOwnMounts(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k.pem -out c.pem -days 2 \
                -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 2> /dev/null
            python3 registry.py > port 2> registry.log & server=$!
            trap 'kill -9 $server' EXIT
            until [ -s port ]; do kill -0 $server; done
            mount --bind c.pem \(Self.authorities)
            mkdir -p package/.swiftpm/configuration package/Sources/Lib scratch
            mv Package.swift package; : > package/Sources/Lib/Lib.swift
            export HOST=127.0.0.1:$(cat port)
            printf '{"version": 1, "registries": {"[default]": {"url": "https://%s", "supportsAvailability": false}},
                "authentication": {"%s": {"type": "token"}}}' $HOST $HOST > package/.swiftpm/configuration/registries.json
            printf t0ken | "$CTL" set --server https://127.0.0.1 -a token
            "$CTL" run --swiftpm -- sh -ec 'umask 077; file=$(mktemp -p /dev/shm)
                printf %s "$SWIFTPM_NETRC_DATA" > "$file"; exec 3< "$file"; rm "$file"
                unset SWIFTPM_NETRC_DATA SWIFTPM_REGISTRY_TOKEN; cd package
                exec swift package-registry publish demo.Lib 1.0.0 --url "https://$HOST" --scratch-directory ../scratch \
                    --netrc-file /dev/fd/3 --cache-path ../cache --config-path ../config --security-path ../security' > log 2>&1 || cat log
            # Not in the folder in which the test keeps what this script prints.
            cat registry.log; grep -rl t0ken . --exclude-dir 'run-*' || true
            """)
        #expect(run.text == "PUT /demo/Lib/1.0.0 Bearer t0ken\n./registry.log\n", "\(run.everything)")
    }

    private static let published = """
        // swift-tools-version: 5.9
        import PackageDescription
        let package = Package(
            name: "Lib", products: [.library(name: "Lib", targets: ["Lib"])], targets: [.target(name: "Lib")])
        """

    private static let publishing = """
        import http.server, ssl, sys
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_PUT(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                print("PUT", self.path, self.headers.get("Authorization"), file=sys.stderr, flush=True)
                self.send_response(201)
                for name, value in {"Content-Version": "1", "Location": self.path, "Content-Length": "0"}.items():
                    self.send_header(name, value)
                self.end_headers()
            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("c.pem", "k.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        print(server.server_port, flush=True)
        server.serve_forever()
        """

    @Test func package_resolvedWithoutTheToken_isRefused() throws {
        let run = try shell("swift package resolve")
        #expect(run.status != 0 && run.errors.contains("401"), "\(run.everything)")
        #expect(!FileManager.default.fileExists(atPath: tool.home.appendingPathComponent("Package.resolved").path))
    }
}
