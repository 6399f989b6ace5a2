// SPDX-License-Identifier: Apache-2.0
// Objects that are made when they are first needed.

import Foundation
import SecretMemory
import Testing

@testable import KeychainVault

struct LateTests {
    private final class Made: Sendable {}

    @Test func object_thatNobodyNeeds_isNotMade() {
        let count = Guarded(0)
        _ = Late { () -> Made in
            count.withLock { $0 += 1 }
            return Made()
        }
        #expect(count.withLock { $0 } == 0)
    }

    @Test func object_neededByManyThreads_isTheSameForAll() {
        let late = Late { Made() }
        let seen = Guarded<[ObjectIdentifier]>([])
        DispatchQueue.concurrentPerform(iterations: 64) { _ in
            let object = ObjectIdentifier(late.object)
            seen.withLock { $0.append(object) }
        }
        #expect(Set(seen.withLock { $0 }).count == 1)
    }
}
