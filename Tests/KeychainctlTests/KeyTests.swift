// SPDX-License-Identifier: Apache-2.0
// `key`: private keys by tag, and openssl and ssh-keygen as the other side.

import Foundation
import KeychainTestSupport
import Testing

@Suite("key", .enabled(if: Tool.hasKeyPrograms, "openssl or ssh-keygen is not installed"))
struct KeyTests {
    let tool: Tool

    init() throws { tool = try Tool() }

    @Test func delete_whereThereIsNoVault_createsNone() throws {
        let run = try tool.run("key", "delete", "--tag", "t")
        #expect(run.status == 3)
        #expect(try FileManager.default.contentsOfDirectory(atPath: tool.home.path).isEmpty)
    }

    /// Runs a script that has to work, and returns what it printed.
    @discardableResult
    func shell(_ script: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        let run = try tool.shell("set -e; \(script)")
        try #require(run.status == 0, "\(script): \(run.everything)", sourceLocation: sourceLocation)
        return run.text
    }

    func keys() throws -> [[String: Any]] {
        let run = try tool.run("key", "list", "--json")
        try #require(run.status == 0, "\(run.errors)")
        return try #require(try JSONSerialization.jsonObject(with: run.output) as? [[String: Any]])
    }

    // MARK: - Generating and listing

    @Test(arguments: [
        ("p256", "p256", 256), ("p384", "p384", 384), ("p521", "p521", 521), ("ed25519", "ed25519", 256),
        ("x25519", "x25519", 256), ("rsa-2048", "rsa", 2048),
    ])
    func generate_ofEachType_isListedAndItsPublicKeyIsReadByOpenSSL(word: String, type: String, size: Int) throws {
        let run = try tool.run("key", "generate", word, "--tag", "t", "--label", "Signs")
        #expect(run.status == 0 && run.output.isEmpty, "\(run.errors)")
        let key = try #require(try keys().first)
        #expect(key["type"] as? String == type && key["size"] as? Int == size)
        #expect(key["tag"] as? String == "t" && key["label"] as? String == "Signs")
        #expect(run.errors.contains(key["fingerprint"] as? String ?? "x25519"))
        try shell("\"$CTL\" key public --tag t > pem; openssl pkey -pubin -in pem -pubout | cmp - pem")
    }

    @Test func list_ofKeys_showsTheFingerprintsOfSSHKeygenAndNoBytes() throws {
        try shell("\"$CTL\" key generate p256 --tag one 2>&1; \"$CTL\" key generate ed25519 --tag two 2>&1")
        let list = try shell("\"$CTL\" key list")
        for tag in ["one", "two"] {
            let line = try shell("\"$CTL\" key public --tag \(tag) --openssh > pub; ssh-keygen -lf pub")
            let words = line.split(separator: " ")
            #expect(words[2] == tag && list.contains(words[1]), "\(line)\(list)")
        }
        let secret = try shell("\"$CTL\" key export --tag two --clear-text").split(separator: "\n")[1]
        #expect(!list.contains(secret))
    }

    @Test func list_withoutKeys_isEmpty() throws {
        try tool.store()
        #expect(try tool.run("key", "list").everything.isEmpty)
        #expect(try keys().isEmpty)
    }

    @Test(arguments: [
        "rsa-1024", "rsa-2047", "rsa-2049", "rsa-16384", "rsa", "p224", "RSA-2048", "rsa-+2048", "rsa-02048",
        "rsa--2048",
    ])
    func generate_ofAnotherType_isUsage(type: String) throws {
        #expect(try tool.run("key", "generate", type, "--tag", "t").status == 64)
    }

    @Test func key_notExportable_signsAndIsNotExported() throws {
        try shell("\"$CTL\" key generate p256 --tag t --not-exportable 2>&1; \"$CTL\" key public --tag t > pem")
        try shell("printf message | \"$CTL\" key sign --tag t > sig; printf message > m")
        try shell("openssl dgst -sha256 -verify pem -signature sig m")
        let run = try tool.run("key", "export", "--tag", "t", "--clear-text")
        #expect(run.status == 14 && run.output.isEmpty && run.errors.contains("never given out"), "\(run.everything)")
        #expect(try keys().first?["token"] as? String == "keychain")
        // Only the key `u`, whose tag is dQ== in Base64.
        try shell("\"$CTL\" key generate p256 --tag u 2>&1")
        let archive = try tool.shell("\"$CTL\" export all --clear-text json && grep '\"class\"' all")
        #expect(archive.status == 0 && archive.text.split(separator: "\n").count == 1, "\(archive.everything)")
        #expect(archive.text.contains(#""class":"key""#) && archive.text.contains(#""atag":{"data":"dQ=="}"#))
        #expect(archive.errors.contains("Keys on a token, which nothing exports: 1."), "\(archive.errors)")
    }

    @Test(arguments: ["p384", "p256 --synchronizable", "p256 --replace", "p256 --token"])
    func generate_notExportableInAnotherWay_isUsage(words: String) throws {
        #expect(try tool.shell("\"$CTL\" key generate \(words) --tag t --not-exportable").status == 64)
    }

