// SPDX-License-Identifier: Apache-2.0
// Checks the class and converts the attributes of a request: the rules that all four calls share.

extension Query {
    /// The class of the request, from `kSecClass` or from the persistent reference.
    func resolvedClass() throws(KeychainError) -> ItemClass {
        if concernsIdentities { throw .identityIsTwoItems }
        guard let resolved = itemClass ?? persistentReference?.itemClass else {
            throw KeychainError(.invalidParameter, "The request names no class. Give one (kSecClass).")
        }
        if let persistentReference, persistentReference.itemClass != resolved || persistentReference.isOfIdentity {
            throw KeychainError(.noSuchClass, "The persistent reference belongs to another class.")
        }
        return resolved
    }

    /// Whether the result needs the values of items. Objects are made from them.
    var readsValues: Bool {
        returns.contains(.value)
            || returns.contains(.reference)
                && (isForIdentities || (itemClass ?? persistentReference?.itemClass)?.hasObjects == true)
    }

    /// The attributes, each known to the class and converted to its kind.
    func convertedAttributes(_ schema: Schema) throws(KeychainError) -> Attributes {
        var converted = Attributes()
        for (attribute, value) in attributes {
            let rule = try schema.rule(for: attribute)
            let value = try rule.kind.convert(value, for: attribute)
            _ = converted.appendInOrder(attribute, value)
        }
        try checkAccessible(converted)
        try Self.checkSharingGroup(converted)
        return converted
    }

    /// `kSecAttrAccessible` and `kSecAttrAccessControl` may be used together only if they agree.
    private func checkAccessible(_ attributes: Attributes) throws(KeychainError) {
        guard let given = attributes[.accessible] else { return }
        guard let accessibility = given.accessibility else {
            if given == .string("f") { return }  // "until reboot": known to Apple, carried by no item
            throw KeychainError(.invalidParameter, "That is not an accessibility class (kSecAttrAccessible…).")
        }
        try accessControl?.checkAgrees(with: accessibility)
    }

    private static func checkSharingGroup(_ attributes: Attributes) throws(KeychainError) {
        guard let group = attributes[.sharingGroup], group != .string("") else { return }
        if attributes.isSynchronizable {
            throw KeychainError(.invalidParameter, "A sharing group and `synchronizable` exclude each other.")
        }
        throw KeychainError(.missingEntitlement, "Sharing groups need an entitlement that no program here has.")
    }

    /// Only a search may skip items that require authentication.
    func checkDoesNotSkip() throws(KeychainError) {
        guard authenticationUI != .skip else {
            throw KeychainError(.invalidParameter, "Skipping protected items is possible only in a search.")
        }
    }

    func checkNoItemList() throws(KeychainError) {
        guard !usesItemList else {
            throw KeychainError(.invalidParameter, "Lists of items (kSecUseItemList) are not supported.")
        }
    }

    /// In the strict dialect, keys that only a search understands are an error elsewhere.
    func checkNoSearchKeys(_ dialect: Engine.Dialect, returns: Bool = false) throws(KeychainError) {
        guard dialect == .strict else { return }
        guard limit == nil, matchCriteria.isEmpty, !returns || self.returns.isEmpty else {
            throw KeychainError(.invalidParameter, "Match and return keys are allowed only in a search.")
        }
    }
}

extension Schema {
    /// - Throws: `noSuchAttribute`, or the reason why requests may not use the attribute.
    func rule(for attribute: Attribute) throws(KeychainError) -> Rule {
        guard let rule = self[attribute] else {
            throw KeychainError(.noSuchAttribute, "Class '\(itemClass.rawValue)' has no attribute '\(attribute)'.")
        }
        switch rule.handling {
        case .ordinary: return rule
        case .entitled:
            throw KeychainError(
                .missingEntitlement, "Attribute '\(attribute)' needs an entitlement that no program here has.")
        case .forbidden:
            throw KeychainError(.invalidParameter, "Attribute '\(attribute)' is not accepted from callers.")
        }
    }
}

extension AttributeValue {
    var accessibility: Accessibility? {
        if case .string(let name) = self { Accessibility(rawValue: name) } else { nil }
    }
}

extension Attributes {
    /// Apple treats any number except zero as true, and any text as false.
    var isSynchronizable: Bool {
        if case .number(let number) = self[.synchronizable] { number != 0 } else { false }
    }
}
