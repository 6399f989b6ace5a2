// SPDX-License-Identifier: Apache-2.0
// The four item calls over any store: dictionary → query → engine → result and status.

// Folders, from top to bottom:
//
// - .: Apple's functions on items
// - Certificates: certificates and identities as objects, and the functions on them
// - Keys: keys as objects, and the functions on them
// - LocalAuthentication: Apple's names for authenticating the user
// - Services: the store and the access groups of the functions, and what protects an item
// - Status: Apple's status codes
// - Constants: Apple's keys of dictionaries, and their values
// - Names: Apple's names for Foundation's classes

#if os(Linux)
    package import Foundation
    import KeychainEngine

    extension Services {
        package func add(_ attributes: NSDictionary, _ result: UnsafeMutablePointer<AnyObject?>?) -> OSStatus {
            answer(result, isWritten: true) { () throws(KeychainError) in
                let query = try Query(attributes, for: .add, in: self)
                return try Answer(added(query), to: query, from: self)
            }
        }

        package func copyMatching(_ query: NSDictionary, _ result: UnsafeMutablePointer<AnyObject?>?) -> OSStatus {
            answer(result) { () throws(KeychainError) in
                let query = try Query(query, for: .copyMatching, in: self)
                return try Answer(found(query), to: query, from: self)
            }
        }

        package func update(_ query: NSDictionary, _ attributesToUpdate: NSDictionary) -> OSStatus {
            answer(nil) { () throws(KeychainError) in
                let query = try Query(query, for: .update, in: self)
                try engine.update(query, with: Changes(attributesToUpdate), accessGroups: accessGroups)
                return nil
            }
        }

        package func delete(_ query: NSDictionary) -> OSStatus {
            answer(nil) { () throws(KeychainError) in
                try engine.delete(Query(query, for: .delete, in: self), accessGroups: accessGroups)
                return nil
            }
        }

        /// Runs a call. As on macOS, the result variable is `nil` whenever there is no result. On iOS a failure leaves
        /// it unchanged, and so does a search that has nothing to return.
        private func answer(
            _ result: UnsafeMutablePointer<AnyObject?>?, isWritten: Bool = false,
            _ call: () throws(KeychainError) -> Answer?
        ) -> OSStatus {
            if engine.dialect == .lenient { result?.pointee = nil }
            do {
                // Nothing is built if the caller takes no result.
                let answer = try call()
                let object = result == nil ? nil : answer?.object
                if object != nil || isWritten { result?.pointee = object }
                return errSecSuccess
            } catch {
                return error.status
            }
        }
    }
#endif
