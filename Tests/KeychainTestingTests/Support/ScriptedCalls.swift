// SPDX-License-Identifier: Apache-2.0
// Calls on scripted stores, what they end with, and the items that they are about.

import Dispatch
import Foundation
import KeychainEngine
import Synchronization

/// A call on a thread of its own.
final class Background: Sendable {
    private let failure = Mutex<KeychainError?>(nil)
    private let group = DispatchGroup()

    init(_ body: @escaping @Sendable () throws(KeychainError) -> Void) {
        group.enter()
        Thread {
            do throws(KeychainError) { try body() } catch { self.failure.withLock { $0 = error } }
            self.group.leave()
        }.start()
    }

    var hasEnded: Bool { group.wait(timeout: .now()) == .success }

    /// Waits for the call; `nil` if it worked.
    func reason() -> KeychainError.Reason? {
        guard group.wait(timeout: .now() + 600) == .success else { return .timedOut }
        return failure.withLock { $0?.reason }
    }
}

/// The reason that a call fails with; `nil` if it works.
func failure<Result>(_ call: () throws(KeychainError) -> Result) -> KeychainError.Reason? {
    do throws(KeychainError) {
        _ = try call()
        return nil
    } catch {
        return error.reason
    }
}

extension Item {
    static func password(_ account: String, value: String = "secret") -> Item {
        let attributes: Attributes = [
            .service: .string("example.com"), .account: .string(account), .accessGroup: .string("default"),
            .synchronizable: .number(0),
        ]
        return Item(
            itemClass: .genericPassword, attributes: attributes, accessControl: AccessControl(.whenUnlocked),
            value: Data(value.utf8))
    }
}

extension MemoryStore {
    func count() throws(KeychainError) -> Int {
        try select(.passwords, limit: nil, includingValues: false, .none).items.count
    }
}
