// SPDX-License-Identifier: Apache-2.0
// The connection to a program that this program starts.

import CKeychainShims
import Foundation
import KeychainEngine

/// Two connected descriptors, closed on exec. Ours does not block.
final class Channel {
    let ours: Int32
    private(set) var theirs: Int32

    private init(ours: Int32, theirs: Int32) {
        (self.ours, self.theirs) = (ours, theirs)
        for end in [ours, theirs] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ours, F_SETFL, O_NONBLOCK)
    }

    /// From the other program to this one.
    static func pipe() throws(KeychainError) -> Channel {
        var ends: [Int32] = [-1, -1]
        // Another thread may start a program at any time, which must not inherit our pipe.
        guard keychain_pipe(&ends) == 0 else { throw .noDescriptors }
        return Channel(ours: ends[0], theirs: ends[1])
    }

    /// In both directions. A socket, since writing into a pipe without a reader raises SIGPIPE.
    static func socket() throws(KeychainError) -> Channel {
        var ends: [Int32] = [-1, -1]
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .noDescriptors }
        #if canImport(Darwin)
            var yes: Int32 = 1
            setsockopt(ends[0], SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
        #endif
        return Channel(ours: ends[0], theirs: ends[1])
    }

    /// Call it after the other program has its copy. Otherwise its end would not be detected.
    func closeTheirs() {
        if theirs >= 0 { close(theirs) }
        theirs = -1
    }

    deinit {
        closeTheirs()
        close(ours)
    }
}
