// SPDX-License-Identifier: Apache-2.0
// TPMs in software for tests, each with a folder of its own.

#if TPM
    import Foundation
    import KeychainEngine
    import KeychainTestSupport
    import Testing

    @testable import KeychainTPM

    /// swtpm, on a socket of its own. It is killed with this object. A test uses it from one task after the other.
    final class SoftwareTPM: @unchecked Sendable {
        private static let program = Programs.installed("swtpm")
        static let isInstalled = program != nil && dlopen("libtss2-tctildr.so.0", RTLD_NOW | RTLD_LOCAL) != nil
        static let isMissing: Comment = "swtpm or its library is not installed (Debian: swtpm, libtss2-tctildr0)"

        private let folder: TemporaryFolder
        private var process: Process?

        /// One that is started.
        init() throws {
            folder = try TemporaryFolder.inMemory("tpm")
            try start()
        }

        deinit { kill() }

        private var socketPath: String { folder.path + "/s" }
        var connection: String { "swtpm:path=" + socketPath }
        var transport: HeldTransport {
            HeldTransport(TCTITransport(name: connection, timeout: .testLimit), owner: self)
        }
        var token: TPMToken { TPMToken(transport, patience: .testLimit) }
        var sealing: TPMSealing { TPMSealing(transport, patience: .testLimit) }

        func start() throws {
            let own = Process()
            own.executableURL = URL(fileURLWithPath: Self.program ?? "")
            own.arguments = [
                "socket", "--tpm2", "--tpmstate", "dir=" + folder.path, "--server", "type=unixio,path=" + socketPath,
                "--ctrl", "type=unixio,path=\(socketPath).ctrl", "--flags", "not-need-init,startup-clear",
            ]
            let log = folder.path + "/log"
            try Data().write(to: URL(fileURLWithPath: log))
            let output = FileHandle(forWritingAtPath: log)
            (own.standardOutput, own.standardError) = (output, output)
            try own.run(limitedTo: .testLimit)
            process = own
            for path in [socketPath, socketPath + ".ctrl"] {
                try waitUntil("swtpm is ready") {
                    guard let socket = UnixSocket(connectedTo: path) else { return false }
                    socket.close()
                    return true
                }
            }
        }

        /// Without TPM2_Shutdown, as a power failure.
        func kill() {
            guard let process else { return }
            Foundation.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            self.process = nil
            for path in [socketPath, socketPath + ".ctrl"] { unlink(path) }
        }

        // MARK: - Commands of its owner

        /// As the settings of the firmware do.
        func clear() throws { try runForLockout(0x126) }

        func resetLockout() throws { try runForLockout(0x139) }

        func setOwnerPassword() throws {
            try run(0x129, 0x4000_0001, [0, 4] + Array("pass".utf8))
        }

        /// - Parameter most: As many wrong PINs lock it.
        func setLockout(most: UInt32, interval: UInt32) throws {
            try run(0x13A, Self.lockout, bigEndian(most) + bigEndian(interval) + bigEndian(interval))
        }

        private static let lockout: UInt32 = 0x4000_000A

        private func runForLockout(_ code: UInt32) throws { try run(code, Self.lockout, []) }

        /// Runs a command with an empty password.
        private func run(_ code: UInt32, _ handle: UInt32, _ parameters: [UInt8]) throws {
            var command = MessageWriter()
            command.put(Tag.sessions)
            command.put(UInt32(27 + parameters.count))
            command.put(code)
            command.put(handle)
            command.put(UInt32(9))
            command.put(Handle.password)
            command.put([UInt8](repeating: 0, count: 5))
            command.put(parameters)
            let channel = try transport.connect()
            defer { channel.close() }
            let response = try channel.exchange(command.bytes, within: .testLimit)
            try #require(response.count >= 10 && response[6..<10] == [0, 0, 0, 0], "0x\(response[6..<10])")
        }
    }

    /// A transport that keeps what it connects to.
    struct HeldTransport: TPMTransport {
        private let transport: TCTITransport
        private let owner: any AnyObject & Sendable

        init(_ transport: TCTITransport, owner: any AnyObject & Sendable) {
            (self.transport, self.owner) = (transport, owner)
        }

        func connect() throws(KeychainError) -> any TPMChannel { try transport.connect() }
    }

    /// A socket of the file system.
    struct UnixSocket {
        let descriptor: Int32

        init(_ descriptor: Int32) { self.descriptor = descriptor }

        /// `nil` if nobody listens.
        init?(connectedTo path: String) {
            self.init(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
            guard Self.withAddress(path, { connect(descriptor, $0, $1) }) == 0 else {
                close()
                return nil
            }
        }

        init(listeningAt path: String) throws {
            self.init(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
            let isListening = Self.withAddress(path) { bind(descriptor, $0, $1) } == 0 && listen(descriptor, 16) == 0
            guard isListening else { throw CocoaError(.fileWriteUnknown) }
        }

        func close() { Foundation.close(descriptor) }

        private static func withAddress(
            _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
        ) -> Int32 {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
    }
#endif
