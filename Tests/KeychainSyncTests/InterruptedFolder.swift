// SPDX-License-Identifier: Apache-2.0
// A folder whose user is interrupted when an object has just been published.

import Foundation
import KeychainSync
import KeychainSyncCore
import SecretMemory

/// Publishes one object, has others look at it, and fails as if the process had died there.
final class InterruptedFolders: KindOverFolders {
    struct Script: Sendable {
        /// Whether the next publication of an object is the last one.
        var isLast: (@Sendable (ObjectName) -> Bool)?
        /// What others do when it is published.
        var meanwhile: @Sendable () async throws -> Void = {}
    }

    let script = Guarded(Script())

    /// Interrupts the next publication that fits.
    func interrupt(
        at isLast: @escaping @Sendable (ObjectName) -> Bool, _ meanwhile: @escaping @Sendable () async throws -> Void
    ) {
        script.withLock { $0 = Script(isLast: isLast, meanwhile: meanwhile) }
    }

    func carrier(over base: FolderCarrier) -> any Carrier { InterruptedFolder(base: base, script: script) }
}

struct InterruptedFolder: CarrierOverFolder {
    let base: FolderCarrier
    let script: Guarded<InterruptedFolders.Script>

    func publish(
        _ name: ObjectName, _ bytes: Data, beside isBeside: Bool
    ) async throws(CarrierFailure) -> Publication {
        let outcome = try await base.publish(name, bytes, beside: isBeside)
        let script = script.withLock { script in
            let now = script
            if now.isLast?(name) == true { script.isLast = nil }
            return now
        }
        guard script.isLast?(name) == true else { return outcome }
        do { try await script.meanwhile() } catch { throw CarrierFailure(.inputOutput, "\(error)") }
        throw CarrierFailure(.inputOutput, "The process was interrupted.")
    }
}