    @Test func generate_overAKey_keepsItUnlessItIsToBeReplaced() throws {
        try shell("\"$CTL\" key generate p256 --tag t --label Mine 2>&1")
        let old = try keys()
        #expect(try tool.run("key", "generate", "p384", "--tag", "t").status == 4)
        #expect(try keys().first?["fingerprint"] as? String == old.first?["fingerprint"] as? String)
        #expect(try tool.run("key", "generate", "p384", "--tag", "t", "--replace").status == 0)
        let new = try keys()
        #expect(new.count == 1 && new.first?["type"] as? String == "p384" && new.first?["label"] as? String == "Mine")
    }

    @Test func key_thatIsDeleted_isGone() throws {
        try shell("\"$CTL\" key generate p256 --tag t 2>&1; \"$CTL\" key delete --tag t")
        #expect(try keys().isEmpty)
        for words in ["delete --tag t", "public --tag t", "export --tag t --clear-text", "sign --tag t"] {
            #expect(try tool.shell("\"$CTL\" key \(words) < /dev/null").status == 3, "\(words)")
        }
    }

    /// What is not in the group that a new key comes into is another key.
    @Test(arguments: ["generate p384", "import"])
    func key_ofAnotherGroup_isNotReplaced(_ verb: String) throws {
        try shell("\"$CTL\" key generate ed25519 --tag t --access-group work 2>&1")
        try shell("openssl ecparam -name prime256v1 -genkey -noout | \"$CTL\" key \(verb) --tag t 2>&1")
        try shell("openssl ecparam -name prime256v1 -genkey -noout | \"$CTL\" key \(verb) --tag t --replace 2>&1")
        let groups = try keys().map { "\($0["accessGroup"] ?? "") \($0["type"] ?? "")" }
        #expect(groups.count == 2 && groups.contains("work ed25519") && groups.contains { $0.hasPrefix("default p") })
    }

    @Test func keys_ofOneTagInSeveralGroups_areNotDeletedWithoutTheGroup() throws {
        try shell("for group in default work; do \"$CTL\" key generate p256 --tag t --access-group $group 2>&1; done")
        try shell("\"$CTL\" key generate p256 --tag alone --access-group work 2>&1; \"$CTL\" key delete --tag alone")
        let refused = try tool.run("key", "delete", "--tag", "t")
        #expect(refused.status == 4 && refused.errors.contains("'default', 'work'"), "\(refused.errors)")
        #expect(try keys().count == 2)
        try shell("\"$CTL\" key delete --tag t --access-group work")
        #expect(try keys().map { $0["accessGroup"] as? String } == ["default"])
    }

    /// A composed "é" and a decomposed one.
    @Test func keys_inGroupsThatOnlyLookTheSame_areNotDeletedWithoutTheGroup() throws {
        for group in ["caf\u{E9}", "cafe\u{301}"] {
            try #require(try tool.run("key", "generate", "p256", "--tag", "t", "--access-group", group).status == 0)
        }
        #expect(try tool.run("key", "delete", "--tag", "t").status == 4)
        #expect(try keys().count == 2)
    }

    @Test func keys_ofBothKindsUnderOneTag_areDeletedTogetherOrTheMarkedAlone() throws {
        let making = "for mark in '' --synchronizable; do \"$CTL\" key generate ed25519 --tag t $mark 2>&1; done"
        try shell("\(making); \"$CTL\" key generate ed25519 --tag other 2>&1; \"$CTL\" key delete --tag t")
        #expect(try keys().map { $0["tag"] as? String } == ["other"])
        #expect(try tool.run("key", "delete", "--tag", "t").status == 3)
        try shell("\(making); \"$CTL\" key delete --tag t --synchronizable; \"$CTL\" key delete --tag other")
        #expect(try keys().map { $0["synchronizable"] as? Bool } == [false])
        try shell("\"$CTL\" key delete --tag t; \"$CTL\" key generate p256 --tag t --synchronizable 2>&1")
        try shell("\"$CTL\" key delete --tag t")
        #expect(try keys().isEmpty)
    }

    @Test func tag_isCompletedFromTheVault() throws {
        try shell("\"$CTL\" key generate p256 --tag one 2>&1")
        let script = "\"$CTL\" ---completion key sign -- --tag 4 0 keychainctl key sign --tag ''"
        #expect(try tool.shell(script).text == "one\n")
    }

    // MARK: - Importing

    @Test(arguments: [
        "openssl ecparam -name prime256v1 -genkey -noout -out key",
        "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out key",
        "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-521 -outform DER -out key",
        "openssl genrsa -traditional -out key 2048", "openssl genpkey -algorithm ED25519 -out key",
        "openssl genpkey -algorithm X25519 -out key",
    ])
    func import_ofAFileOfOpenSSL_hasItsPublicKey(command: String) throws {
        try shell("\(command) 2> /dev/null; \"$CTL\" key import key --tag t 2>&1; \"$CTL\" key public --tag t > pem")
        try shell("openssl pkey -in key -pubout | cmp - pem")
    }

