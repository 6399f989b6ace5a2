// SPDX-License-Identifier: Apache-2.0
// Name constraints (RFC 5280, 4.2.1.10): which names an authority allows below it.

#if Certificates && os(Linux)
    import KeychainKeys
    import SwiftASN1
    import X509

    /// The number of comparisons that are left to an evaluation. Names that are not compared are not allowed.
    final class Comparisons {
        private var left = 250_000

        func take(_ count: Int) -> Bool {
            guard count <= left else { return false }
            left -= count
            return true
        }
    }

    /// The constraints of an authority.
    struct NameChecks {
        private let permitted: [GeneralName]
        private let excluded: [GeneralName]
        /// The number of constraints. Long ones take the time of several short ones.
        private let size: Int

        /// - Returns: `nil` for a certificate without constraints.
        init?(_ authority: Link) {
            guard let constraints = authority.extensions.constraints else { return nil }
            (permitted, excluded) = (constraints.permittedSubtrees, constraints.excludedSubtrees)
            size = max(permitted.count + excluded.count, authority.content.der.count / 128)
        }

        /// Whether all names of a certificate are allowed: each is in no excluded subtree, and, if subtrees of its form are
        /// permitted, in one of them. Constraints on forms that are not compared allow no name of that form.
        func allow(_ link: Link, _ comparisons: Comparisons) -> Bool {
            let names = max(link.extensions.names.count + 1, link.content.der.count / 128)
            guard comparisons.take(names * size) else { return false }
            return Self.names(of: link)?.allSatisfy(allow) ?? false
        }

        private func allow(_ name: GeneralName) -> Bool {
            if excluded.contains(where: { Self.isWithin(name, $0) ?? $0.hasForm(of: name) }) { return false }
            let ofForm = permitted.filter { $0.hasForm(of: name) }
            return ofForm.isEmpty || ofForm.contains { Self.isWithin(name, $0, isPermission: true) ?? false }
        }

        /// The alternative names, and the subject with its e-mail addresses; `nil` if these cannot be read.
        private static func names(of link: Link) -> [GeneralName]? {
            guard let subject = link.parsed?.subject else { return nil }
            var names = link.extensions.names
            if !subject.isEmpty { names.append(.directoryName(subject)) }
            for attribute in subject.joined() where attribute.type == .RDNAttributeType.emailAddress {
                guard let text = String(attribute.value) else { return nil }
                names.append(.rfc822Name(text))
            }
            return names
        }

        /// Whether a name is in a subtree; `nil` for other forms, and for forms that are not compared. A malformed name is
        /// in every excluded subtree, and in no permitted one.
        private static func isWithin(_ name: GeneralName, _ subtree: GeneralName, isPermission: Bool = false) -> Bool? {
            switch (name, subtree) {
            case (.dnsName(let name), .dnsName(let subtree)): isHost(name, subtree, isPermission)
            case (.rfc822Name(let name), .rfc822Name(let subtree)): isMailbox(name, subtree) ?? !isPermission
            case (.uniformResourceIdentifier(let name), .uniformResourceIdentifier(let subtree)):
                host(of: name).map { isMember($0, subtree) } ?? !isPermission
            case (.ipAddress(let name), .ipAddress(let range)): isAddress(name.bytes, range.bytes) ?? !isPermission
            case (.directoryName(let name), .directoryName(let subtree)):
                name.count >= subtree.count && zip(name, subtree).allSatisfy { $0.comparable == $1.comparable }
            default: nil
            }
        }

        private static func host(_ text: some StringProtocol) -> String {
            let host = text.lowercased()
            return host.hasSuffix(".") ? String(host.dropLast()) : host
        }

        /// A subtree of hosts is a host and everything below it.
        private static func isHost(_ name: String, _ subtree: String, _ isPermission: Bool) -> Bool {
            let (name, tree) = (host(name), host(subtree))
            if tree.isEmpty { return true }
            if tree.hasPrefix(".") {
                let host = tree.dropFirst()
                return name.hasSuffix(tree) || (!isPermission && (name == host || covers(name, host)))
            }
            return name == tree || name.hasSuffix("." + tree) || (!isPermission && covers(name, tree))
        }

        /// Whether a wildcard stands for hosts of an excluded subtree below it.
        private static func covers(_ name: String, _ tree: some StringProtocol) -> Bool {
            name.hasPrefix("*.") && tree.hasSuffix(name.dropFirst())
        }

        /// A subtree of mailboxes and addresses is one host, or with a dot in front everything below it.
        private static func isMember(_ host: String, _ subtree: String) -> Bool {
            let tree = Self.host(subtree)
            return tree.isEmpty || (tree.hasPrefix(".") ? host.hasSuffix(tree) : host == tree)
        }

        private static func isMailbox(_ name: String, _ subtree: String) -> Bool? {
            let parts = name.split(separator: "@", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
            let wanted = subtree.split(separator: "@", omittingEmptySubsequences: false)
            if wanted.count == 2 { return parts[0] == wanted[0] && host(parts[1]) == host(wanted[1]) }
            return wanted.count == 1 ? isMember(host(parts[1]), subtree) : nil
        }

        /// The host of a URI; `nil` if it has none, or an address instead.
        private static func host(of uri: String) -> String? {
            guard let start = uri.firstRange(of: "://")?.upperBound else { return nil }
            let authority = uri[start...].prefix { !"/?#".contains($0) }
            let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
            let host = host(place.prefix { $0 != ":" })
            let isAddress = host.hasPrefix("[") || host.allSatisfy { $0.isNumber || $0 == "." }
            return isAddress ? nil : host
        }

        /// - Parameter range: An address and a mask of the same length.
        private static func isAddress(_ address: ArraySlice<UInt8>, _ range: ArraySlice<UInt8>) -> Bool? {
            guard [4, 16].contains(address.count), [8, 32].contains(range.count) else { return nil }
            guard range.count == 2 * address.count else { return false }
            let (base, mask) = (range.prefix(address.count), range.suffix(address.count))
            return zip(address, zip(base, mask)).allSatisfy { $0 & $1.1 == $1.0 & $1.1 }
        }
    }

    extension GeneralName {
        fileprivate func hasForm(of other: GeneralName) -> Bool { form == other.form }

        private var form: Int {
            switch self {
            case .otherName: 0
            case .rfc822Name: 1
            case .dnsName: 2
            case .x400Address: 3
            case .directoryName: 4
            case .ediPartyName: 5
            case .uniformResourceIdentifier: 6
            case .ipAddress: 7
            case .registeredID: 8
            }
        }
    }

    extension RelativeDistinguishedName {
        /// Types and values without case and runs of blanks: another way to write a name does not escape a constraint.
        fileprivate var comparable: Set<[String]> {
            Set(
                map { attribute in
                    let text = String(attribute.value) ?? "\(attribute.value)"
                    let words = text.lowercased().split { $0 == " " || $0 == "\t" }
                    return ["\(attribute.type)", words.joined(separator: " ")]
                })
        }
    }
#endif
