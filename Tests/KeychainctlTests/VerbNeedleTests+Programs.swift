// SPDX-License-Identifier: Apache-2.0
// The same for values that other programs have: password stores, the Secret Service and archives of 1Password.

import Foundation
import Testing

extension VerbNeedleTests {
    // MARK: - Password stores

    /// An agent that was started under strace would keep it waiting for ever, so it is started before. gpg would also wait only
    /// some seconds for an agent that it starts.
    private static let store = """
        export GNUPGHOME="$PWD/in/g" PASSWORD_STORE_DIR="$PWD/in/store"; mkdir -m 700 in/g
        trap 'gpgconf --kill gpg-agent' EXIT
        gpg-agent --daemon > in/agent 2>&1
        gpg --batch --quiet --passphrase '' --quick-gen-key test@example.com future-default default never 2> in/made
        pass init test@example.com > in/made; printf '\(needle)\\n\(needle)\\n' | pass insert -m web/alice > in/made
        cp -r in/store in/broken; echo junk > in/broken/web/bob.gpg
        """

    private static let storeVerbs = """
        "$CTL" import pass --dry-run; "$CTL" import pass --json; "$CTL" import gopass in/store
        "$CTL" import pass --whole --replace; fails "$CTL" import pass in/broken
        "$CTL" get -s web -a alice
        """

    /// The child gpg gives the value through a pipe.
    @Test(.enabled(if: Tool.has("pass") && Tool.has("gpg"), "pass or gpg is not installed"))
    func value_ofAPasswordStore_isOnlyInThePipeFromGPG() throws {
        try expectNeedleSeenOnlyWhereItBelongs(
            NeedleScript(before: Self.store, allowed: [.pipe], verbs: Self.storeVerbs))
    }

    // MARK: - Secret Service

    private static let hasSecretService =
        Tool.has("gnome-keyring-daemon") && Tool.has("secret-tool") && Tool.has("dbus-daemon") && Tool.has("gdbus")

    /// The keyring ends with its bus.
    private static let service = """
        export XDG_RUNTIME_DIR="$PWD/in/run"; mkdir -m 700 in/run
        DBUS_SESSION_BUS_ADDRESS=$(dbus-daemon --session --fork --print-address=1 --print-pid=3 3> in/bus 2> in/errors)
        export DBUS_SESSION_BUS_ADDRESS; trap 'kill $(cat in/bus)' EXIT
        printf pw | gnome-keyring-daemon --unlock --components=secrets > in/started 2>&1
        gdbus wait --session --timeout 600 org.freedesktop.secrets
        printf \(needle) | secret-tool store --label=First service svc username alice
        printf \(needle) | secret-tool store --label=Net server git.example.com user bob protocol https
        """

    private static let serviceVerbs = """
        "$CTL" import secret-service --dry-run; "$CTL" import secret-service; "$CTL" import secret-service --json
        "$CTL" get -s svc -a alice; "$CTL" get --server https://git.example.com -a bob
        """

    /// The socket of the bus gives the value, and gets none.
    @Test(.enabled(if: hasSecretService, "gnome-keyring, libsecret-tools, dbus or gdbus is not installed"))
    func value_ofTheSecretService_isOnlyWhereItBelongs() throws {
        try expectNeedleSeenOnlyWhereItBelongs(NeedleScript(before: Self.service, verbs: Self.serviceVerbs))
    }

    // MARK: - Archives

    private static let archive = #"""
        cat > in/script << 'E'
        import zipfile
        data = b'''{"accounts": [{"vaults": [{"items": [{"details": {"loginFields": [
            {"value": "ivan", "designation": "username"}, {"value": "\#(needle)", "designation": "password"}],
            "notesPlain": "\#(needle)"}, "overview": {"title": "Example", "url": "https://example.com"}}]}]}]}'''
        for name, method in ("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED):
            with zipfile.ZipFile("in/" + name, "w", method) as archive:
                archive.writestr("export.data", data)
        E
        python3 in/script; head -c 300 in/stored > in/cut
        """#

    private static let archiveVerbs = """
        "$CTL" import 1password in/stored --json; "$CTL" import 1password in/deflated
        fails "$CTL" import 1password in/cut; "$CTL" get --server example.com
        """

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func value_ofAnArchive_isOnlyWhereItBelongs() throws {
        try expectNeedleSeenOnlyWhereItBelongs(NeedleScript(before: Self.archive, verbs: Self.archiveVerbs))
    }

    // MARK: - Passphrases

    private static let phrases = """
        printf \(needle) > in/value; echo \(needle) several long words > in/phrase; echo \(needle) wrong > in/wrong
        trap '"$CTL" lock --all 2> in/errors || :' EXIT
        """

    private static let phraseVerbs = """
        "$CTL" init --passphrase-fd 3 --no-device-key 3< in/phrase; fails "$CTL" get -s s
        fails "$CTL" unlock --passphrase-fd 3 3< in/wrong; "$CTL" unlock --passphrase-fd 3 3< in/phrase
        "$CTL" set -s s -a a < in/value; "$CTL" get -s s; "$CTL" lock; fails "$CTL" get -s s
        "$CTL" get -s s --passphrase-fd 3 3< in/phrase
        """

    @Test func passphrase_ofInitAndUnlock_isNowhere() throws {
        try expectNeedleSeenOnlyWhereItBelongs(NeedleScript(before: Self.phrases, verbs: Self.phraseVerbs))
    }
}
