// SPDX-License-Identifier: Apache-2.0
// The same for private keys, and for the secrets of the vault itself.

import Foundation
import Testing

extension VerbNeedleTests {
    // MARK: - Keys

    /// A key of P-256 whose private number is text: SEC 1 without the public half, which openssl adds.
    private static let keys = """
        printf '\\060\\061\\002\\001\\001\\004\\040\(needle)\(needle)needle7f\\240\\012\\006\\010\\052\\206\\110\\316\\075\\003\\001\\007' > in/der
        openssl ec -inform DER -in in/der -out in/key 2> log; echo \(needle) > in/phrase; echo \(needle)x > in/wrong
        openssl req -x509 -new -key in/key -subj /CN=mine -days 2 -out in/certificate
        openssl pkcs12 -export -in in/certificate -inkey in/key -passout file:in/phrase -out in/p12; mkfifo out
        """

    /// A key is written from secret memory. What `sed` gets of it, strace shows.
    /// An agent that outlived a failure would keep strace waiting for ever.
    private static let keyVerbs = """
        "$CTL" key import in/key --tag t --label l; "$CTL" key generate ed25519 --tag g; "$CTL" key list --json
        "$CTL" key public --tag t; echo message > file; "$CTL" key sign file --tag t > signature
        "$CTL" key verify file --tag t --signature signature
        "$CTL" key export sealed/key --tag t --file-passphrase-fd 3 3< in/phrase
        "$CTL" key export clear/key --tag t --clear-text; "$CTL" key export --tag t --clear-text
        "$CTL" key export --tag t --clear-text | sed ''
        fails "$CTL" key import sealed/key --tag u --file-passphrase-fd 3 3< in/wrong
        "$CTL" key import sealed/key --tag u --file-passphrase-fd 3 3< in/phrase; fails "$CTL" key import in/phrase --tag w
        "$CTL" certificate import in/certificate; "$CTL" certificate list; "$CTL" certificate show --name mine
        "$CTL" key delete --tag t; "$CTL" key delete --tag u
        fails "$CTL" identity import in/p12 --tag i --file-passphrase-fd 3 3< in/wrong
        "$CTL" identity import in/p12 --tag i --file-passphrase-fd 3 3< in/phrase; "$CTL" identity list
        "$CTL" identity export sealed/p12 --tag i --file-passphrase-fd 3 3< in/phrase
        "$CTL" key public --tag i --openssh > public; "$CTL" ssh-agent --socket "$PWD/s" > out & agent=$!
        trap 'kill $agent 2> /dev/null || :; wait $agent || :' EXIT; read -r line < out; eval "$line"; ssh-keygen -q -Y sign -n test -f public file
        ssh-add in/key; ssh-add -l; ssh-add -D; trap - EXIT; kill $agent; wait $agent || :
        "$CTL" identity delete --tag i; "$CTL" doctor
        """

    @Test(.enabled(if: Tool.hasKeyPrograms, "openssl or ssh-keygen is not installed"))
    func privateKey_throughEveryVerb_isOnlyWhereItBelongs() throws {
        try expectNeedleSeenOnlyWhereItBelongs(
            NeedleScript(
                before: Self.keys, allowed: [.pipe, .socket, .clear("clear"), .sealed("sealed")], verbs: Self.keyVerbs))
    }

    // MARK: - The vault

    private static let secrets = """
        printf \(needle) > in/value; echo \(needle) phrase > in/phrase; echo \(needle) wrong > in/wrong; mkdir shared
        printf \(needle)\(needle)\(needle) > in/key; printf new\(needle)\(needle)\(needle) > in/new
        """

    private static let vaultVerbs = """
        "$CTL" set --synchronizable -s s -a a < in/value; "$CTL" set -s web.service -a db < in/value
        "$CTL" sync init --folder shared --name laptop; "$CTL" sync status; "$CTL" sync invite --name desktop
        "$CTL" set --synchronizable -s s -a a < in/phrase; "$CTL" sync now; "$CTL" sync history
        "$CTL" protect add passphrase --new-passphrase-fd 3 3< in/phrase; "$CTL" protect list
        fails "$CTL" get -s s --passphrase-fd 3 3< in/wrong; "$CTL" protect add key-file --new-key-file in/key
        "$CTL" protect change key-file --new-key-file in/new --key-file in/key; fails "$CTL" get -s s --key-file in/key
        "$CTL" rotate; "$CTL" protect remove key-file --keep-keys; "$CTL" get -s s
        python3 in/server
        python3 in/damage; "$CTL" accept --yes; fails "$CTL" get -s s; "$CTL" set -s web.service -a db < in/value
        "$CTL" quarantine list; fails "$CTL" quarantine restore --all; "$CTL" quarantine purge --all --yes
        """

    /// A service manager that asks for a credential.
    private static let server = """
        import os, socket, subprocess
        listener, client = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        listener.bind("credentials")
        listener.listen()
        client.bind("\\0%d/unit/web.service/db" % os.getpid())
        client.connect("credentials")
        connection = listener.accept()[0]
        subprocess.run([os.environ["CTL"], "credential-server"], stdin=connection, check=True)
        connection.close()  # Without an answer, the other end would wait for ever.
        assert client.recv(100) == b"\(needle)"
        """

    private static let damage = """
        import os, sqlite3
        database = sqlite3.connect(os.environ["HOME"] + "/.local/share/swift-keychain/vault.db", isolation_level=None)
        database.execute("UPDATE item SET metadata = zeroblob(length(metadata))")
        """

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func secretOfTheVault_throughEveryVerb_isOnlyWhereItBelongs() throws {
        let programs = "cat > in/server << 'E'\n\(Self.server)\nE\ncat > in/damage << 'E'\n\(Self.damage)\nE"
        try expectNeedleSeenOnlyWhereItBelongs(
            NeedleScript(before: Self.secrets + "\n" + programs, allowed: [.socket], verbs: Self.vaultVerbs))
    }
}
