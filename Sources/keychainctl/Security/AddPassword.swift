// SPDX-License-Identifier: Apache-2.0
// security add-generic-password and add-internet-password.

import Foundation
import KeychainEngine
import KeychainKit

enum AddPassword {
    static func generic(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options(
            PasswordAttributes.genericLetters + "p:w:X:T:AU", mayLackValue: ["w", "p"])
        try add(call, options, .genericPassword, valueLetters: ["w", "p"])
    }

    static func internet(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options(
            PasswordAttributes.internetLetters + "w:X:T:AU", mayLackValue: ["w"])
        try add(call, options, .internetPassword, valueLetters: ["w"])
    }

    private static func add(
        _ call: SecurityCall, _ options: SecurityOptions, _ itemClass: ItemClass, valueLetters: [Unicode.Scalar]
    ) throws(SecurityFailure) {
        let attributes = try PasswordAttributes(options, itemClass)
        guard options["a"] != nil, options["s"] != nil, options.words.count <= 1 else { throw .usage() }
        let function = "SecKeychainItemCreateFromContent (\((options.words.first ?? "<default>").escaped))"
        let keychain = try call.keychain(options.words.first, function)
        // Without a keychain, macOS adds to the default one, and looks for an item to change in the search list.
        let searched = (options.words.isEmpty ? try call.searched([]) : []) + [keychain]
        let groups = options.has("U") ? searched.map(\.group) : nil
        var value = try value(call, options, valueLetters)
        defer { value?.wipe() }
        try naming(function) { () throws(KeychainError) in
            let engine = try call.session.engine
            try call.session.unlocking { () throws(KeychainError) in
                try store(attributes, keychain.group, value, updatingIn: groups, engine)
            }
        }
    }

    // MARK: - The value

    /// - Returns: `nil` if none was given.
    private static func value(
        _ call: SecurityCall, _ options: SecurityOptions, _ letters: [Unicode.Scalar]
    ) throws(SecurityFailure) -> Data? {
        if options.lacksValue != nil {
            return try call.session.newSecret(
                "password data for new item: ", again: "retype password for new item: ")
        }
        if let text = letters.compactMap({ options[$0] }).last {
            call.session.warnOfArgument("the password")
            return Data(text.utf8)
        }
        guard let digits = options["X"] else { return nil }
        call.session.warnOfArgument("the password")
        guard let value = Data(hexadecimal: digits) else {
            throw .usage("security: -X takes hexadecimal digits")
        }
        return value
    }

    // MARK: - The vault

    /// - Parameter groups: Where to look for an item to change; `nil`: an item that exists is an error.
    private static func store(
        _ attributes: PasswordAttributes, _ group: String, _ value: Data?, updatingIn groups: [String]?,
        _ engine: Engine
    ) throws(KeychainError) {
        let name = attributes.name(in: group)
        var item = Query(attributes.itemClass, name)
        for (attribute, value) in attributes.others { item.attributes[attribute] = value }
        item.attributes[.label] = item.attributes[.label] ?? name[attributes.itemClass.placeAttribute]
        item.value = value ?? Data()
        guard let groups else { return _ = try engine.requests.add(item, accessGroups: .unrestricted) }
        // Without a value the existing one stays, and so do attributes that are not given.
        let changes = Changes(attributes.others, value: value)
        try engine.transaction(as: item) { [item] (requests) throws(KeychainError) in
            guard let existing = try existing(attributes, groups, requests) else {
                return _ = try requests.add(item, accessGroups: .unrestricted)
            }
            _ = try requests.update(existing, with: changes, accessGroups: .unrestricted)
        }
    }

    /// The item that macOS would change: the first one that matches what is given, group by group. An item of exactly
    /// this name is the first of its group.
    private static func existing(
        _ attributes: PasswordAttributes, _ groups: [String], _ requests: Requests
    ) throws(KeychainError) -> Query? {
        for group in groups {
            var search = Query(attributes.itemClass, attributes.givenName(in: group))
            (search.limit, search.namesProtected) = (.all, true)
            let found = try requests.find(search, accessGroups: .unrestricted)
            guard let first = found.first(where: { attributes.isToUpdate(KeychainItem($0)) }) else { continue }
            var name = attributes.name(in: group)
            for (attribute, value) in first.item.attributes where name[attribute] != nil { name[attribute] = value }
            return Query(attributes.itemClass, name)
        }
        return nil
    }
}

extension ItemClass {
    /// The service or the server, which is the label of an item without one.
    fileprivate var placeAttribute: Attribute { self == .internetPassword ? .server : .service }
}
