// SPDX-License-Identifier: Apache-2.0
// What happens to secret memory in a process of which all is known: it has one thread, and no other test shares it.

import CTestShims
import Foundation
import SecretMemory

enum MemoryVerb {
    static func protection() {
        say(SecretBytes.protection)
        let (small, large) = (filled(32, with: 0x41), filled(100_000, with: 0x42))
        say(isFilled(small, with: 0x41), small.isLocked)
        say(isFilled(large, with: 0x42), large.isLocked)
    }

    /// Looks at the memory of a secret after its release, and at that of the next one of its size.
    static func release(_ count: Int) {
        var secret: SecretBytes? = filled(count, with: 0x41)
        // Out of its scope on purpose: the block lies in pages that stay.
        guard let bytes = secret?.withUnsafeBytes({ $0 }) else { return }
        say("before", bytes.allSatisfy { $0 == 0x41 })
        secret = nil
        say("after", bytes.allSatisfy { $0 == 0 })
        let next = filled(count, with: 0x42)
        say("again", next.withUnsafeBytes { $0.baseAddress == bytes.baseAddress })
    }

    /// A child reads and releases what it inherited and makes secrets of its own; then the parent looks at its own.
    static func fork(_ count: Int) {
        var kept: SecretBytes? = filled(count, with: 0x41)
        var released: SecretBytes? = filled(count, with: 0x42)
        guard let place = released?.withUnsafeBytes({ $0 }) else { return }
        let child = test_fork()
        if child == 0 {
            say("child reads", isFilled(kept, with: 0x41), isFilled(released, with: 0x42))
            (kept, released) = (nil, nil)
            let own = (0..<10).map { _ in filled(count, with: 0x43) }
            say("child makes", own.allSatisfy { isFilled($0, with: 0x43) }, SecretBytes.protection)
            _exit(0)
        }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        say("child ended", status)
        say("parent keeps", isFilled(kept, with: 0x41), place.allSatisfy { $0 == 0x42 })
        released = nil
        let made = (0..<10).map { _ in SecretBytes(count: count) { say("parent gets zeros", $0.allSatisfy { $0 == 0 }) }
        }
        say("parent makes", made.count, isFilled(kept, with: 0x41))
    }

    static func harden() {
        say(test_is_dumpable(), hardenProcess(), test_is_dumpable(), test_core_dump_limit())
    }

    private static func filled(_ count: Int, with byte: UInt8) -> SecretBytes {
        SecretBytes(count: count) { for index in $0.indices { $0[index] = byte } }
    }

    private static func isFilled(_ secret: SecretBytes?, with byte: UInt8) -> Bool {
        secret?.withUnsafeBytes { $0.allSatisfy { $0 == byte } } ?? false
    }
}
