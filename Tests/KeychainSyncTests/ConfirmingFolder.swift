// SPDX-License-Identifier: Apache-2.0
// A folder that confirms as an etcd does, or answers what a test says.

import Foundation
import KeychainSync
import KeychainSyncCore
import SecretMemory

/// The kind that several machines use; all of them see one folder and one revision.
final class ConfirmingFolders: KindOverFolders {
    enum Answer: Sendable {
        /// It publishes nothing, and says so.
        case refuses
        /// It publishes, and says that it has not.
        case refusesAndKeeps
        case saysNothing
        case saysNothingAndKeeps
        /// It does not answer until the call is given up.
        case isSilent
        case fails(CarrierFailure)
    }

    struct Script: Sendable {
        var revision: UInt64 = 1
        /// Of the next confirmed publications; then it is honest.
        var answers: [Answer] = []
        var listings: [Answer] = []
        /// Runs before the next confirmed publication is compared.
        var meanwhile: (@Sendable () async throws -> Void)?
        /// Runs before each of the next listings, but not before those that it makes itself.
        var besideListings: (count: Int, run: @Sendable () async throws -> Void)?
        var confirmedCount = 0
        /// What it has refused.
        var refused: [(name: ObjectName, bytes: Data)] = []
    }

    let script = Guarded(Script())

    func carrier(over base: FolderCarrier) -> any Carrier { ConfirmingFolder(base: base, script: script) }
}

struct ConfirmingFolder: CarrierOverFolder, ConfirmingCarrier {
    let base: FolderCarrier
    let script: Guarded<ConfirmingFolders.Script>

    private static let silence = CarrierFailure(.unavailable, "The call was given up.")

    func list() async throws(CarrierFailure) -> Listing {
        switch script.withLock({ $0.listings.isEmpty ? nil : $0.listings.removeFirst() }) {
        case .fails(let failure): throw failure
        case .isSilent: try await keepWaiting()
        default: break
        }
        try await runBesideListing()
        let revision = script.withLock { $0.revision }
        let listing = try await base.list()
        return Listing(names: listing.names, revision: revision, contents: listing.contents)
    }

    private func runBesideListing() async throws(CarrierFailure) {
        let beside = script.withLock { script in
            defer { script.besideListings = nil }
            return script.besideListings
        }
        guard let beside else { return }
        do { try await beside.run() } catch { throw CarrierFailure(.inputOutput, "\(error)") }
        if beside.count > 1 { script.withLock { $0.besideListings = (beside.count - 1, beside.run) } }
    }

    func publish(
        _ name: ObjectName, _ bytes: Data, beside isBeside: Bool
    ) async throws(CarrierFailure) -> Publication {
        let outcome = try await base.publish(name, bytes, beside: isBeside)
        switch name {
        case .segment, .entry: script.withLock { $0.revision += 1 }
        default: break
        }
        return outcome
    }

    func publish(
        _ name: ObjectName, _ bytes: Data, ifUnchangedSince revision: UInt64
    ) async throws(CarrierFailure) -> ConfirmedPublication {
        let (answer, meanwhile) = script.withLock { script in
            defer { script.meanwhile = nil }
            return (script.answers.isEmpty ? nil : script.answers.removeFirst(), script.meanwhile)
        }
        do { try await meanwhile?() } catch { throw CarrierFailure(.inputOutput, "\(error)") }
        switch answer {
        case .refuses:
            script.withLock { $0.refused.append((name, bytes)) }
            return .changedSince
        case .saysNothing: return .unknown
        case .fails(let failure): throw failure
        case .isSilent:
            try await keepWaiting()
            return .unknown
        case .refusesAndKeeps:
            _ = try await publish(name, bytes)
            return .changedSince
        case .saysNothingAndKeeps:
            _ = try await publish(name, bytes)
            return .unknown
        case nil: break
        }
        if try await base.read([name]).objects.contains(where: { $0.bytes == bytes }) { return .created }
        guard script.withLock({ $0.revision == revision }) else { return .changedSince }
        _ = try await publish(name, bytes)
        script.withLock { $0.confirmedCount += 1 }
        return .created
    }

    private func keepWaiting() async throws(CarrierFailure) {
        for await _ in AsyncStream<Void>(unfolding: { try? await Task.sleep(for: .seconds(86_400)) }) {
            if Task.isCancelled { break }
        }
        throw Self.silence
    }
}