    @Test(arguments: ["ed25519", "ecdsa -b 256", "ecdsa -b 521", "rsa -b 1024", "rsa -b 2048"])
    func import_ofAFileOfSSHKeygen_hasItsPublicKeyAndFingerprint(options: String) throws {
        try shell("ssh-keygen -q -t \(options) -N '' -C t -f key; \"$CTL\" key import --tag t < key 2>&1")
        try shell("\"$CTL\" key public --tag t --openssh | cmp - key.pub")
        let fingerprint = try shell("ssh-keygen -lf key.pub").split(separator: " ")[1]
        #expect(try keys().first?["fingerprint"] as? String == String(fingerprint))
    }

    @Test(arguments: [
        "openssl genpkey -algorithm ED25519 -aes256 -pass file:pass -out key",
        "ssh-keygen -q -t ed25519 -a 1 -N \"$(cat pass)\" -f key",
    ])
    func import_ofAFileWithAPassphrase_needsTheRightOne(command: String) throws {
        try shell("echo 'correct horse' > pass; echo wrong > bad; \(command)")
        let without = try tool.shell("KEYCHAIN_AUTHENTICATOR=none \"$CTL\" key import key --tag t < /dev/null")
        #expect(without.status == 5 && without.errors.contains("--file-passphrase-fd"), "\(without.errors)")
        let wrong = try tool.shell("\"$CTL\" key import key --tag t --file-passphrase-fd 3 3< bad")
        #expect(wrong.status == 7 && !wrong.errors.contains("wrong "), "\(wrong.errors)")
        #expect(try keys().isEmpty)
        try shell("\"$CTL\" key import key --tag t --file-passphrase-fd 3 3< pass 2>&1")
        #expect(try keys().count == 1)
    }

    /// A text may begin with the byte that begins DER. The smallest DER has a length of one byte.
    @Test(arguments: ["echo 0 note; cat key.pem", "echo 0; cat key.pem", "cat key.der"])
    func import_ofAFileThatBeginsWithTheDigitZero_readsWhatItIs(command: String) throws {
        try shell(
            """
            openssl genpkey -algorithm ED25519 -out key.pem; openssl pkey -in key.pem -outform DER -out key.der
            (\(command)) | "$CTL" key import --tag t 2>&1; "$CTL" key public --tag t > pem
            openssl pkey -in key.pem -pubout | cmp - pem
            """)
    }

    /// How the key is made, the command that the error names, and the rest of that command.
    @Test(arguments: [
        (
            "openssl genrsa -traditional -aes256 -passout file:pass -out key 2048 2> /dev/null",
            "openssl pkcs8 -topk8 -in FILE -out NEW", "-passin file:pass -passout file:copy"
        ),
        (
            "ssh-keygen -q -t ed25519 -a 1 -Z 3des-cbc -N \"$(cat pass)\" -f key; cp -p key new",
            "ssh-keygen -p -Z aes256-ctr -f FILE", "-q -a 1 -P \"$(cat pass)\" -N \"$(cat pass)\" -f new"
        ),
    ])
    func import_ofAnOldEncryption_namesTheCommandThatConverts(making: String, command: String, rest: String) throws {
        try shell("echo 'correct horse' > pass; cp pass copy; \(making)")
        let importing = "--tag t --file-passphrase-fd 3 3< pass 2>&1"
        let run = try tool.shell("\"$CTL\" key import key \(importing)")
        #expect(run.status == 14 && run.text.hasSuffix("To convert it: \(command)\n"), "\(run.everything)")
        let words = command.replacingOccurrences(of: "FILE", with: "key").replacingOccurrences(of: "NEW", with: "new")
        try shell("\(words) \(rest); \"$CTL\" key import new \(importing)")
        #expect(try keys().count == 1)
    }

    @Test func import_ofDamagedFiles_isAnErrorAndStoresNothing() throws {
        try shell(
            """
            openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key; openssl pkey -in key -pubout -out public
            openssl pkey -in key -outform DER -out der; head -c 60 der > cut; head -c 100 key > cutpem; : > empty
            echo text > text; head -c 70000 /dev/zero > large; sed 's/^M/!/' key > letters
            openssl ecparam -name secp256k1 -genkey -noout -out curve; openssl genrsa -out small 512 2> /dev/null
            """)
        for (file, status) in [
            ("public", 1), ("cut", 1), ("cutpem", 1), ("empty", 1), ("text", 1), ("large", 18), ("letters", 1),
            ("curve", 14), ("small", 14), ("missing", 17),
        ] {
            let run = try tool.shell("\"$CTL\" key import \(file) --tag t")
            #expect(run.status == Int32(status) && run.errors.hasPrefix("keychainctl: "), "\(file): \(run.errors)")
        }
        #expect(try keys().isEmpty)
    }
}

extension Tool {
    static let hasKeyPrograms: Bool = {
        do {
            return try Tool().shell("command -v openssl && command -v ssh-keygen").status == 0
        } catch {
            return false
        }
    }()
}
