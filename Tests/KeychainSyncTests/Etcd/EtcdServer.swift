// SPDX-License-Identifier: Apache-2.0
// Nodes of etcd for tests, on loopback, with folders and ports of their own.

#if Etcd
    import Foundation
    import KeychainSync
    import KeychainTestSupport
    import KeychainVault
    import SecretMemory
    import Testing

    @testable import KeychainSyncEtcd

    enum Etcd {
        static let server = Programs.installed("etcd")
        static let control = Programs.installed("etcdctl")
        static let isInstalled = server != nil && control != nil
        static let isMissing: Comment = "etcd or etcdctl is not installed (Debian: etcd-server, etcd-client)"

        /// Where nodes are stopped: a silent one is left soon, and the next one is tried for long.
        static let timingOfNodes: EtcdTiming = {
            var timing = EtcdTiming()
            timing.pauses = (.milliseconds(20), .milliseconds(200))
            timing.whole = .seconds(600)
            return timing
        }()

        /// Where each node answers: beside many other tests, an answer that has arrived is looked at late. If it counted as lost, the call
        /// would be made again, and have another outcome.
        static let timing: EtcdTiming = {
            var timing = timingOfNodes
            timing.first = .seconds(600)
            return timing
        }()

        /// Starts nodes. If another process takes a port before a node does, it does so again, with other ports.
        static func withFreePorts<Nodes>(_ start: () throws -> Nodes) throws -> Nodes {
            for _ in 0..<3 { do { return try start() } catch is EtcdPortTaken { continue } }
            return try start()
        }

        static func freePort() throws -> Int {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(listener) }
            var address = sockaddr_in.loopback(0)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, length) == 0 && getsockname(listener, $0, &length) == 0
                }
            }
            guard isBound else { throw CocoaError(.fileReadUnknown) }
            return Int(UInt16(bigEndian: address.sin_port))
        }
    }

    /// One node. It is killed with this object. A test uses it from one task after the other.
    final class EtcdNode: @unchecked Sendable {
        let name: String
        let client: Int
        let peer: Int
        let isSecure: Bool
        private let arguments: [String]
        private let folder: TemporaryFolder
        private var data: String
        private var process: Process?

        var url: String { "\(isSecure ? "https" : "http")://127.0.0.1:\(client)" }
        var peerAddress: String { "\(name)=http://127.0.0.1:\(peer)" }
        var path: String { folder.path }

        init(_ name: String = "n1", isSecure: Bool = false, _ arguments: [String] = []) throws {
            folder = try TemporaryFolder.inMemory("etcd")
            (self.name, self.isSecure, self.arguments) = (name, isSecure, arguments)
            (client, peer, data) = (try Etcd.freePort(), try Etcd.freePort(), folder.path + "/data")
        }

        deinit { end() }

        /// One node that is ready.
        static func started() throws -> EtcdNode {
            try Etcd.withFreePorts {
                let node = try EtcdNode()
                try node.start([node])
                try node.awaitReady()
                return node
            }
        }

        func start(_ nodes: [EtcdNode]) throws {
            let own = Process()
            own.executableURL = URL(fileURLWithPath: Etcd.server ?? "")
            own.arguments =
                [
                    "--name", name, "--data-dir", data, "--listen-client-urls", url, "--advertise-client-urls", url,
                    "--listen-peer-urls", "http://127.0.0.1:\(peer)", "--initial-advertise-peer-urls",
                    "http://127.0.0.1:\(peer)", "--initial-cluster", nodes.map(\.peerAddress).joined(separator: ","),
                    "--heartbeat-interval", "100", "--election-timeout", "1000", "--log-level", "error",
                ] + arguments
            let log = folder.path + "/log"
            try Data().write(to: URL(fileURLWithPath: log))
            let output = FileHandle(forWritingAtPath: log)
            (own.standardOutput, own.standardError) = (output, output)
            try own.run(limitedTo: .serverLimit)
            process = own
        }

        func awaitReady(_ access: [String] = []) throws {
            try waitUntil("etcd at \(url) is ready") {
                try checkRunning()
                return try control(access + ["--command-timeout=1s", "endpoint", "health"]).status == 0
            }
        }

        private func checkRunning() throws {
            guard let process, !process.isRunning else { return }
            let log = try String(contentsOfFile: folder.path + "/log", encoding: .utf8)
            if log.contains("address already in use") { throw EtcdPortTaken() }
            throw EtcdControlFailure(description: "etcd has ended: \(log)")
        }

        func signal(_ number: Int32) { if let process { kill(process.processIdentifier, number) } }

        func end() {
            signal(SIGCONT)
            signal(SIGKILL)
            process?.waitUntilExit()
            process = nil
        }

        /// Runs `etcdctl`.
        @discardableResult
        func control(_ arguments: [String]) throws -> (status: Int32, text: String) {
            let control = Process()
            control.executableURL = URL(fileURLWithPath: Etcd.control ?? "")
            control.arguments = ["--endpoints", url] + arguments
            control.environment = ["ETCDCTL_API": "3"]
            let pipe = Pipe()
            (control.standardOutput, control.standardError) = (pipe, pipe)
            try control.run(limitedTo: .testLimit)
            let text = String(decoding: try pipe.fileHandleForReading.readAll(), as: UTF8.self)
            try control.waitForEnd()
            return (control.terminationStatus, text)
        }

        func done(_ arguments: String...) throws {
            // Its own limits are 2 s and 5 s.
            let (status, text) = try control(["--dial-timeout=600s", "--command-timeout=600s"] + arguments)
            guard status == 0 else { throw EtcdControlFailure(description: "etcdctl \(arguments): \(text)") }
        }

        /// Goes back to a snapshot, as an administrator does.
        func restore(_ snapshot: String) throws {
            end()
            data = folder.path + "/restored"
            try done(
                "snapshot", "restore", snapshot, "--data-dir", data, "--name", name, "--initial-cluster", peerAddress,
                "--initial-advertise-peer-urls", "http://127.0.0.1:\(peer)")
            try start([self])
            try awaitReady()
        }

        func place(_ change: (inout EtcdPlace) throws -> Void = { _ in }) throws -> CarrierPlace {
            var place = EtcdPlace(endpoints: try EtcdPlace.endpoints(url))
            try change(&place)
            return place.place
        }
    }

    struct EtcdPortTaken: Error {}

    struct EtcdControlFailure: Error, CustomStringConvertible { let description: String }

    /// Three nodes of one etcd.
    struct EtcdNodes {
        let nodes: [EtcdNode]

        init() throws {
            nodes = try Etcd.withFreePorts {
                let nodes = try (1...3).map { try EtcdNode("n\($0)") }
                for node in nodes { try node.start(nodes) }
                for node in nodes { try node.awaitReady() }
                return nodes
            }
        }

        func place() throws -> CarrierPlace {
            EtcdPlace(endpoints: try EtcdPlace.endpoints(nodes.map(\.url).joined(separator: ","))).place
        }

        func leader() throws -> EtcdNode {
            var leader: EtcdNode?
            try waitUntil("etcd has a leader") {
                leader = try nodes.first { node in
                    let text = try node.control(["endpoint", "status", "--write-out", "fields"]).text
                    let lines = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
                    let (member, leader) = (
                        lines.first { $0.first == "\"MemberID\"" }, lines.first { $0.first == "\"Leader\"" }
                    )
                    return member?.last != nil && member?.last == leader?.last
                }
                return leader != nil
            }
            guard let leader else { throw EtcdControlFailure(description: "no leader") }
            return leader
        }
    }

    extension SyncWay {
        /// `etcd`, where each node answers.
        static let patientEtcd = SyncWay(EtcdKind(Etcd.timing))
    }

    extension Machine {
        /// The same machine, as a process that does not try for long.
        var impatient: Machine {
            var timing = Etcd.timingOfNodes
            timing.whole = .seconds(3)
            return Machine(name, Vault(vault.location, vault.settings), kinds: [EtcdKind(timing)])
        }
    }

    extension sockaddr_in {
        static func loopback(_ port: UInt16) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            return address
        }
    }

    /// Counts the hints of a carrier's watch, as long as it exists.
    final class WatchedHints: Sendable {
        private let count = Guarded(0)
        private let watch: Task<Void, Never>

        /// Returns when the watch has begun.
        init(_ carrier: any Carrier) async throws {
            watch = Task { [count] in for await _ in carrier.changes() { count.withLock { $0 += 1 } } }
            try await yieldUntil("the watch has begun") { count.withLock { $0 } > 0 }
        }

        deinit { watch.cancel() }

        /// Returns when another hint has come since before a change.
        func expect(_ change: () async throws -> Void) async throws {
            let before = count.withLock { $0 }
            try await change()
            try await yieldUntil("the change is seen") { count.withLock { $0 } > before }
        }
    }
#endif
