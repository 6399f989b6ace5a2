// SPDX-License-Identifier: Apache-2.0
// What the tool reads besides imports: settings, files of references, requests of git and docker, one-time passwords.

import Foundation
import KeychainKit

@testable import KeychainEngine
@testable import keychainctl

enum ToolInput {
    private static let parsers: [@Sendable (Data) -> Void] = [
        members, docker, dockerRequest, keychainList, history, field, gitRequest, template, variables, oneTimePassword,
    ]

    /// Two of the parsers look for their files where the environment says.
    static func prepare() {
        for folder in ["docker", "swift-keychain"] { mkdir(Scratch.folder + "/" + folder, 0o700) }
        setenv("DOCKER_CONFIG", Scratch.folder + "/docker", 1)
        setenv("XDG_CONFIG_HOME", Scratch.folder, 1)
    }

    static func any(_ bytes: Data) {
        var input = FuzzInput(bytes)
        let parser = input.element(of: parsers)
        parser(input.rest)
    }

    // MARK: - JSON

    private static func members(_ bytes: Data) {
        guard let whole = JSONMembers(Array(bytes)) else { return }
        var end = 0
        for member in whole.members {
            require(member.range.lowerBound >= end, "members are in their order")
            require(member.range.upperBound == member.value.upperBound, "a member ends with its value")
            end = member.range.upperBound
        }
        guard isObject(whole.bytes) else { return }
        let count = whole.members.count
        for member in whole.members.prefix(8) {
            let rest = whole.removing(member)
            require(isObject(rest) && JSONMembers(rest)?.members.count == count - 1, "one member was removed")
        }
        let more = whole.adding("\"fuzz\": 1")
        require(isObject(more) && JSONMembers(more)?.members.count == count + 1, "one member was added")
    }

    /// As docker's file is checked before it is changed.
    private static func isObject(_ bytes: [UInt8]) -> Bool {
        let isText = String(validating: bytes, as: UTF8.self) != nil && bytes.first != 0xEF && !bytes.contains(0)
        return isText && (try? JSONSerialization.jsonObject(with: Data(bytes))) is [String: Any]
    }

    private static func docker(_ bytes: Data) {
        _ = Scratch.write(bytes, "docker/config.json")
        guard let before = try? DockerConfiguration(), (try? before.add()) != nil else { return }
        guard let added = try? DockerConfiguration() else { fatalError("broken promise: what is written can be read") }
        require(added.isInstalled, "the entry was added")
        require(added.plainServers == before.plainServers, "everything else stays")
        guard (try? added.remove()) != nil else { return }
        guard let after = try? DockerConfiguration() else { fatalError("broken promise: what is written can be read") }
        require(!after.isInstalled && after.ownRegistries.isEmpty, "the entries were removed")
        require(after.plainServers == before.plainServers, "everything else stays")
    }

    private static func dockerRequest(_ bytes: Data) { _ = try? DockerCredentials(bytes) }

    private static func keychainList(_ bytes: Data) {
        _ = Scratch.write(bytes, "swift-keychain/security.json")
        guard let before = try? KeychainListFile.read() else { return }
        _ = before.searchList + [before.defaultOne]
        let isWritten: Void? = try? KeychainListFile.change { (_) throws(KeychainError) in }
        guard isWritten != nil else { return }
        guard let after = try? KeychainListFile.read() else { fatalError("broken promise: the list can be read") }
        let isSame = after.search == before.search && after.known == before.known && after.timeout == before.timeout
        require(isSame && after.defaultKeychain == before.defaultKeychain, "a list is read as it was written")
    }

    private static func history(_ bytes: Data) {
        guard let settings = try? HistorySettings.read(StoredSettings(text: bytes)) else { return }
        require((1...HistorySettings.mostVersions).contains(settings.versions), "the number of versions is limited")
        require((1...HistorySettings.mostDays).contains(settings.days), "the number of days is limited")
        for today in [0, 20_000, 40_000] {
            var after = settings
            require((after.pass(to: today) ?? 0..<0).count <= 400, "a sweep goes through few days")
            require((after.takeDaysAhead(on: today)?.lowerBound ?? .max) > today, "the days to come are after today")
            let text = try? JSONEncoder().encode(after)
            let read = text.flatMap { try? HistorySettings.read(StoredSettings(text: $0)) }
            require(read == after, "settings that were changed are read as they were")
        }
    }

    private static func field(_ bytes: Data) {
        var input = FuzzInput(bytes)
        let way = (0..<Int(input.byte() & 3)).map { _ in input.text() }
        guard let found = try? JSONField.bytes(at: way, in: input.rest) else { return }
        require(String(validating: found, as: UTF8.self) != nil, "a field is text")
        require(found.count <= max(20, input.rest.count), "a field is not longer than its value, or a number")
    }

    // MARK: - Lines and addresses

    private static func gitRequest(_ bytes: Data) {
        guard let request = try? GitRequest(bytes) else { return }
        _ = try? request.place
        require(request.expiry ?? 0 >= 0, "a time is not negative")
        let more = try? GitRequest(bytes + Data("\n\nhost=fuzz\npassword=fuzz\n".utf8))
        require(more?.host == request.host && more?.password == request.password, "a request ends at an empty line")
    }

    private static func template(_ bytes: Data) {
        do throws(KeychainError) {
            _ = try Template(bytes)
        } catch {
            require(error.message.utf8.count < 500, "an error does not quote a template")
        }
    }

    private static func variables(_ bytes: Data) {
        guard let file = try? EnvironmentFile(path: Scratch.write(bytes, "variables")) else { return }
        for variable in file.variables {
            require(VariableName.checked(variable.name.utf8) == variable.name, "a variable has a name")
            require(!variable.value.contains(0) && !variable.value.contains(10), "a value is one line")
        }
    }

    private static func oneTimePassword(_ bytes: Data) {
        guard let url = try? OTPAuthURL(bytes) else { return }
        switch url.kind {
        case .time(let period):
            require(period > 0, "a code has a period")
            require(url.code.code(1_700_000_000 / period).utf8.count == url.code.digits, "a code has its digits")
        case .counter(let counter):
            require(url.code.code(counter).utf8.count == url.code.digits, "a code has its digits")
            guard let next = url.advanced() else { return require(counter == .max, "a counter advances") }
            guard let again = try? OTPAuthURL(next), case .counter(counter + 1) = again.kind else {
                fatalError("broken promise: a counter advances by one")
            }
            require(again.code.secret == url.code.secret, "nothing else changes")
        }
    }
}

/// A vault with nothing but the settings of the history.
private struct StoredSettings: ItemOperations {
    let text: Data

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        var attributes = Attributes()
        attributes[.comment] = .data(text)
        let item = Item(
            itemClass: .genericPassword, attributes: attributes, accessControl: AccessControl(.always), value: nil)
        return SelectedItems(items: [StoredItem(id: UUID(), version: 1, item: item)])
    }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        throw Self.readOnly
    }

    func update(
        _ selection: Selection, _ authorization: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems { throw Self.readOnly }

    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        throw Self.readOnly
    }

    private static let readOnly = KeychainError(.unsupported, "The settings are only read.")
}
