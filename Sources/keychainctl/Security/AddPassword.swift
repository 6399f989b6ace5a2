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
        var value = try value(call, options, valueLetters)
        defer { value?.wipe() }
        try naming(function) { () throws(KeychainError) in
            let engine = try call.session.engine
            try call.session.unlocking { () throws(KeychainError) in
                try store(attributes, keychain.group, value, isUpdate: options.has("U"), engine)
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

    private static func store(
        _ attributes: PasswordAttributes, _ group: String, _ value: Data?, isUpdate: Bool, _ engine: Engine
    ) throws(KeychainError) {
        let name = Query(attributes.itemClass, attributes.name(in: group))
        var item = name
        for (attribute, value) in attributes.others { item.attributes[attribute] = value }
        item.attributes[.label] = item.attributes[.label] ?? name.attributes[attributes.itemClass.placeAttribute]
        item.value = value ?? Data()
        guard isUpdate else { return _ = try engine.requests.add(item, accessGroups: .unrestricted) }
        // Without a value the existing one stays, and so do attributes that are not given.
        let changes = Changes(attributes.others, value: value)
        try engine.transaction(as: item) { [item] (requests) throws(KeychainError) in
            guard try requests.update(name, with: changes, accessGroups: .unrestricted) == 0 else { return }
            try requests.add(item, accessGroups: .unrestricted)
        }
    }
}

extension ItemClass {
    /// The service or the server, which is the label of an item without one.
    fileprivate var placeAttribute: Attribute { self == .internetPassword ? .server : .service }
}
