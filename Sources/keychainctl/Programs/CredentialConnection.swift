// SPDX-License-Identifier: Apache-2.0
// A connection over which systemd asks for a credential, as LoadCredential= with the path of a socket does.

import Foundation
import KeychainKit

/// systemd binds its end of the connection to an abstract address that names the unit and the credential. It sends
/// nothing, and reads until the end of the stream.
struct CredentialConnection {
    /// systemd's limit for a credential. It fails if it gets more.
    static let largestCredential = 1 << 20

    let descriptor: Int32

    /// - Throws: `invalidParameter` if the descriptor is no connected local socket.
    init(_ descriptor: Int32) throws(KeychainError) {
        self.descriptor = descriptor
        guard Self.option(SO_DOMAIN, of: descriptor) == [AF_UNIX],
            Self.option(SO_TYPE, of: descriptor) == [Int32(SOCK_STREAM.rawValue)],
            Self.option(SO_ACCEPTCONN, of: descriptor) == [0]
        else { throw Self.noConnection }
    }

    /// - Throws: `authenticationFailed` if the peer is neither root nor this user.
    func checkPeer() throws(KeychainError) {
        // Process, user and group.
        guard let peer = Self.option(SO_PEERCRED, of: descriptor), peer.count == 3 else { throw Self.noConnection }
        let user = uid_t(bitPattern: peer[1])
        guard user == 0 || user == geteuid() else {
            throw KeychainError(
                .authenticationFailed,
                "The user \(user) asked for a credential and got none. Only root and the user of this program may ask.")
        }
    }

    private static let noConnection = KeychainError(
        .invalidParameter,
        "Standard input is not a connection of a local socket. systemd starts this command for a socket unit with "
            + "Accept=yes. See: keychainctl credential-server --help")

    /// An option of a socket, as numbers of 32 bits; `nil` if the descriptor is not a socket.
    private static func option(_ name: Int32, of descriptor: Int32) -> [Int32]? {
        var numbers: [Int32] = [0, 0, 0]
        let size = MemoryLayout<Int32>.size
        var length = socklen_t(numbers.count * size)
        guard getsockopt(descriptor, SOL_SOCKET, name, &numbers, &length) == 0 else { return nil }
        return Array(numbers.prefix(Int(length) / size))
    }

    /// What systemd asks for.
    ///
    /// - Throws: `invalidParameter` if the peer did not name a credential as systemd does.
    func request() throws(KeychainError) -> CredentialRequest {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        guard result == 0 else { throw Self.noConnection }
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0
        let name = withUnsafeBytes(of: &address) { bytes in
            Array(bytes[min(start, bytes.count)..<max(start, min(Int(length), bytes.count))])
        }
        guard let request = CredentialRequest(address: name) else {
            throw KeychainError(
                .invalidParameter,
                "The program that connected did not name a unit and a credential as systemd does, and got nothing. Use "
                    + "the socket in LoadCredential=NAME:PATH of a unit.")
        }
        return request
    }
}

// MARK: - Answering

extension CredentialConnection {
    /// Seconds that the peer may take to read a part of the answer.
    private static let patience = 30

    func send(_ value: Data) throws(KeychainError) {
        let failure = value.withUnsafeBytes { sendAll($0) }
        guard failure != 0 else { return }
        let reason = failure == EAGAIN ? "The other side does not read" : String(cString: strerror(failure))
        throw KeychainError(.inputOutput, "Could not send the credential: \(reason). Start the service again.")
    }

    /// The end of the stream alone would be an empty credential, and the service would start with it. systemd does not
    /// start a service whose credential is too large.
    func refuse() {
        var padding = [UInt8](repeating: 0, count: Self.largestCredential + 1)
        _ = padding.withUnsafeMutableBytes { sendAll(UnsafeRawBufferPointer($0)) }
    }

    /// - Returns: 0, or the error if not everything could be sent.
    private func sendAll(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = Foundation.send(descriptor, part.baseAddress, part.count, Int32(MSG_NOSIGNAL))
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}
