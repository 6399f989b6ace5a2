// SPDX-License-Identifier: Apache-2.0
// From a caller's dictionary to a typed query: match keys, and the keys that say how a call is carried out.

import Foundation
import KeychainEngine

// MARK: - kSecMatch…

extension QueryParser {
    /// The match keys that macOS takes out of an update or a deletion. Others would widen what is changed if they were
    /// dropped too, and macOS refuses them.
    private static let droppedFromChanges: Set<String> = [
        "m_Policy", "m_ItemList", "m_SearchList", "m_Issuers", "m_EmailAddressIfPresent", "m_SubjectContains",
        "m_CaseInsensitive", "m_TrustedOnly", "m_ValidOnDate",
    ]

    /// Whether match keys have no effect; Apple's own addition would report success and store nothing.
    private var dropsMatchKeys: Bool { operation != .copyMatching && dialect == .lenient }

    mutating func takeLimit(_ value: Any) throws(KeychainError) {
        guard !dropsMatchKeys else { return }
        query.limit = try Query.Limit(entry: value)
    }

    mutating func takeMatch(_ name: String, _ value: Any) throws(KeychainError) {
        guard dropsMatchKeys else {
            query.matchCriteria.append(try Query.MatchCriterion(name, entry: value))
            return
        }
        if operation.changesItems, !Self.droppedFromChanges.contains(name) {
            throw KeychainError(.invalidParameter, "Match key '\(name)' has a meaning only in a search.")
        }
    }
}

extension Query.Limit {
    fileprivate init(entry: Any) throws(KeychainError) {
        switch entry as? String {
        case "m_LimitOne": self = .one
        case "m_LimitAll": self = .all
        default: self = try Self.count(entry)
        }
    }

    /// A count of one means a single object, as Apple reads it; minus one is how SQL spells no limit.
    private static func count(_ entry: Any) throws(KeychainError) -> Query.Limit {
        switch try integer(entry) {
        case -1: .all
        case 1: .one
        case let count? where count >= 0: .atMost(Int(clamping: count))
        default: throw .invalidValue("kSecMatchLimit", "kSecMatchLimitOne, kSecMatchLimitAll or a count")
        }
    }
}

extension Query.MatchCriterion {
    /// Unknown match keys are let pass, as Apple does.
    fileprivate init(_ name: String, entry: Any) throws(KeychainError) {
        switch name {
        case "m_HostOrSubdomainOfHost":
            guard let host = entry as? String else { throw .invalidValue(name, "a string") }
            self = .host(host)
        case "m_Policy":
            _ = try isObject(entry, for: name)
            self = .certificate(.policy)
        case "m_Issuers":
            guard entry is [Any] else { throw .invalidValue(name, "an array") }
            self = .certificate(.issuers)
        case "m_ValidOnDate":
            guard entry is Date || entry is NSNull else { throw .invalidValue(name, "a date or null") }
            self = .certificate(.validOnDate)
        case "m_TrustedOnly":
            guard let isAsked = exactBool(entry) else { throw .invalidValue(name, "a Boolean") }
            self = isAsked ? .certificate(.trustedOnly) : .ignored
        case "m_EmailAddressIfPresent":
            guard entry is String else { throw .invalidValue(name, "a string") }
            self = .certificate(.emailAddress)
        default:
            self = .ignored
        }
    }
}

// MARK: - kSecUse…

extension QueryParser {
    mutating func takeUse(_ name: String, _ value: Any) throws(KeychainError) {
        switch name {
        case "u_AuthUI": authenticationUI = Self.authenticationUI(value)
        case "u_NoAuthUI": refusesInteraction = exactBool(value) ?? false
        case "u_AuthCtx": try takeContext(value)
        case "u_OpPrompt": query.operationPrompt = Self.prompt(value)
        case "u_CredRef":
            guard value is Data else { throw .invalidValue("u_CredRef", "data") }
            hasCredential = true
        case "u_ItemList": query.usesItemList = true
        // For Apple's own daemons.
        case "u_CallerName", "u_TokenRawItems", "u_Tomb": break
        case "u_Keychain" where dialect == .lenient: break
        case "u_SystemKeychain", "u_SystemKeychainAlways":
            throw KeychainError(.missingEntitlement, "The system keychain needs an entitlement no program here has.")
        default: throw .unknownKey(name)
        }
    }

    /// What the user has proven, and what ends questions to them.
    private mutating func takeContext(_ value: Any) throws(KeychainError) {
        let context = try authenticationContext(value)
        query.context = context.authentication
        query.questions = context.questions
    }

    /// Text to show; anything else says nothing.
    private static func prompt(_ value: Any) -> String? {
        guard let text = value as? String, !text.isEmpty else { return nil }
        return text
    }

    /// Anything but the two constants that restrict, of whatever type, allows interaction.
    private static func authenticationUI(_ value: Any) -> Query.AuthenticationUI {
        switch value as? String {
        case "u_AuthUIF": .fail
        case "u_AuthUIS": .skip
        default: .allow
        }
    }
}
