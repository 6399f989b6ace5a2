// SPDX-License-Identifier: Apache-2.0
// False TPMs, and changes on the way.

#if TPM
    import Foundation
    import KeychainEngine
    import KeychainTestSupport
    import SecretMemory
    import Testing

    @testable import KeychainTPM

    @Suite("TPM: hostile", .enabled(if: SoftwareTPM.isInstalled, SoftwareTPM.isMissing))
    struct HostileTPMTests {
        private static let digest = Data(repeating: 5, count: 32)

        /// What somebody on the way may make of a response.
        private static let changes: [(name: String, apply: @Sendable ([UInt8]) -> [UInt8])] = {
            var changes: [(name: String, apply: @Sendable ([UInt8]) -> [UInt8])] = []
            for count in [0, 1, 5, 9, 10, 13, 14, 40] {
                changes.append(("cut to \(count)", { Array($0.prefix(count)) }))
            }
            changes.append(("cut by one", { $0.dropLast() }))
            changes.append(("one byte more", { $0 + [0] }))
            changes.append(("too long", { $0 + [UInt8](repeating: 0, count: 4096) }))
            for (name, index, bytes) in replacements {
                changes.append((name, { $0.replacing(index, bytes) }))
            }
            changes.append(("another code", { $0.replacing($0.count - 1, [~($0.last ?? 0)]) }))
            return changes
        }()

        private static let replacements: [(name: String, index: Int, bytes: [UInt8])] = [
            ("size too small", 2, [0, 0, 0, 10]), ("size too large", 2, [255, 255, 255, 255]),
            ("another tag", 0, [0, 0xC4]), ("another handle", 10, [0x40, 0, 0, 7]),
            ("fields too long", 14, [255, 255, 255, 255]),
        ]

        /// Each response of an operation, in each way: there is an error, and the TPM is usable afterwards.
        @Test(arguments: [CommandCode.createPrimary, .startAuthSession, .load, .sign])
        func response_thatWasChanged_isRefused(code: CommandCode) throws {
            let tpm = try SoftwareTPM()
            let key = try tpm.token.makeKey()
            for (name, change) in Self.changes where !Self.isHarmless(name, code) {
                let way = ChangingTransport(tpm.transport) { $0 == code ? change($1) : $1 }
                let token = TPMToken(way)
                #expect(
                    reason { try token.sign(Self.digest, of: .sha256, with: key.object) } == .unavailable,
                    "\(code): \(name)")
            }
            #expect(reason { try tpm.token.sign(Self.digest, of: .sha256, with: key.object) } == nil)
        }

        /// A change of something that no code protects, and that is not used.
        private static func isHarmless(_ name: String, _ code: CommandCode) -> Bool {
            code == .createPrimary && ["another code", "fields too long"].contains(name)
        }

        @Test func tpm_withTheStorageKeyOfAnother_learnsNothingAndIsRefused() throws {
            let (real, other) = (try SoftwareTPM(), try SoftwareTPM())
            let bus = ChangingTransport(real.transport)
            let secret = SecretBytes.random(count: 32)
            let object = try TPMSealing(bus).seal(secret)
            let response = try #require(bus.messages.dropFirst().first)
            let way = ChangingTransport(other.transport) { code, own in
                guard code == .createPrimary else { return own }
                return Array(response[..<10] + own[10..<14] + response[14...])
            }
            #expect(reason { try TPMSealing(way).unseal(object) } == .unavailable)
        }

        @Test(
            arguments: [
                [], [0x80], [UInt8](repeating: 0, count: 10), [UInt8](repeating: 255, count: 4096),
                [0x80, 1, 255, 255, 255, 255, 0, 0, 0, 0], [0x80, 1, 0, 0, 0, 9, 0, 0, 0, 0],
                [0x80, 1, 0, 0, 16, 0, 0, 0, 0, 0], [0x80, 1, 0, 0, 0, 10, 0, 0, 0, 0],
                [0x80, 2, 0, 0, 0, 10, 0, 0, 0, 0],
            ] as [[UInt8]])
        func program_thatAnswersAnything_isUnavailable(answer: [UInt8]) throws {
            let hostile = try HostileTPM(.bytes(answer))
            #expect(reason { try TPMToken(hostile.transport()).makeKey() } == .unavailable)
        }

        @Test func program_thatNeverAnswers_endsInATimeout() throws {
            let hostile = try HostileTPM(.nothing)
            let token = TPMToken(hostile.transport(timeout: .milliseconds(200)))
            #expect(reason { try token.makeKey() } == .timedOut)
        }

        /// It is asked again for a while, and not for ever.
        @Test(arguments: [(0x902, .busy), (0x101, .unavailable)] as [(UInt32, KeychainError.Reason)])
        func tpm_thatAlwaysRefuses_endsInAnError(code: UInt32, expected: KeychainError.Reason) throws {
            let hostile = try HostileTPM(.bytes([0x80, 1, 0, 0, 0, 10] + bigEndian(code)))
            let token = TPMToken(hostile.transport(), patience: .milliseconds(50))
            #expect(reason { try token.makeKey() } == expected)
        }

        /// However long each refusal takes: the time is limited, not the number.
        @Test(arguments: [0x922, 0x908, 0x90A, 0x920] as [UInt32])
        func tpm_thatIsAlwaysBusy_endsWhenTheTimeOfACommandIsOver(code: UInt32) {
            let busy = RepeatingTPM([0x80, 1, 0, 0, 0, 10] + bigEndian(code))
            #expect(reason { try TPMToken(busy, timeout: .zero).makeKey() } == .timedOut)
            #expect(busy.exchanges == 1)
        }

        @Test func tpm_thatIsBusyForAMoment_isAskedAgain() throws {
            let (tpm, left) = (try SoftwareTPM(), Guarded(3))
            let way = ChangingTransport(tpm.transport) { code, response in
                guard code == .flushContext else { return response }
                let isBusy = left.withLock { left in
                    left -= 1
                    return left >= 0
                }
                return isBusy ? [0x80, 1, 0, 0, 0, 10] + bigEndian(0x922) : response
            }
            #expect(reason { try TPMToken(way).makeKey() } == nil)
            #expect(left.withLock { $0 } < 0)
        }
    }

    /// Answers each command with the same bytes.
    private final class RepeatingTPM: TPMTransport, TPMChannel {
        private let answer: [UInt8]
        private let count = Guarded(0)

        init(_ answer: [UInt8]) { self.answer = answer }

        var exchanges: Int { count.withLock { $0 } }

        func connect() -> any TPMChannel { self }

        func exchange(_: [UInt8], within _: Duration) -> [UInt8] {
            count.withLock { $0 += 1 }
            return answer
        }

        func close() {}
    }

    extension [UInt8] {
        fileprivate func replacing(_ index: Int, _ bytes: [UInt8]) -> [UInt8] {
            guard index >= 0, index + bytes.count <= count else { return [] }
            var changed = self
            changed.replaceSubrange(index..<index + bytes.count, with: bytes)
            return changed
        }
    }
#endif
