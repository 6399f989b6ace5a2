// SPDX-License-Identifier: Apache-2.0
// swtpm, for the benchmarks: a process with a state of its own, and commands sent straight to its socket.

import Foundation
import KeychainEngine

/// It is killed with this object.
final class SoftwareTPM {
    private let folder: String
    private let process = Process()

    var socketPath: String { folder + "/s" }

    /// - Returns: `nil` if swtpm is not installed.
    static func start() throws -> SoftwareTPM? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        let programs = folders.map { "\($0)/swtpm" }
        return try programs.first(where: FileManager.default.isExecutableFile).map { try SoftwareTPM($0) }
    }

    private init(_ program: String) throws {
        folder = try Self.makeFolder()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [
            "socket", "--tpm2", "--tpmstate", "dir=" + folder, "--server", "type=unixio,path=" + socketPath, "--ctrl",
            "type=unixio,path=\(socketPath).ctrl", "--flags", "not-need-init,startup-clear",
        ]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        try waitUntilReady()
    }

    /// Also called if the initializer throws. A process that was not started has the number 0: a signal to it would reach
    /// the whole group of this process.
    deinit {
        if process.isRunning {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        do { try FileManager.default.removeItem(atPath: folder) } catch { print("left behind: \(folder)") }
    }

    /// A new folder that only this user can enter. Its path is short, since that of a socket has to be.
    private static func makeFolder() throws -> String {
        var path = (FileManager.default.temporaryDirectory.path + "/keychain-bench-XXXXXX").utf8CString.map { $0 }
        guard mkdtemp(&path) != nil else { throw CocoaError(.fileWriteUnknown) }
        return String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func waitUntilReady() throws {
        let end = ContinuousClock.now + .seconds(20)
        for path in [socketPath, socketPath + ".ctrl"] {
            while true {
                if let connection = TPMSocket(path) {
                    connection.close()
                    break
                }
                guard process.isRunning, ContinuousClock.now < end else { throw TPMSocket.failure }
                usleep(10_000)
            }
        }
    }
}

/// A connection to the socket of swtpm, which takes commands as a TPM does.
final class TPMSocket {
    static let failure = KeychainError(.unavailable, "swtpm did not start, or does not answer.")
    /// Seconds that an answer may take.
    private static let patience = 20

    private var descriptor: Int32

    /// - Returns: `nil` if nobody listens.
    init?(_ path: String) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) }
        }
        guard result == 0 else {
            close()
            return nil
        }
    }

    deinit { close() }

    func close() {
        if descriptor >= 0 { Foundation.close(descriptor) }
        descriptor = -1
    }

    func exchange(_ command: [UInt8]) throws(KeychainError) -> [UInt8] {
        guard send(descriptor, command, command.count, Int32(MSG_NOSIGNAL)) == command.count else { throw Self.failure }
        let header = try read(10)
        let size = header[2..<6].reduce(0) { $0 << 8 | Int($1) }
        guard (10...4096).contains(size) else { throw Self.failure }
        return header + (try read(size - 10))
    }

    private func read(_ count: Int) throws(KeychainError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard count == 0 || recv(descriptor, &bytes, count, Int32(MSG_WAITALL)) == count else { throw Self.failure }
        return bytes
    }
}

/// A P-256 key that stays loaded in the TPM, and signs without a session or encryption.
struct LoadedTPMKey {
    private let path: String
    private let handle: [UInt8]

    init(_ path: String) throws(KeychainError) {
        self.path = path
        // An ECC key that signs: its attributes, no policy, no fixed scheme, P-256, no unique part.
        let template: [UInt8] = [
            0x00, 0x23, 0x00, 0x0B, 0x00, 0x04, 0x04, 0x72, 0, 0, 0x00, 0x10, 0x00, 0x10, 0x00, 0x03, 0x00, 0x10, 0, 0,
            0, 0,
        ]
        let parameters: [UInt8] = [0, 4, 0, 0, 0, 0, 0, UInt8(template.count)] + template + [0, 0, 0, 0, 0, 0]
        let response = try Self.run(path, 0x131, [0x40, 0, 0, 1], parameters)
        guard response.count >= 14 else { throw TPMSocket.failure }
        handle = Array(response[10..<14])
    }

    /// TPM2_Sign alone, over a connection of its own, as each operation of the token has one.
    func sign(_ digest: [UInt8]) throws(KeychainError) {
        let scheme: [UInt8] = [0x00, 0x18, 0x00, 0x0B]
        let ticket: [UInt8] = [0x80, 0x24, 0x40, 0, 0, 7, 0, 0]
        _ = try Self.run(path, 0x15D, handle, [0, UInt8(digest.count)] + digest + scheme + ticket)
    }

    /// A command with the empty password of its object.
    private static func run(
        _ path: String, _ code: UInt16, _ handle: [UInt8], _ parameters: [UInt8]
    ) throws(KeychainError) -> [UInt8] {
        guard let connection = TPMSocket(path) else { throw TPMSocket.failure }
        defer { connection.close() }
        let password: [UInt8] = [0, 0, 0, 9, 0x40, 0, 0, 9, 0, 0, 0, 0, 0]
        let body = [0, 0, UInt8(code >> 8), UInt8(code & 0xFF)] + handle + password + parameters
        let response = try connection.exchange([0x80, 0x02, 0, 0, 0, UInt8(body.count + 6)] + body)
        guard response[6..<10].allSatisfy({ $0 == 0 }) else { throw TPMSocket.failure }
        return response
    }
}
