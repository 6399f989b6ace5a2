// SPDX-License-Identifier: Apache-2.0
// Ports of the loopback interface for servers that tests start.

import Foundation

/// Ports that nobody uses, all of them different.
func freePorts(_ count: Int) throws -> [Int] {
    // All at once, so that none is found twice.
    var listeners: [Int32] = []
    defer { for listener in listeners { close(listener) } }
    return try (0..<count).map { _ in
        listeners.append(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        return try boundPort(listeners[listeners.count - 1])
    }
}

/// The condition of a script that a log of etcd says that another process has taken one of these ports meanwhile.
func portIsTaken(_ log: String) -> String { "grep -q 'address already in use' \(log)" }

private func boundPort(_ listener: Int32) throws -> Int {
    var address = sockaddr_in()
    (address.sin_family, address.sin_addr.s_addr) = (sa_family_t(AF_INET), UInt32(0x7f00_0001).bigEndian)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(listener, $0, length) == 0 && getsockname(listener, $0, &length) == 0
        }
    }
    guard isBound else { throw CocoaError(.fileReadUnknown) }
    return Int(UInt16(bigEndian: address.sin_port))
}
