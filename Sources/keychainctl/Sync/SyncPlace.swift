// SPDX-License-Identifier: Apache-2.0
// Where the machines of a ring exchange objects: the options, and the carriers that this build has.

import ArgumentParser
import Foundation
import KeychainKit
import KeychainSync
import KeychainSyncEtcd
import KeychainVault
import SecretMemory

struct SyncPlace: ParsableArguments {
    @Option(
        help: ArgumentHelp("The folder that all machines see. Something else carries it.", valueName: "path"),
        completion: .directory)
    var folder: String?
    @Option(
        name: .customLong("etcd"),
        help: ArgumentHelp("Addresses of an etcd instead, separated by commas: https://HOST:PORT.", valueName: "URL"))
    var etcd: String?
    @Option(
        name: .customLong("etcd-ca"),
        help: ArgumentHelp("The certificates of the authorities of etcd's servers.", valueName: "file"),
        completion: .file())
    var authorities: String?
    @Option(
        name: .customLong("etcd-cert"), help: ArgumentHelp("The certificate of this machine.", valueName: "file"),
        completion: .file())
    var certificate: String?
    @Option(
        name: .customLong("etcd-key"), help: ArgumentHelp("The key of that certificate.", valueName: "file"),
        completion: .file())
    var key: String?
    @Option(name: .customLong("etcd-user"), help: ArgumentHelp("The user of etcd.", valueName: "name"))
    var user: String?
    @Option(
        name: .customLong("etcd-password-fd"),
        help: ArgumentHelp("Read the user's password from this open descriptor.", valueName: "number"))
    var passwordFd: String?
    @Option(
        name: .customLong("etcd-prefix"),
        help: ArgumentHelp("What all keys in etcd begin with; default: /.", valueName: "prefix"))
    var prefix: String?
    @Flag(name: .customLong("etcd-allow-http"), help: "Allow addresses of other machines that begin with http://.")
    var allowsHTTP = false

    func validate() throws {
        guard (folder == nil) != (etcd == nil) else { throw ValidationError("Give either --folder or --etcd.") }
        let others = [authorities, certificate, key, user, passwordFd, prefix]
        guard etcd != nil || others.allSatisfy({ $0 == nil }) && !allowsHTTP else {
            throw ValidationError("The options that begin with --etcd- need --etcd.")
        }
        guard (user == nil) == (passwordFd == nil) else {
            throw ValidationError("Give --etcd-user and --etcd-password-fd together.")
        }
        try Descriptors.check(["--etcd-password-fd": passwordFd])
    }

    func checked() throws(KeychainError) -> CarrierPlace {
        guard let etcd else { return .folder(try Self.resolved(folder ?? "", "folder")) }
        guard CarrierKinds.all.contains(where: { $0.scheme == EtcdPlace.scheme }) else {
            throw KeychainError(
                .unsupported,
                "This program was built without etcd. Build it with the trait: swift build -c release --product keychainctl --traits default,Etcd"
            )
        }
        do {
            return try place(etcd)
        } catch let error as KeychainError {
            throw error
        } catch {
            throw KeychainError(.invalidParameter, "\(error)")
        }
    }

    private func place(_ addresses: String) throws -> CarrierPlace {
        var place = EtcdPlace(endpoints: try EtcdPlace.endpoints(addresses))
        if let authorities { place.authorities = try Self.resolved(authorities, "file") }
        if let certificate { place.certificate = try Self.resolved(certificate, "file") }
        if let key { place.key = try Self.resolved(key, "file") }
        if let user, let descriptor = passwordFd.flatMap(Descriptors.number) {
            let password = try SecretInput.read(descriptor).withoutFinalNewline()
            let text = password.withUnsafeBytes { String(validating: $0, as: UTF8.self) }
            guard let text, !text.utf8.contains(0), !user.utf8.contains(0) else {
                throw KeychainError(.undecodableInput, "A user and a password of etcd are UTF-8 without zeros.")
            }
            (place.user, place.password) = (user, text)
        }
        if let prefix { place.prefix = prefix }
        place.allowsHTTP = allowsHTTP
        try place.check()
        return place.place
    }

    /// Commands of later, from other folders, use it too.
    private static func resolved(_ path: String, _ kind: String) throws(KeychainError) -> String {
        let path = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        guard let resolved = realpath(path, nil) else {
            let advice =
                kind == "folder" ? "Create it, or start the tool that shares it, and try again." : "Correct the path."
            throw KeychainError(.unavailable, "There is no \(kind) '\(path)'. \(advice)")
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}

enum CarrierKinds {
    /// Beside shared folders.
    static let all: [any CarrierKind] = {
        #if Etcd
            return [EtcdKind()]
        #else
            return []
        #endif
    }()
}

extension RingMember {
    /// With all carriers that this build has.
    static func ofTool(_ vault: Vault) -> RingMember { RingMember(vault, kinds: CarrierKinds.all) }
}
