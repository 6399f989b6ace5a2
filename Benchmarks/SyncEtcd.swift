// SPDX-License-Identifier: Apache-2.0
// One node of etcd, for the benchmarks: a process with data of its own, and requests sent straight to its gateway.

#if Etcd
    import Foundation
    import KeychainServices
    import KeychainSync
    import KeychainSyncEtcd

    /// It is killed with this object.
    final class BenchEtcd {
        private let process = Process()
        private let port: Int
        private var connection: Int32 = -1

        /// `nil` if etcd or what reads its size is not installed.
        static var program: String? { installed("etcdctl") == nil ? nil : installed("etcd") }

        private static func installed(_ name: String) -> String? {
            let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
            return folders.map { "\($0)/\(name)" }.first(where: FileManager.default.isExecutableFile)
        }

        /// - Parameter folder: Where its data lie.
        init(_ program: String, _ folder: String) throws {
            let ports = try [Self.freePort(), Self.freePort()]
            port = ports[0]
            let (own, peers) = ("http://127.0.0.1:\(ports[0])", "http://127.0.0.1:\(ports[1])")
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = [
                "--name", "n1", "--data-dir", folder + "/etcd", "--listen-client-urls", own, "--advertise-client-urls",
                own, "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster",
                "n1=" + peers, "--log-level", "error",
            ]
            (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
            try process.run()
            try waitUntilReady()
        }

        deinit {
            if connection >= 0 { close(connection) }
            if process.isRunning {
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
            }
        }

        var place: SyncPlace {
            get throws { try .etcd(EtcdCluster(["http://127.0.0.1:\(port)"])) }
        }

        /// Stores a value. Etcd answers once it is durable.
        func put(_ key: String, _ value: [UInt8]) throws {
            let texts = [Data(key.utf8), Data(value)].map { $0.base64EncodedString() }
            let body = "{\"key\":\"\(texts[0])\",\"value\":\"\(texts[1])\"}"
            let request =
                "POST /v3/kv/put HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body
            guard exchange(Array(request.utf8)) else { throw BenchError(status: errSecNotAvailable) }
        }

        /// The bytes of all keys of the ring and their values, each with a newline.
        func size() throws -> Int {
            guard let program = Self.installed("etcdctl") else { throw BenchError(status: errSecNotAvailable) }
            let (control, pipe) = (Process(), Pipe())
            control.executableURL = URL(fileURLWithPath: program)
            control.arguments = ["--endpoints", "http://127.0.0.1:\(port)", "get", "--prefix", "/skc1/"]
            control.environment = ["ETCDCTL_API": "3"]
            control.standardOutput = pipe
            try control.run()
            let count = try pipe.fileHandleForReading.readToEnd()?.count ?? 0
            control.waitUntilExit()
            guard control.terminationStatus == 0 else { throw BenchError(status: errSecNotAvailable) }
            return count
        }

        private func waitUntilReady() throws {
            let end = ContinuousClock.now + .seconds(60)
            while true {
                do { return try put("ready", []) } catch {
                    guard process.isRunning, ContinuousClock.now < end else { throw error }
                    usleep(50_000)
                }
            }
        }

        /// - Returns: Whether the answer is a success. The connection stays open.
        private func exchange(_ request: [UInt8]) -> Bool {
            if connection < 0 { connection = connected() }
            guard connection >= 0, send(connection, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
                return fail()
            }
            var (answer, piece) = (Data(), [UInt8](repeating: 0, count: 4096))
            // The answer to a put is an object in an object, and has nothing else in braces.
            while answer.suffix(3).firstRange(of: Data("}}".utf8)) == nil {
                let count = recv(connection, &piece, piece.count, 0)
                guard count > 0 else { return fail() }
                answer += piece[..<count]
            }
            return answer.starts(with: Data("HTTP/1.1 200".utf8)) || fail()
        }

        private func fail() -> Bool {
            if connection >= 0 { close(connection) }
            connection = -1
            return false
        }

        private func connected() -> Int32 {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var limit = timeval(tv_sec: 20, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            guard Self.withLoopback(port, { connect(descriptor, $0, $1) }) == 0 else {
                close(descriptor)
                return -1
            }
            return descriptor
        }

        private static func freePort() throws -> Int {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(listener) }
            var (bound, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
            guard withLoopback(0, { bind(listener, $0, $1) }) == 0,
                withUnsafeMutablePointer(
                    to: &bound,
                    { $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) } })
                    == 0
            else { throw BenchError(status: errSecNotAvailable) }
            return Int(UInt16(bigEndian: bound.sin_port))
        }

        private static func withLoopback(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(port).bigEndian
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            return withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
    }
#endif
