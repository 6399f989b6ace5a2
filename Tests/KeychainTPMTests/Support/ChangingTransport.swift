// SPDX-License-Identifier: Apache-2.0
// Somebody on the way to a TPM: listens, and changes responses.

#if TPM
    import KeychainEngine
    import KeychainTestSupport
    import SecretMemory

    @testable import KeychainTPM

    /// Records what passes, and gives responses to a closure that may change them.
    final class ChangingTransport: TPMTransport {
        /// - Parameters: the code of the command, and the response.
        typealias Change = @Sendable (CommandCode?, [UInt8]) -> [UInt8]

        private let transport: any TPMTransport
        private let change: Change
        private let passed = Guarded<[[UInt8]]>([])

        init(_ transport: any TPMTransport, _ change: @escaping Change = { $1 }) {
            (self.transport, self.change) = (transport, change)
        }

        /// All commands and responses so far.
        var messages: [[UInt8]] { passed.withLock { $0 } }

        func connect() throws(KeychainError) -> any TPMChannel {
            Channel(try transport.connect(), self)
        }

        private final class Channel: TPMChannel {
            private let channel: any TPMChannel
            private let owner: ChangingTransport
            /// What is in the TPM, also if the caller was not told.
            private var handles: Set<UInt32> = []

            init(_ channel: any TPMChannel, _ owner: ChangingTransport) {
                (self.channel, self.owner) = (channel, owner)
            }

            func exchange(_ command: [UInt8], within limit: Duration) throws(KeychainError) -> [UInt8] {
                let response = try channel.exchange(command, within: limit)
                owner.passed.withLock { $0 += [command, response] }
                let code = CommandCode(rawValue: number(in: command, at: 6))
                note(code, command, response)
                return owner.change(code, response)
            }

            private func note(_ code: CommandCode?, _ command: [UInt8], _ response: [UInt8]) {
                guard number(in: response, at: 6) == ResponseCode.success else { return }
                switch code {
                case .createPrimary, .startAuthSession, .load: handles.insert(number(in: response, at: 10))
                case .flushContext: handles.remove(number(in: command, at: 10))
                default: break
                }
            }

            func close() {
                for handle in handles {
                    var command = MessageWriter()
                    command.putHeader(.flushContext)
                    command.put(handle)
                    _ = try? channel.exchange(command.finished, within: .testLimit)
                }
                channel.close()
            }

            private func number(in message: [UInt8], at index: Int) -> UInt32 {
                guard message.count >= index + 4 else { return .max }
                return message[index..<index + 4].reduce(0) { $0 << 8 | UInt32($1) }
            }
        }
    }
#endif
