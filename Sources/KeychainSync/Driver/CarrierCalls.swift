// SPDX-License-Identifier: Apache-2.0
// Carriers' failures, and those of exchanges, as the errors of a call.

import Foundation
import KeychainEngine
import KeychainSyncCore

extension Carrier {
    func listing() async throws(KeychainError) -> Listing {
        do { return try await list() } catch { throw KeychainError(failure: error) }
    }

    func reading(_ names: [ObjectName]) async throws(KeychainError) -> [(name: ObjectName, bytes: Data)] {
        try await readingAll(names).objects
    }

    func readingAll(_ names: [ObjectName]) async throws(KeychainError) -> CarrierReading {
        if names.isEmpty { return CarrierReading() }
        do { return try await read(names) } catch { throw KeychainError(failure: error) }
    }

    func publishing(
        _ name: ObjectName, _ bytes: Data, beside: Bool = false
    ) async throws(KeychainError) -> Publication {
        do { return try await publish(name, bytes, beside: beside) } catch { throw KeychainError(failure: error) }
    }

    func removing(_ names: [ObjectName]) async throws(KeychainError) {
        if names.isEmpty { return }
        do { try await remove(names) } catch { throw KeychainError(failure: error) }
    }
}

extension KeychainError {
    init(failure: CarrierFailure) {
        let reason: Reason
        switch failure.reason {
        case .unavailable, .denied: reason = .unavailable
        case .full: reason = .diskFull
        case .overcrowded, .tooLarge: reason = .tooLarge
        case .unusable: reason = .invalidParameter
        case .inputOutput: reason = .inputOutput
        }
        self.init(reason, failure.message)
    }

    static let cancelledExchange = KeychainError(
        .cancelled, "The exchange was cancelled. Its completed steps remain. Sync again to continue.")
    /// Why a machine is no member.
    static func noMember(_ replica: Replica) -> KeychainError {
        replica.wasRemovedByFormerKeys ? .removedByFormerKeys : .removedFromRing
    }

    private static let removedByFormerKeys = KeychainError(
        .missingEntitlement,
        "This machine is not in its ring any more: somebody has used former keys of it, or of the machine that added it, which a vault gives "
            + "up when it gets new keys. Its changes are not sent to other machines. Its items remain. To join again, run: keychainctl sync "
            + "leave; then: keychainctl sync join. If no machine is left in the ring, found a new one: keychainctl sync init"
    )
    private static let removedFromRing = KeychainError(
        .missingEntitlement,
        "This machine was removed from its ring. Its changes are not sent to other machines. Its items remain. To end syncing, run: "
            + "keychainctl sync leave")
    static let pausedSync = KeychainError(
        .unavailable, "Syncing is paused. Changes are kept. To continue, run: keychainctl sync resume")
}
