// SPDX-License-Identifier: Apache-2.0
// The socket of an SSH agent: where it is, who may connect, and messages in both directions.

import CKeychainShims
import Foundation
import KeychainKit
import SecretMemory

/// One thread serves all connections, each message in turn. Only answers that wait for hardware are made on another one.
final class SSHAgentSocket {
    /// Other programs do not inherit it.
    private static let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    private static let mostConnections = 512
    /// Seconds that a client may take to read an answer.
    private static let patience = 5
    /// How often the loop looks for a signal that came just before it waited, and whether the socket is still there, in
    /// milliseconds.
    private static let lookInterval: Int32 = 500
    /// The same while an answer is made elsewhere.
    private static let shortInterval: Int32 = 20

    let path: String
    private let listener: Int32
    private var connections: [Int32: SSHAgentIncoming] = [:]
    private let waiting = SSHAgentWaiting()
    /// The connection whose message is being answered.
    private var asking: Int32?
    /// The socket at the path; `nil` before it is there. The object is also released if its initializer throws.
    private var file: FileIdentity?

    /// - Throws: `busy` if another agent listens there; `unsafeLocation` for a folder in which other users may write.
    init(_ path: String) throws(KeychainError) {
        self.path = path
        var address = try Self.address(path)
        try Self.checkFolder(path)
        listener = socket(AF_UNIX, Self.kind, 0)
        guard listener >= 0 else { throw Self.failure(path, errno) }
        // A socket whose agent was killed stays behind.
        if let isOwn = Self.listener(&address) {
            guard isOwn else {
                throw KeychainError(
                    .unsafeLocation,
                    "A program of another user listens on '\(path)'. Do not give it keys. Name another --socket.")
            }
            throw KeychainError(.busy, "An agent listens on '\(path)' already. Use it, or name another --socket.")
        }
        try Self.checkReplaceable(path)
        file = try Self.bind(listener, path)
    }

    deinit {
        for connection in connections.keys { close(connection) }
        close(listener)
        removeFile()
    }

    /// Call it before the process ends in another way than by releasing this object.
    func removeFile() { if isInPlace { unlink(path) } }

    /// Whether clients that use the path reach this agent, and not another one that was started at the same time.
    private var isInPlace: Bool { file != nil && FileIdentity(of: path) == file }

    /// `$XDG_RUNTIME_DIR/swift-keychain/ssh-agent.sock`; the folder is made.
    static func usualPath() throws(KeychainError) -> String {
        guard let runtime = ProcessEnvironment.current.value("XDG_RUNTIME_DIR"), runtime.hasPrefix("/") else {
            throw KeychainError(.unavailable, "XDG_RUNTIME_DIR is not set. Name the socket with --socket.")
        }
        let folder = runtime + "/swift-keychain"
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw failure(folder, errno) }
        return folder + "/ssh-agent.sock"
    }

    /// Answers until `isOver`.
    ///
    /// - Parameter finish: Makes the message of an answer that came later.
    /// - Throws: `unavailable` if the socket was removed or replaced.
    func serve(
        until isOver: () -> Bool, _ answer: (SecretBytes) -> SSHAgentAnswer,
        finish: (Result<Data, KeychainError>) -> Data
    ) throws(KeychainError) {
        while !isOver() {
            guard isInPlace else {
                throw KeychainError(
                    .unavailable,
                    "The socket '\(path)' was removed or replaced, so this agent ends. Start it again, or use the one that "
                        + "is there now.")
            }
            for (connection, answer) in waiting.take() { deliver(finish(answer), connection) }
            for entry in try ready() {
                if entry.fd == listener { accept() } else { serve(entry.fd, answer) }
            }
        }
    }

    /// The descriptors with something to read or to end, after a wait for one.
    private func ready() throws(KeychainError) -> [pollfd] {
        var polled = ([listener] + connections.keys).map { descriptor in
            // The next message of a connection that waits for an answer is read later; that it hangs up is seen.
            pollfd(fd: descriptor, events: waiting.contains(descriptor) ? 0 : Int16(POLLIN), revents: 0)
        }
        let interval = waiting.isEmpty ? Self.lookInterval : Self.shortInterval
        guard poll(&polled, nfds_t(polled.count), interval) >= 0 else {
            guard errno != EINTR else { return [] }
            throw Self.failure(path, errno)
        }
        return polled.filter { $0.revents != 0 }
    }

    // MARK: - Connections

    private func accept() {
        let connection = keychain_accept(listener)
        guard connection >= 0 else {
            // Without descriptors the connection goes on waiting, and the loop would not rest.
            if [EMFILE, ENFILE].contains(errno) { poll(nil, 0, Self.lookInterval) }
            return
        }
        var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard connections.count < Self.mostConnections, Self.isOfThisUser(connection) else {
            close(connection)
            return
        }
        connections[connection] = SSHAgentIncoming()
    }

    private static func isOfThisUser(_ connection: Int32) -> Bool {
        do throws(KeychainError) {
            try CredentialConnection(connection).checkPeer()
            return true
        } catch {
            return false
        }
    }

    private func serve(_ connection: Int32, _ answer: (SecretBytes) -> SSHAgentAnswer) {
        // Its message may have waited for as long as the user was asked about another one.
        if Self.hasHungUp(connection) { return end(connection) }
        switch connections[connection]?.read(from: connection) {
        case .incomplete?: break
        case .complete(let message)?:
            asking = connection
            let answer = answer(message)
            asking = nil
            switch answer {
            case .now(let answer): deliver(answer, connection)
            case .later(let work): waiting.start(work, for: connection)
            }
        case .over?, nil: end(connection)
        }
    }

    private func deliver(_ answer: Data, _ connection: Int32) { if !send(answer, connection) { end(connection) } }

    /// Whether nobody waits any more for the answer that is being made.
    var hasClientHungUp: Bool { asking.map(Self.hasHungUp) ?? false }

    /// A client that only ends its own direction, and reads answers, has not hung up.
    private static func hasHungUp(_ connection: Int32) -> Bool {
        var entry = pollfd(fd: connection, events: 0, revents: 0)
        return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLHUP) != 0
    }

    private func end(_ connection: Int32) {
        close(connection)
        connections[connection] = nil
        waiting.forget(connection)
    }

    private func send(_ answer: Data, _ connection: Int32) -> Bool {
        var bytes = withUnsafeBytes(of: UInt32(answer.count).bigEndian) { Data($0) }
        bytes.append(answer)
        return bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = Foundation.send(connection, part.baseAddress, part.count, Int32(MSG_NOSIGNAL))
                guard count > 0 || count < 0 && errno == EINTR else { return false }
                rest = rest.dropFirst(max(0, count))
            }
            return true
        }
    }
}

