// SPDX-License-Identifier: Apache-2.0
// The older functions of iOS: paddings, memory of the caller, statuses.

import Foundation
import KeychainServices
import Testing

@Suite("Keys: older functions")
struct LegacyKeyOperationTests {
    private let errSSLCrypto: OSStatus = -9809
    private let digest = [UInt8](repeating: 7, count: 32)

    /// What a call wrote into memory of a size.
    private func written(
        _ size: Int, _ call: (UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<Int>) -> OSStatus
    ) -> (status: OSStatus, bytes: [UInt8]) {
        var (memory, length) = ([UInt8](repeating: 0xEE, count: size), size)
        let status = call(&memory, &length)
        return (status, Array(memory.prefix(length)))
    }

    private func sign(_ key: SecKey, _ padding: SecPadding, memory: Int = 512) -> (status: OSStatus, bytes: [UInt8]) {
        written(memory) { SecKeyRawSign(key, padding, digest, digest.count, $0, $1) }
    }

    private func verify(_ key: SecKey, _ padding: SecPadding, _ signature: [UInt8]) -> OSStatus {
        SecKeyRawVerify(key, padding, digest, digest.count, signature, signature.count)
    }

    @Test(arguments: [
        (TestKey.p256, SecPadding.sigRaw), (.p256, .PKCS1), (.p384, SecPadding()), (.p521, .PKCS1SHA256),
        (.rsa1024, .PKCS1SHA256),
    ])
    func signature_withAPadding_isVerifiedWithTheSame(key: TestKey, padding: SecPadding) throws {
        let (status, signature) = try sign(key.privateKey(), padding)
        #expect(status == errSecSuccess)
        #expect(try verify(key.publicKey(), padding, signature) == errSecSuccess)
        var wrong = signature
        wrong[wrong.count - 1] ^= 1
        #expect(try verify(key.publicKey(), padding, wrong) == errSSLCrypto)
        #expect(padding != .sigRaw || signature.count == 64)
    }

    @Test(arguments: [
        SecPadding.PKCS1, SecPadding(), .OAEP, .PKCS1MD2, .PKCS1MD5, .PKCS1SHA224, .PKCS1SHA1, .PKCS1SHA512,
    ])
    func signature_withAPaddingOrLengthThatDoesNotFit_isRefused(padding: SecPadding) throws {
        #expect(try sign(TestKey.rsa1024.privateKey(), padding).status == errSecParam)
        #expect(try verify(TestKey.rsa1024.publicKey(), padding, [1]) == errSecParam)
    }

    @Test(arguments: [SecPadding.PKCS1, .OAEP]) func block_encrypted_isDecrypted(padding: SecPadding) throws {
        let (own, peer) = (try TestKey.rsa1024.privateKey(), try TestKey.rsa1024.publicKey())
        let sealed = written(128) { SecKeyEncrypt(peer, padding, digest, digest.count, $0, $1) }
        #expect(sealed.status == errSecSuccess && sealed.bytes.count == 128)
        let opened = written(128) { SecKeyDecrypt(own, padding, sealed.bytes, sealed.bytes.count, $0, $1) }
        #expect(opened.status == errSecSuccess && opened.bytes == digest)
        let (status, _) = written(31) { SecKeyDecrypt(own, padding, sealed.bytes, sealed.bytes.count, $0, $1) }
        #expect(status == errSecParam)
    }

    @Test func block_withAPaddingThatIsNotForEncryption_isRefused() throws {
        let (own, peer) = (try TestKey.rsa1024.privateKey(), try TestKey.rsa1024.publicKey())
        for padding in [SecPadding(), .sigRaw, .PKCS1SHA256] {
            #expect(written(128) { SecKeyEncrypt(peer, padding, digest, digest.count, $0, $1) }.status == errSecParam)
            #expect(written(128) { SecKeyDecrypt(own, padding, digest, digest.count, $0, $1) }.status == errSecParam)
        }
    }

    @Test func memory_thatIsTooSmall_isNotWritten() throws {
        let (status, memory) = try sign(TestKey.rsa1024.privateKey(), .PKCS1SHA256, memory: 127)
        #expect(status == errSecParam)
        #expect(memory == [UInt8](repeating: 0xEE, count: 127))
    }

    @Test func length_thatIsNegative_isRefused() throws {
        let key = try TestKey.p256.privateKey()
        #expect(written(512) { SecKeyRawSign(key, .sigRaw, digest, -1, $0, $1) }.status == errSecParam)
        let signature = [UInt8](repeating: 1, count: 64)
        #expect(SecKeyRawVerify(key, .sigRaw, digest, digest.count, signature, -1) == errSecParam)
    }
}
