// SPDX-License-Identifier: Apache-2.0
// The other side of `credential-server`: what systemd does for LoadCredential= with the path of a socket.

import Foundation
import Testing

/// An answer as systemd gets it.
struct CredentialAnswer: Decodable {
    let status: Int32
    let length: Int
    let isZeros: Bool
    /// In hexadecimal; empty if it is more than systemd accepts.
    let bytes: String
    let errors: String

    /// More than systemd accepts, and nothing of any item: the service does not start.
    var isRefusal: Bool { length == 1 << 20 + 1 && isZeros }

    func isValue(_ value: Data) -> Bool {
        length == value.count && bytes == value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension Tool {
    /// How a program asks for a credential.
    struct Asking: Encodable {
        /// The address of the connecting side, after a NUL; `nil` for none.
        var address: String? = "8d3f0a61c2b4e597/unit/web.service/db-password"
        /// Begins with another byte than NUL: a path in the home folder.
        var isPath = false
        /// The user who connects; `nil` for the one who runs the tests.
        var user: UInt32?
        /// Closes the connection before there is an answer.
        var leaves = false
        /// Gives the listening socket to the tool.
        var isListening = false
        var arguments: [String] = []
        /// A file on descriptor 3.
        var file: String?
    }

    func credential(_ asking: Asking = Asking()) throws -> CredentialAnswer {
        let words = String(decoding: try JSONEncoder().encode(asking), as: UTF8.self)
        return try JSONDecoder().decode(CredentialAnswer.self, from: try python(Self.manager, words).output)
    }

    /// Asks as a unit would.
    func credential(_ name: String, of unit: String) throws -> CredentialAnswer {
        try credential(Asking(address: "8d3f0a61c2b4e597/unit/\(unit)/\(name)"))
    }

    private static let manager = """
        import json, os, secrets, socket, subprocess, sys
        asking = json.loads(sys.argv[2])
        listener = socket.socket(socket.AF_UNIX)
        # In the abstract namespace, because another user could not enter the home folder.
        listener.bind("\\0keychainctl-test-%d" % os.getpid())
        listener.listen()
        client = socket.socket(socket.AF_UNIX)
        def connect():
            if asking.get("address") is not None:
                client.bind(asking["address"] if asking["isPath"] else "\\0" + asking["address"].replace("8d3f0a61c2b4e597", secrets.token_hex(8)))
            client.connect(listener.getsockname())
        if asking.get("user") is None:
            connect()
        else:
            child = os.fork()
            if child == 0:
                os.setuid(asking["user"])
                connect()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        connection = listener.accept()[0]
        if asking["leaves"]:
            client.close()
        def before():
            if asking.get("file"):
                os.dup2(os.open(asking["file"], os.O_RDONLY), 3)
        tool = subprocess.Popen(
            [os.environ["CTL"], "credential-server"] + asking["arguments"],
            stdin=listener if asking["isListening"] else connection, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            preexec_fn=before, pass_fds=[3] if asking.get("file") else [])
        connection.close()
        got = b""
        if not asking["leaves"]:
            client.shutdown(socket.SHUT_WR)
            client.settimeout(600)
            while len(got) < 2 << 20 and (more := client.recv(65536)):
                got += more
        errors = tool.communicate(timeout=600)[1].decode(errors="replace")
        shown = got.hex() if len(got) <= 1 << 20 else ""
        print(json.dumps({
            "status": tool.returncode, "length": len(got), "isZeros": not any(got), "bytes": shown, "errors": errors}))
        """
}
