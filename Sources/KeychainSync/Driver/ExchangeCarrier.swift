// SPDX-License-Identifier: Apache-2.0
// What a person is told if the carrier ends an exchange.

import Foundation
import KeychainSyncCore

/// The carrier of an exchange. Carriers do not know what becomes of changes that were not sent; the next exchange sends them.
struct ExchangeCarrier: Carrier {
    let carrier: any Carrier

    func list() async throws(CarrierFailure) -> Listing {
        do { return try await carrier.list() } catch { throw error.keepingChanges }
    }

    func read(_ names: [ObjectName]) async throws(CarrierFailure) -> CarrierReading {
        do { return try await carrier.read(names) } catch { throw error.keepingChanges }
    }

    func publish(_ name: ObjectName, _ bytes: Data, beside isBeside: Bool) async throws(CarrierFailure) -> Publication {
        do { return try await carrier.publish(name, bytes, beside: isBeside) } catch { throw error.keepingChanges }
    }

    func remove(_ names: [ObjectName]) async throws(CarrierFailure) {
        do { try await carrier.remove(names) } catch { throw error.keepingChanges }
    }

    func changes() -> AsyncStream<Void> { carrier.changes() }
}

extension CarrierFailure {
    fileprivate var keepingChanges: CarrierFailure { CarrierFailure(reason, message + " Unsent changes are kept.") }
}
