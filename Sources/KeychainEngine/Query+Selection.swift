// SPDX-License-Identifier: Apache-2.0
// From a request to the selection that a store is asked for: searching, updating and deleting.

extension Query {
    func searchSelection(caller: Caller, dialect: Engine.Dialect) throws(KeychainError) -> Selection {
        let groups = try caller.readableGroups()
        let schema = try resolvedClass().schema
        try checkNoItemList()
        try checkReference(schema.itemClass)
        var selection = try selection(schema, dialect: dialect)
        if case .string(let group) = selection.conditions[.accessGroup] { try caller.checkMayRead(group) }
        if selection.id?.id != nil, !selection.conditions.isEmpty {
            throw KeychainError(.invalidParameter, "A search by persistent reference takes no attributes.")
        }
        selection.host = try host(schema.itemClass)
        selection.skipsConstrained = authenticationUI == .skip
        selection.namesConstrained = namesProtected && !returns.contains(.value)
        selection.moveGroup(orSearch: groups)
        return selection
    }

    func updateSelection(caller: Caller, dialect: Engine.Dialect) throws(KeychainError) -> Selection {
        try checkNoItemList()
        try checkNoSearchKeys(dialect, returns: true)
        return try changeSelection(caller: caller, dialect: dialect)
    }

    func deleteSelection(caller: Caller, dialect: Engine.Dialect) throws(KeychainError) -> Selection {
        try checkNoSearchKeys(dialect)
        return try changeSelection(caller: caller, dialect: dialect)
    }

    private func changeSelection(caller: Caller, dialect: Engine.Dialect) throws(KeychainError) -> Selection {
        let groups = try caller.writableGroups()
        try checkDoesNotSkip()
        let schema = try resolvedClass().schema
        try checkWritableGroup(caller)
        var selection = try selection(schema, dialect: dialect)
        if let reference = selection.id, reference.id == nil, !selection.conditions.isEmpty {
            throw KeychainError(.invalidParameter, "A 12-byte persistent reference takes no attributes beside it.")
        }
        selection.moveGroup(orSearch: groups)
        return selection
    }

    /// Apple looks at the group as given, before anything is converted, so other types than text are foreign groups.
    private func checkWritableGroup(_ caller: Caller) throws(KeychainError) {
        guard let given = attributes[.accessGroup] else { return }
        guard case .string(let group) = given else { throw Caller.foreign }
        try caller.checkMayWrite(group)
    }

    private func selection(_ schema: Schema, dialect: Engine.Dialect) throws(KeychainError) -> Selection {
        var conditions = try dropping(dialect).convertedAttributes(schema)
        if persistentReference == nil, conditions[.synchronizable] == nil, !synchronizableAny {
            conditions[.synchronizable] = .number(0)
        }
        return Selection(itemClass: schema.itemClass, id: persistentReference, conditions: conditions)
    }

    /// What macOS takes out of a dictionary before anything looks at it, values of wrong types included.
    func dropping(_ dialect: Engine.Dialect) -> Query {
        guard dialect == .lenient else { return self }
        var rest = self
        rest.attributes[.modificationDate] = nil
        if persistentReference != nil { rest.attributes[.synchronizable] = nil }
        return rest
    }

    func checkReference(_ itemClass: ItemClass) throws(KeychainError) {
        guard returns.contains(.reference), itemClass == .key || itemClass == .certificate else { return }
        throw KeychainError(.unsupported, "Returning key and certificate objects is not supported yet. Ask for data.")
    }

    /// The host criterion; refuses criteria that would need the evaluation of certificates.
    private func host(_ itemClass: ItemClass) throws(KeychainError) -> String? {
        var host: String?
        for criterion in matchCriteria {
            switch criterion {
            case .ignored: break
            case .host(let name) where itemClass == .internetPassword: host = name
            case .certificate(.policy), .certificate(.issuers), .host: throw Self.unsupportedCriterion
            case .certificate: if itemClass == .certificate { throw Self.unsupportedCriterion }
            }
        }
        return host
    }

    private static let unsupportedCriterion = KeychainError(
        .unsupported, "This match key is not supported for this class. Search by attributes.")
}

extension Selection {
    /// A named group narrows the search to itself; otherwise all the caller's groups are searched.
    fileprivate mutating func moveGroup(orSearch groups: [String]?) {
        if case .string(let group) = conditions[.accessGroup] {
            self.groups = [group]
            conditions[.accessGroup] = nil
        } else {
            self.groups = groups
        }
    }
}
