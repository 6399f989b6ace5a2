// SPDX-License-Identifier: Apache-2.0
// Private keys that tests share, since making RSA keys takes long. They protect nothing.

import Foundation
import KeychainServices
import Testing

/// One key of each kind. The private numbers of the curves begin with zero bytes.
enum TestKey: String, CaseIterable, Sendable {
    case p256, p384, p521, rsa1024, rsa2048, ed25519, x25519

    /// The value of `kSecAttrKeyType`.
    var type: String {
        switch self {
        case .p256, .p384, .p521: "73"
        case .rsa1024, .rsa2048: "42"
        case .ed25519: "105"
        case .x25519: "106"
        }
    }

    var isRSA: Bool { type == "42" }
    var isCurve: Bool { type == "73" }

    var bits: Int {
        switch self {
        case .p256, .ed25519, .x25519: 256
        case .p384: 384
        case .p521: 521
        case .rsa1024: 1024
        case .rsa2048: 2048
        }
    }

    /// The external representation of the private key.
    var bytes: Data {
        switch self {
        case .p256: Self.p256Bytes
        case .p384: Self.p384Bytes
        case .p521: Self.p521Bytes
        case .rsa1024: Self.rsa1024Bytes
        case .rsa2048: Self.rsa2048Bytes
        case .ed25519, .x25519: Data(repeating: 0x51, count: 32)
        }
    }

