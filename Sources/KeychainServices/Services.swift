// SPDX-License-Identifier: Apache-2.0
// The four item calls over any store: dictionary → query → engine → result and status.

package import Foundation
package import KeychainEngine

/// The four item calls for one caller and one store.
///
/// The public functions use the one that `shared` holds; tests make their own.
package struct Services: Sendable {
    package let engine: Engine
    package let caller: Caller

    package init(engine: Engine, caller: Caller) {
        self.engine = engine
        self.caller = caller
    }

    package func add(_ attributes: NSDictionary, _ result: UnsafeMutablePointer<AnyObject?>?) -> OSStatus {
        answer(result, isWritten: true) { () throws(KeychainError) in
            try engine.add(Query(attributes, for: .add, dialect: engine.dialect), caller: caller)
        }
    }

    package func copyMatching(_ query: NSDictionary, _ result: UnsafeMutablePointer<AnyObject?>?) -> OSStatus {
        answer(result) { () throws(KeychainError) in
            try engine.copyMatching(Query(query, for: .copyMatching, dialect: engine.dialect), caller: caller)
        }
    }

    package func update(_ query: NSDictionary, _ attributesToUpdate: NSDictionary) -> OSStatus {
        answer(nil) { () throws(KeychainError) in
            let query = try Query(query, for: .update, dialect: engine.dialect)
            try engine.update(query, with: Changes(attributesToUpdate), caller: caller)
            return .nothing
        }
    }

    package func delete(_ query: NSDictionary) -> OSStatus {
        answer(nil) { () throws(KeychainError) in
            try engine.delete(Query(query, for: .delete, dialect: engine.dialect), caller: caller)
            return .nothing
        }
    }

    /// Runs a call. As on macOS, the result variable is `nil` whenever there is no result. On iOS a failure leaves it as it
    /// was, and so does a search that has nothing to return.
    private func answer(
        _ result: UnsafeMutablePointer<AnyObject?>?, isWritten: Bool = false,
        _ call: () throws(KeychainError) -> Outcome
    ) -> OSStatus {
        if engine.dialect == .lenient { result?.pointee = nil }
        do {
            let object = try call().object(for: result)
            if object != nil || isWritten { result?.pointee = object }
            return errSecSuccess
        } catch {
            return error.status
        }
    }
}

extension Outcome {
    /// Nothing is built for a caller who takes no result.
    fileprivate func object(for result: UnsafeMutablePointer<AnyObject?>?) -> AnyObject? {
        result == nil ? nil : object
    }
}
