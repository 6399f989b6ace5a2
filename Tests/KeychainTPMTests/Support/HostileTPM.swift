// SPDX-License-Identifier: Apache-2.0
// A program that says that it is a TPM.

#if TPM
    import Foundation
    import KeychainTestSupport

    @testable import KeychainTPM

    /// Listens where swtpm would, and answers each command with the same bytes. It ends with this object.
    final class HostileTPM: Sendable {
        enum Answer: Sendable {
            case bytes([UInt8])
            /// Keeps the connection open.
            case nothing
        }

        private let folder: TemporaryFolder
        private let (data, control): (UnixSocket, UnixSocket)

        func transport(timeout: Duration = .testLimit) -> HeldTransport {
            HeldTransport(TCTITransport(name: "swtpm:path=\(folder.path)/s", timeout: timeout), owner: self)
        }

        init(_ answer: Answer) throws {
            folder = try TemporaryFolder.inMemory("tpm")
            data = try UnixSocket(listeningAt: folder.path + "/s")
            control = try UnixSocket(listeningAt: folder.path + "/s.ctrl")
            Self.serve(control, .bytes([0, 0, 0, 0]))
            Self.serve(data, answer)
        }

        deinit {
            for socket in [data, control] {
                shutdown(socket.descriptor, Int32(SHUT_RDWR))
                socket.close()
            }
        }

        private static func serve(_ listener: UnixSocket, _ answer: Answer) {
            Thread.detachNewThread {
                while true {
                    let connection = UnixSocket(accept(listener.descriptor, nil, nil))
                    guard connection.descriptor >= 0 else { return }
                    Thread.detachNewThread {
                        talk(connection, answer)
                        connection.close()
                    }
                }
            }
        }

        /// Until the other side closes the connection, or the answer was given.
        private static func talk(_ connection: UnixSocket, _ answer: Answer) {
            var command = [UInt8](repeating: 0, count: 4096)
            while recv(connection.descriptor, &command, command.count, 0) > 0 {
                guard case .bytes(let bytes) = answer else { continue }
                _ = send(connection.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                return
            }
        }
    }
#endif