    func privateKey() throws -> SecKey { try #require(importedKey(bytes, type, "1").value) }

    func publicKey() throws -> SecKey { try #require(SecKeyCopyPublicKey(privateKey())) }

    func publicBytes() throws -> Data { try exported(publicKey()) }
}

/// The external representation of a key.
func exported(_ key: SecKey) throws -> Data {
    try #require(attempt { SecKeyCopyExternalRepresentation(key, $0) as Data? }.value)
}

/// A key of these bytes, with further attributes.
func importedKey(_ bytes: Data, _ type: Any?, _ keyClass: Any?, _ others: Entries = [:]) -> Attempt<SecKey> {
    var attributes = others
    attributes["type"] = type
    attributes["kcls"] = keyClass
    return attempt { SecKeyCreateWithData(bytes as CFData, attributes as CFDictionary, $0) }
}

/// What a function on keys gave: a result, or the code of an error.
struct Attempt<Value> {
    let value: Value?
    let status: OSStatus
}

/// Makes a call. In any case it has to report an error of the right domain if it has no result, and to leave the variable
/// for errors alone if it has one (K55).
func attempt<Value>(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ call: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> Value?
) -> Attempt<Value> {
    let untouched = NSError(domain: "untouched", code: 0)
    var variable: Unmanaged<CFError>? = .passUnretained(untouched)
    let value = call(&variable)
    let failure = variable?.takeUnretainedValue()
    guard value == nil else {
        #expect(failure === untouched, sourceLocation: sourceLocation)
        return Attempt(value: value, status: errSecSuccess)
    }
    #expect(failure != nil && failure !== untouched, sourceLocation: sourceLocation)
    #expect(failure?.domain == NSOSStatusErrorDomain, sourceLocation: sourceLocation)
    if let failure, failure !== untouched { variable?.release() }
    return Attempt(value: nil, status: OSStatus(truncatingIfNeeded: failure?.code ?? 0))
}

extension Data {
    init(hex: String) {
        let digits = hex.compactMap(\.hexDigitValue)
        self.init(stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }

    init(base64 text: String) { self = Data(base64Encoded: text) ?? Data() }
}

extension TestKey {
    private static let p256Bytes = Data(
        base64: """
            BOycvnRjSryoWJ4WIeGFwUKu+/JMircuKfB4DDCq4ORkXrxfItt9xYwniKS2VsU0J+HgUmR0EtUCeUV6DphwSSsAAJKpc+ld+jXFfZcOdEq6\
            lpUvNT2LhnTBk2M3SXmWmg==
            """)
    private static let p384Bytes = Data(
        base64: """
            BARjsjwZW896dmj2DRnjcBSSMYXSvK3ZbLDt0AUNnmwRAso6dKjIINUyU65t825mlvVdldTxMcWk0peS0hVkid0RIXY2coNpEcSJyK+oZUUT\
            XRHXTgPRh6Lj9YvpBbpRzAAA+XMAGoIkontD3zvzLOkdMQx+HVC9Lbm7spTj+qPXZmzLJR5ue0nY7WQtQD2gGQ==
            """)
    private static let p521Bytes = Data(
        base64: """
            BAFIUZfVKAEgJTcGS7VotgRdeIKhigs1VVpAjVs9hK2gtZL7MJ8RIvyEN7Skw7usAkO8+jZyCFhVzcJeB3vHkzoMgwHMnvucPZhZBFusjh7I\
            JRIdRSEfQlgI2KzM98E9PRAI2NP1vdk6HxyevfJ8A+h9+Vnj+i3nMbPauDKOMiJgDQ/8kQAAhgWD8eBDsavdlbMuOdwtZu/P4UvkTj7OD/j8\
            zfokDa7DcwPmCbSqdJwNFpOAjiVVVdaqvhUvgYd4SiZp2TW4lQ==
            """)
    private static let rsa1024Bytes = Data(
        base64: """
            MIICXwIBAAKBgQDTyqYYAsbUAFcIB0hhv6DC5lBqnRzs7FU7yBM1K+0dpW4F/4CiRqd97oylAaSGBT/UoP4+bX8B9nxtdXUSwYQC166FxU82Sa/1\
            UeLcpj4fxoxFgOa05o7evjy9yexUv4F3/VaNAUFig+NVa+lb1ZryxzXdWkOnj6gPKoi2v0saLwIDAQABAoGBAMsQ8YHyH5ujm87Z1L/MUaKt24rt\
            i49q5ipEoo4HyPj05fIgUcDGB9AKCpYnZg0OOW5w0nUe3XkPUaxNw2uxWhT0blzztRYE8iMCnw1JepP/NiRK1sZxbGtdAy9QBI7aZTvl3NoDHck6\
            uPFoMfaE9hqbNbzq0ZB/GMf+vp1wbmsJAkEA9hK1B4pRYQOO6PZXdJhoZ2OBioL4NW+d3mNIPeAlGcaH9oGtm4DmT1/6WYq76Z/C7vUbU3pLRofr\
            NzMz8CBfFQJBANxV50dO7XbXGq7G6tbBlsGAcubJKLKgPw4+B4fzHGj1IDW6jxkxiLsPuNGabKzDC15fb1NQuAzwUKLuNYQ5xTMCQQCdrPsG6+Cd\
            c3Q9XqxHb+lmZmJ5aNa3FuBnweJmk5vyWj6A/DNMM1pgfjWi7rzeRJraF4D9Cp31gd58rniXY4bJAkEAzMCvih6YocVHMH/9n9CKrgsVu83Xmhc8\
            QZn3GakcD5Urd4KElF7ptxvnHjEpKGqgV/TL2Vq7jpqL9Lz00ol07QJBAOKSTdsuzRks6+yFYO2Omyibmtu90JBW1p22sA9AKkeOlMV7B0PcsQez\
            FavqAMdUdw4tVcoep9iaqyM4ewWgF/c=
            """)
    private static let rsa2048Bytes = Data(
        base64: """
            MIIEogIBAAKCAQEAsZdRyTBYEaYVkPoHi0aX8kKdaPnT5UchkwxZ38tGjeffUsrz8jFlNYMZxaT5FwisYj0c2QBX3C2tUzk290JDZT5Nyk2KJx+t\
            u4x0iI09CBtSHhhq1L+aRVuk2cCPWF4qQqmDtOMVvO9ikty2mXP22C0ViESlSz5n5gy5JI2Y2a/fHZWKHM2WNV1nPv4C4lyhiM2WS8FF5CRIlvGc\
            mNIvmIkhFToS1Ygorv45t2tXkx+m2ocWiZ03OP9LBvP5qJfcBwel1oNh4luc+R/B6nDRYFeqJwK4vg8LabMxeiLqPyBdtRMzyvjFTdqEvqQFqr6z\
            +H6ZhjCIsPfCrXK2wSuDSwIDAQABAoIBAAePoOpo5CDLymMpLZi3DcbBWvtW0P8+ohtBl/nFGx1nCNcHSLpjq6m8wpYWXaaYkv7FUMXVGtpOQ8ZI\
            7tQAgi4uYS3UjFCkAQfD4fZ/fyfGXuW6IL5HjsOk3xCIVI6CHEplhHPa2iaxbdKzA/hXmBzWNwDBMwGJZJoNcPUxgl6KsCyV8tbe0KQVbYK4bXBi\
            Q8LcGwq4Be4BtIy/WhM8w1Zttc13VIzMZrW0KdMFsz6ydmWyeOy+lOTuQZ4cU6ixHaGfnKDNbG+DVjiB65BAhGscIbd38kkNWchqsu9ckUODcPTW\
            jVbbD+GZ5znnL2w/OIpVcUHnFjDoIxt3D5tY68UCgYEA7LQ1gmf9WuaC3S6zqY2bKFgNBOgRantzqwAbGXI+D6+LVCPkZrmfPXFvs1yUxKJVh2qW\
            c8aRhyiGsNm3neXwsbeqQaU30vtZilPjNqA5IB0m21TVGRHuO1I8qpDKNYiRr+KtE5LAH73e22Uw/Yb4ETD15dYW7Hl779YZ6/4r7e0CgYEAwBF6\
            9F6Ok0rplRCWLbpLyg8o1RBdR/0rllXYF+fIR/c1NG6+816ULKQ1O113TPei4c3hcMFOlYxcnrr64d9hXKbzaRlEmBu/dp5Fa/kZvzD2zIC6O8Zx\
            KF+svNfT4qVBH/XT7QH3jQAAJw+OHkcE5Uaa+LtMG8GMXgxDsE5hTxcCgYAW3qJ84wc7jSH/tM9vBluDXl6Dpthn7V2TnAMCRmNwqIlRq9YZhr23\
            9gnQzpUhGn4hA09eCEVvRZ8d3ys6ekjzIse0Z/4oyFgyYUCGupxKWgazElM0hOL7oEp0QGEJIxTQZZpLVdZyOqoZkIFXPX8iShS4DCNS3bn3xjvi\
            7T/ZUQKBgD/Hzj/GAqyQ7N5OYsCOo8pWnGWciI12WfoTSa4ujwiu4+EkgY6JssTcRr0O/aX2egVn+9wYpULuGHexecx2BHvjCOO2u1uTo1H9nuoL\
            D2y5Esu4V5+v9zXEB7WyKi+SVv0JAjYrOAx/mo1eEgCl7s9AUggVEmIJNNaqVfP/IztDAoGAFyi4gYvlTf73W5YjRz2sNq+g71Zs05hSDO4VVaso\
            FUypmh+pWmwt+/FK9S2YN/Qv5L40ZGpvjVaB2BGuI0yaxXmSHOf9B+c/D5U/FtMiZLtcYYjUm8mpWysDXimBTyEU/ou1LzFxToSwFGjgbDVaENtD\
            MRhobVEKWod/iisxeCE=
            """)
}