// MARK: - The place

extension SSHAgentSocket {
    private static func address(_ path: String) throws(KeychainError) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isPrintable = path.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "'") }
        // With room for the number of the process.
        let room = MemoryLayout.size(ofValue: address.sun_path) - 12
        guard isPrintable, path.utf8.count < room, path.hasPrefix("/") else {
            throw KeychainError(
                .invalidParameter,
                "The path of a socket is absolute, has at most \(room - 1) bytes, and no spaces or quotes.")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return address
    }

    /// Others must not put a socket of theirs there.
    private static func checkFolder(_ path: String) throws(KeychainError) {
        let bytes = path.utf8
        let end = bytes.lastIndex(of: UInt8(ascii: "/")) ?? bytes.startIndex
        let folder = end == bytes.startIndex ? "/" : String(path[..<end])
        var status = stat()
        guard stat(folder, &status) == 0 else { throw failure(folder, errno) }
        let isOwn = status.st_uid == geteuid() || status.st_uid == 0
        guard isOwn, status.st_mode & 0o022 == 0 || status.st_mode & S_ISVTX != 0 else {
            throw KeychainError(
                .unsafeLocation, "Other users may change the folder '\(folder)'. Name a --socket in a folder of yours.")
        }
    }

    /// Whether who listens there is of this user; `nil` if nobody does.
    private static func listener(_ address: inout sockaddr_un) -> Bool? {
        let probe = socket(AF_UNIX, kind, 0)
        guard probe >= 0 else { return nil }
        defer { close(probe) }
        guard withAddress(&address, { connect(probe, $0, $1) }) == 0 else { return nil }
        return isOfThisUser(probe)
    }

    /// A socket whose agent was killed may be replaced.
    private static func checkReplaceable(_ path: String) throws(KeychainError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid() else {
            throw KeychainError(.unsafeLocation, "'\(path)' exists and is no socket of yours. Name another --socket.")
        }
    }

    /// Under a name of its own at first: between two agents that start at the same time the path is always one's whole.
    private static func bind(_ listener: Int32, _ path: String) throws(KeychainError) -> FileIdentity? {
        let draft = path + "." + String(getpid())
        var address = try address(draft)
        unlink(draft)
        let before = umask(0o177)
        let isBound = withAddress(&address) { Foundation.bind(listener, $0, $1) } == 0
        let code = errno
        umask(before)
        guard isBound else { throw failure(path, code) }
        let file = FileIdentity(of: draft)
        guard listen(listener, 16) == 0, rename(draft, path) == 0 else {
            let code = errno
            unlink(draft)
            throw failure(path, code)
        }
        return file
    }

    private static func withAddress<Result>(
        _ address: inout sockaddr_un, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    fileprivate static func failure(_ path: String, _ code: Int32) -> KeychainError {
        KeychainError(.inputOutput, "Could not listen on '\(path)': \(String(cString: strerror(code))).")
    }
}

/// Which file is at a path, by its place on the disk.
private struct FileIdentity: Equatable {
    let (device, number): (dev_t, ino_t)

    /// - Returns: `nil` if there is none.
    init?(of path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        (device, number) = (status.st_dev, status.st_ino)
    }
}
