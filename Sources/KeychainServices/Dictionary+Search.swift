// SPDX-License-Identifier: Apache-2.0
// Parses a caller's dictionary into a typed query: match keys, and the keys that configure a call.

#if os(Linux)
    import Foundation
    import KeychainEngine
    import KeychainKeys

    // MARK: - kSecMatch…

    extension QueryParser {
        /// The match keys that macOS ignores in an update or a deletion. It refuses the others: ignoring them too would
        /// change more items than intended.
        private static let droppedFromChanges: Set<String> = [
            "m_Policy", "m_ItemList", "m_SearchList", "m_Issuers", "m_EmailAddressIfPresent", "m_SubjectContains",
            "m_CaseInsensitive", "m_TrustedOnly", "m_ValidOnDate",
        ]

        /// Whether match keys have no effect. Apple's addition would report success and store nothing.
        private var dropsMatchKeys: Bool { operation != .copyMatching && dialect == .lenient }

        mutating func takeLimit(_ value: Any) throws(KeychainError) {
            guard !dropsMatchKeys else { return }
            query.limit = try Query.Limit(entry: value)
        }

        mutating func takeMatch(_ name: String, _ value: Any) throws(KeychainError) {
            guard dropsMatchKeys else {
                if name == "m_Policy" { policy = try CertificatePolicies.policy(value, for: name) }
                query.matchCriteria.append(try Query.MatchCriterion(name, entry: value))
                return
            }
            if operation.changesItems, !Self.droppedFromChanges.contains(name) {
                throw KeychainError(.invalidParameter, "Match key '\(name)' is allowed only in a search.")
            }
        }
    }

    extension Query.Limit {
        fileprivate init(entry: Any) throws(KeychainError) {
            switch try UsualEntry(entry) {
            case .text("m_LimitOne"): self = .one
            case .text("m_LimitAll"): self = .all
            // A count of one means a single object, as in Apple's implementation. -1 means no limit, as in SQL.
            case .number(-1): self = .all
            case .number(1): self = .one
            case .number(let count) where count >= 0: self = .atMost(Int(clamping: count))
            default: throw .invalidValue("kSecMatchLimit", "kSecMatchLimitOne, kSecMatchLimitAll or a count")
            }
        }
    }

    extension Query.MatchCriterion {
        /// Unknown match keys are ignored, as by Apple.
        fileprivate init(_ name: String, entry: Any) throws(KeychainError) {
            switch name {
            case "m_HostOrSubdomainOfHost":
                guard let host = entry as? String else { throw .invalidValue(name, "a string") }
                self = .host(host)
            case "m_Policy": self = .certificate(.policy)
            case "m_Issuers":
                guard let names = entry as? [Data] else { throw .invalidValue(name, "an array of names as DER") }
                self = .certificate(.issuers(names.map { Certificate.normalizedName($0) ?? $0 }))
            case "m_ValidOnDate":
                guard entry is Date || entry is NSNull else { throw .invalidValue(name, "a date or null") }
                self = .certificate(.validOnDate(entry as? Date))
            case "m_TrustedOnly":
                guard let isAsked = exactBool(entry) else { throw .invalidValue(name, "a Boolean") }
                self = isAsked ? .certificate(.trustedOnly) : .ignored
            case "m_EmailAddressIfPresent":
                guard let address = entry as? String else { throw .invalidValue(name, "a string") }
                self = .certificate(.emailAddress(address))
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
                throw KeychainError(
                    .missingEntitlement, "The system keychain needs an entitlement no program here has.")
            default: throw .unknownKey(name)
            }
        }

        /// The authentication context, and what cancels its questions.
        private mutating func takeContext(_ value: Any) throws(KeychainError) {
            let context = try authenticationContext(value)
            query.context = context.authentication
            query.questions = context.questions
        }

        /// The text to show; other types are ignored.
        private static func prompt(_ value: Any) -> String? {
            guard let text = value as? String, !text.isEmpty else { return nil }
            return text
        }

        /// Only the two restricting constants restrict; any other value of any type allows interaction.
        private static func authenticationUI(_ value: Any) -> Query.AuthenticationUI {
            switch value as? String {
            case "u_AuthUIF": .fail
            case "u_AuthUIS": .skip
            default: .allow
            }
        }
    }
#endif
