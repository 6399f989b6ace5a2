// SPDX-License-Identifier: Apache-2.0
// A network between a client and its server that damages an answer, or loses it.

#if Etcd
    import Foundation
    import SecretMemory

    /// Hands on what both sides send. It ends with this object.
    final class DamagingProxy: Sendable {
        enum Damage: CaseIterable {
            case byteFlipped, connectionCut
        }

        private struct State {
            var damage: Damage?
            /// Bytes that clients have sent since the damage was asked for.
            var sent = 0
        }

        let port: Int
        private let listener: Int32
        private let state = Guarded(State())

        /// - Parameter target: The server's port.
        init(to target: Int) throws {
            (listener, port) = try Self.listening()
            Thread.detachNewThread { [listener, state] in
                while true {
                    let client = accept(listener, nil, nil)
                    guard client >= 0 else { break }
                    Self.join(client, target, state)
                }
                close(listener)
            }
        }

        deinit { shutdown(listener, Int32(SHUT_RDWR)) }

        /// Damages what the server sends next, after it was sent a request of at least 4 KiB.
        func damageNextAnswer(_ damage: Damage) { state.withLock { $0 = State(damage: damage) } }

        var hasDamaged: Bool { state.withLock { $0.damage == nil } }

        private static func listening() throws -> (Int32, Int) {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var (address, length) = (sockaddr_in.loopback(0), socklen_t(MemoryLayout<sockaddr_in>.size))
            let isListening = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, length) == 0 && listen(listener, 16) == 0
                        && getsockname(listener, $0, &length) == 0
                }
            }
            guard isListening else { throw CocoaError(.fileReadUnknown) }
            return (listener, Int(UInt16(bigEndian: address.sin_port)))
        }

        private static func join(_ client: Int32, _ target: Int, _ state: Guarded<State>) {
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in.loopback(UInt16(target))
            let isConnected = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isConnected else { return [client, server].forEach { close($0) } }
            let both = DispatchGroup()
            let pass = { (from: Int32, to: Int32, change: @escaping @Sendable (inout [UInt8]) -> Bool) in
                both.enter()
                Thread.detachNewThread {
                    Self.pass(from, to, change)
                    both.leave()
                }
            }
            pass(client, server) { bytes in
                state.withLock { $0.sent += bytes.count }
                return true
            }
            pass(server, client) { bytes in
                let damage = state.withLock { state -> Damage? in
                    guard state.sent >= 4096 else { return nil }
                    defer { state.damage = nil }
                    return state.damage
                }
                if damage == .byteFlipped { bytes[bytes.count - 1] ^= 1 }
                return damage != .connectionCut
            }
            both.notify(queue: .global()) { [client, server].forEach { close($0) } }
        }

        /// - Parameter change: Returns `false` to end both directions.
        private static func pass(_ from: Int32, _ to: Int32, _ change: (inout [UInt8]) -> Bool) {
            var piece = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = recv(from, &piece, piece.count, 0)
                guard count > 0 else { break }
                var bytes = Array(piece[..<count])
                guard change(&bytes) else { break }
                var rest = bytes[...]
                while !rest.isEmpty {
                    let sent = rest.withUnsafeBytes { send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                    guard sent > 0 else { break }
                    rest = rest.dropFirst(sent)
                }
            }
            for descriptor in [from, to] { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }
#endif
