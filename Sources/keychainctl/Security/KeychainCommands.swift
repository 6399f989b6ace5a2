// SPDX-License-Identifier: Apache-2.0
// security list-keychains, default-keychain, login-keychain, create-keychain and delete-keychain.

import Foundation
import KeychainKit

enum KeychainCommands {
    // MARK: - The list

    static func list(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options("d:s0")
        let isUsers = try isUserDomain(options)
        guard options.has("s") else {
            guard options.words.isEmpty else { throw .usage() }
            return try show(isUsers ? read().searchList : [], options)
        }
        let keychains = try named(options.words, "SecKeychainSetSearchList")
        try change("SecKeychainSetSearchList", isUsers) { (list) throws(KeychainError) in
            for keychain in keychains { try list.learn(keychain) }
            list.search = keychains.map(\.path)
        }
    }

    static func defaultKeychain(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options("d:s0")
        let isUsers = try isUserDomain(options)
        guard options.words.count <= (options.has("s") ? 1 : 0) else { throw .usage() }
        guard options.has("s") else {
            guard isUsers else { throw SecurityFailure("SecKeychainCopyDomainDefault", -25307) }
            return try show([read().defaultOne], options)
        }
        let keychain = try named(options.words, "SecKeychainSetDefault").first
        try change("SecKeychainSetDefault", isUsers) { (list) throws(KeychainError) in
            if let keychain { try list.learn(keychain) }
            list.defaultKeychain = keychain?.path
        }
    }

    /// The login keychain is always the same group.
    static func login(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options("d:s0")
        guard try isUserDomain(options) else { throw SecurityFailure("SecKeychainCopyLogin", -25307) }
        guard options.has("s") else {
            guard options.words.isEmpty else { throw .usage() }
            return try show([.login], options)
        }
        guard let keychain = try named(options.words, "SecKeychainSetLogin").first, keychain.isLogin else {
            throw SecurityFailure(
                "SecKeychainSetLogin", SecurityStatus.unsupported,
                "The login keychain is always the group 'default'. To store items in another keychain by default: "
                    + "security default-keychain -s NAME")
        }
    }

    private static func show(_ keychains: [NamedKeychain], _ options: SecurityOptions) throws(SecurityFailure) {
        try naming("write") { () throws(KeychainError) in
            if options.isJSON { return try Output.write(JSONOutput.line(keychains.map(\.path))) }
            let lines = keychains.map { options.has("0") ? $0.path + "\0" : "    \"\($0.path.escaped)\"\n" }
            try Output.write(lines.joined())
        }
    }

    // MARK: - Creating and deleting

    static func create(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options("Pp:")
        var names = options.words
        if names.isEmpty {
            names = [try naming("create") { () throws(KeychainError) in try call.session.name("keychain to create: ") }]
        }
        if options["p"] != nil { call.session.warnOfArgument("the password") }
        for keychain in try named(names, "SecKeychainCreate") { try create(keychain, call) }
        call.session.say(
            "security: A keychain has no password of its own here: the vault's secrets open it. See: keychainctl protect list"
        )
    }

    /// A group that has items already is a keychain that exists.
    private static func create(_ keychain: NamedKeychain, _ call: SecurityCall) throws(SecurityFailure) {
        let function = "SecKeychainCreate \(keychain.path.escaped)"
        guard try !read().knows(keychain), try call.everything(ItemClass.allCases, in: [keychain]).isEmpty else {
            throw SecurityFailure(function, SecurityStatus.duplicateKeychain)
        }
        try change(function, true) { (list) throws(KeychainError) in
            try list.learn(keychain)
            list.search = list.searchList.map(\.path) + [keychain.path]
        }
    }

    static func delete(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options("")
        guard !options.words.isEmpty else { throw .usage() }
        for name in options.words { try delete(call.keychain(name, "SecKeychainDelete"), call) }
    }

    private static func delete(_ keychain: NamedKeychain, _ call: SecurityCall) throws(SecurityFailure) {
        let function = "SecKeychainDelete \(keychain.path.escaped)"
        guard !keychain.isLogin else {
            throw SecurityFailure(
                function, SecurityStatus.unsupported,
                "The login keychain holds the items of all programs, so it cannot be deleted. To remove items: "
                    + "keychainctl delete --help")
        }
        try naming(function) { () throws(KeychainError) in
            try call.session.unlocking { () throws(KeychainError) in try forget(keychain, call) }
        }
    }

    /// The list is locked first, so that no items are removed while another program keeps it, or if it is damaged.
    private static func forget(_ keychain: NamedKeychain, _ call: SecurityCall) throws(KeychainError) {
        try KeychainListFile.change { (list) throws(KeychainError) in
            _ = try call.session.catalog.removeAll(matching: ItemFilter(accessGroup: keychain.group))
            list.forget(keychain)
        }
    }

    // MARK: - Arguments

    private static let domains = ["user", "system", "common", "dynamic"]

    /// - Returns: `false` for the other domains of macOS, which have no keychains here.
    private static func isUserDomain(_ options: SecurityOptions) throws(SecurityFailure) -> Bool {
        guard let name = options["d"] else { return true }
        guard !name.isEmpty, let domain = domains.first(where: { $0.hasPrefix(name) }) else {
            throw .usage("security: a domain is user, system, common or dynamic")
        }
        return domain == "user"
    }

    private static func named(_ names: [String], _ function: String) throws(SecurityFailure) -> [NamedKeychain] {
        var keychains: [NamedKeychain] = []
        for name in names {
            guard let keychain = NamedKeychain(name) else {
                throw SecurityFailure(function, SecurityStatus.invalidKeychain)
            }
            if !keychains.contains(keychain) { keychains.append(keychain) }
        }
        return keychains
    }

    private static func read() throws(SecurityFailure) -> KeychainList {
        try naming("SecKeychainCopySearchList") { () throws(KeychainError) in try KeychainListFile.read() }
    }

    private static func change(
        _ function: String, _ isUsers: Bool, _ body: (inout KeychainList) throws(KeychainError) -> Void
    ) throws(SecurityFailure) {
        guard isUsers else {
            throw SecurityFailure(function, SecurityStatus.unsupported, "Only the domain 'user' has keychains here.")
        }
        try naming(function) { () throws(KeychainError) in try KeychainListFile.change(body) }
    }
}
