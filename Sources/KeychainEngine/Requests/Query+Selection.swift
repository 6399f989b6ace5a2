// SPDX-License-Identifier: Apache-2.0
// Converts a request to a selection, for searching, updating and deleting.

extension Query {
    func searchSelection(accessGroups: AccessGroups, dialect: Engine.Dialect) throws(KeychainError) -> Selection {
        let groups = try accessGroups.readableGroups()
        let schema = try resolvedClass().schema
        try checkNoItemList()
        var selection = try selection(schema, dialect: dialect)
        if case .string(let group) = selection.conditions[.accessGroup] { try accessGroups.checkMayRead(group) }
        if selection.id?.id != nil, !selection.conditions.isEmpty {
            throw KeychainError(.invalidParameter, "A search by persistent reference takes no attributes.")
        }
        selection.host = try host(schema.itemClass)
        selection.skipsConstrained = authenticationUI == .skip
        selection.namesConstrained = namesProtected && !readsValues
        selection.leavesOutLocked = leavesOutLocked
        selection.moveGroup(orSearch: groups)
        return selection
    }

    func updateSelection(accessGroups: AccessGroups, dialect: Engine.Dialect) throws(KeychainError) -> Selection {
        try checkNoItemList()
        try checkNoSearchKeys(dialect, returns: true)
        return try changeSelection(accessGroups: accessGroups, dialect: dialect)
    }

    func deleteSelection(accessGroups: AccessGroups, dialect: Engine.Dialect) throws(KeychainError) -> Selection {
        try checkNoSearchKeys(dialect)
        return try changeSelection(accessGroups: accessGroups, dialect: dialect)
    }

    private func changeSelection(
        accessGroups: AccessGroups, dialect: Engine.Dialect
    ) throws(KeychainError) -> Selection {
        let groups = try accessGroups.writableGroups()
        try checkDoesNotSkip()
        let schema = try resolvedClass().schema
        try checkWritableGroup(accessGroups)
        var selection = try selection(schema, dialect: dialect)
        if let reference = selection.id, reference.id == nil, !selection.conditions.isEmpty {
            throw KeychainError(.invalidParameter, "A 12-byte persistent reference takes no attributes beside it.")
        }
        selection.moveGroup(orSearch: groups)
        return selection
    }

    /// Apple compares the group as it was given, before any conversion. So a group that is not text is a foreign group.
    private func checkWritableGroup(_ accessGroups: AccessGroups) throws(KeychainError) {
        guard let given = attributes[.accessGroup] else { return }
        guard case .string(let group) = given else { throw AccessGroups.foreign }
        try accessGroups.checkMayWrite(group)
    }

    private func selection(_ schema: Schema, dialect: Engine.Dialect) throws(KeychainError) -> Selection {
        var conditions = try dropping(dialect).convertedAttributes(schema)
        if persistentReference == nil, conditions[.synchronizable] == nil, !synchronizableAny {
            conditions[.synchronizable] = .number(0)
        }
        return Selection(itemClass: schema.itemClass, id: persistentReference, conditions: conditions)
    }

    /// Removes the keys that macOS ignores before any check, even if their values have a wrong type.
    func dropping(_ dialect: Engine.Dialect) -> Query {
        guard dialect == .lenient else { return self }
        var rest = self
        rest.attributes[.modificationDate] = nil
        if persistentReference != nil { rest.attributes[.synchronizable] = nil }
        return rest
    }

    /// The host criterion. Criteria for certificates are left to ``CertificateCriteria``, and have no effect on most others.
    private func host(_ itemClass: ItemClass) throws(KeychainError) -> String? {
        var host: String?
        for criterion in matchCriteria {
            switch criterion {
            case .ignored: break
            case .host(let name) where itemClass == .internetPassword: host = name
            case .certificate where itemClass == .certificate: try checkDecidesCriteria()
            case .certificate(.policy), .certificate(.issuers), .host: throw Self.unsupportedCriterion
            case .certificate: break
            }
        }
        return host
    }

    private static let unsupportedCriterion = KeychainError(
        .unsupported, "This match key is not supported for this class. Search by attributes.")
}

extension Selection {
    /// If a group is named, only this group is searched. Otherwise all groups of the caller are searched.
    fileprivate mutating func moveGroup(orSearch groups: [String]?) {
        if case .string(let group) = conditions[.accessGroup] {
            self.groups = [group]
            conditions[.accessGroup] = nil
        } else {
            self.groups = groups
        }
    }
}
