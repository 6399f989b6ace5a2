// SPDX-License-Identifier: Apache-2.0
// `otp`: the test vectors of RFC 4226 and RFC 6238, and counters that advance.

import Foundation
import KeychainTestSupport
import Testing

@Suite("one-time codes")
struct OneTimePasswordTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private func otp(_ url: String, _ arguments: String...) throws -> Tool.Run {
        try tool.store(Data(url.utf8), service: "otp", account: "a")
        return try tool.shell("\"$CTL\" otp -s otp -a a " + arguments.joined(separator: " "))
    }

    /// "12345678901234567890" in Base32, as often as the algorithm needs.
    private static let seed20 = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    private static let seed32 = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA===="
    private static let seed64 =
        "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNA="

    /// RFC 4226, appendix D.
    @Test(
        arguments: zip(
            0..<10,
            ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"]))
    func counter_ofRFC4226_hasItsCode(counter: Int, code: String) throws {
        let run = try otp("otpauth://hotp/x?secret=\(Self.seed20)&counter=\(counter)")
        #expect(run.text == code + "\n", "\(run.errors)")
    }

    /// RFC 6238, appendix B: the time, and the codes with SHA-1, SHA-256 and SHA-512.
    @Test(arguments: [
        (59, ["94287082", "46119246", "90693936"]), (1_111_111_109, ["07081804", "68084774", "25091201"]),
        (1_111_111_111, ["14050471", "67062674", "99943326"]), (1_234_567_890, ["89005924", "91819424", "93441116"]),
        (2_000_000_000, ["69279037", "90698825", "38618901"]), (20_000_000_000, ["65353130", "77737706", "47863826"]),
    ])
    func time_ofRFC6238_hasItsCodes(time: Int, codes: [String]) throws {
        let algorithms = [("SHA1", Self.seed20), ("SHA256", Self.seed32), ("SHA512", Self.seed64)]
        for ((algorithm, seed), code) in zip(algorithms, codes) {
            let run = try otp("otpauth://totp/x?secret=\(seed)&digits=8&algorithm=\(algorithm)", "--at \(time)")
            #expect(run.text == code + "\n", "\(algorithm): \(run.errors)")
        }
    }

    @Test func counter_afterACode_hasAdvancedAndNothingElseChanged() throws {
        _ = try otp("otpauth://hotp/A%20B?issuer=x&counter=9&secret=\(Self.seed20)#end")
        #expect(
            try tool.get(service: "otp", account: "a")
                == Data("otpauth://hotp/A%20B?issuer=x&counter=10&secret=\(Self.seed20)#end".utf8))
    }

    @Test(arguments: ["%\n", "%\r\n", " %", "\n\t % \n\n"])
    func value_withWhiteSpaceAround_isUsedAsWithout(around: String) throws {
        let totp = "otpauth://totp/x?secret=\(Self.seed20)"
        #expect(try otp(around.replacingOccurrences(of: "%", with: totp), "--at 59").text == "287082\n")
        let hotp = "otpauth://hotp/x?secret=\(Self.seed20)&counter="
        #expect(try otp(around.replacingOccurrences(of: "%", with: hotp + "0")).text == "755224\n")
        #expect(try tool.run("otp", "-s", "otp").text == "287082\n")
        #expect(try tool.get(service: "otp", account: "a") == Data((hotp + "2").utf8))
    }

    private static let hasQRPrograms = ["zbarimg", "qrencode"].allSatisfy { Programs.installed($0) != nil }

    /// As the help shows it. The URL is in no argument: qrencode reads it from standard input.
    @Test(
        .enabled(if: hasQRPrograms, "zbarimg or qrencode is not installed"),
        arguments: [
            ("totp", "issuer=GitHub", "--at 59", ["287082", "287082"]),
            ("hotp", "counter=0", "", ["755224", "287082"]),
        ])
    func pictureOfAQRCode_readByZbarimg_givesItsCodes(
        kind: String, parameter: String, options: String, codes: [String]
    ) throws {
        let url = "otpauth://\(kind)/GitHub:alice?secret=\(Self.seed20)&\(parameter)"
        let run = try tool.shell(
            """
            set -e
            qrencode -o code.png
            zbarimg -q --raw code.png | "$CTL" set -s otp -a github
            "$CTL" otp -s otp -a github \(options)
            "$CTL" otp -s otp -a github \(options)
            """, input: Data(url.utf8))
        #expect(run.status == 0 && run.text.split(separator: "\n").map(String.init) == codes, "\(run.everything)")
    }

    @Test func counter_whoseCodeCannotBePrinted_hasAdvanced() throws {
        let run = try otp("otpauth://hotp/x?secret=\(Self.seed20)&counter=0", ">&-")
        #expect(run.status == 17)
        #expect(try tool.run("otp", "-s", "otp").text == "287082\n")
    }

    @Test func counter_whoseCodeCannotBePrinted_isSaidToHaveAdvanced() throws {
        let run = try otp("otpauth://hotp/x?secret=\(Self.seed20)&counter=0", ">&-")
        #expect(run.errors.contains("The counter was advanced. Could not write to standard output"), "\(run.errors)")
    }

    @Test func time_whoseCodeCannotBePrinted_isNotSaidToHaveAdvanced() throws {
        let run = try otp("otpauth://totp/x?secret=\(Self.seed20)", ">&-")
        #expect(run.status == 17 && !run.errors.contains("advanced"), "\(run.errors)")
    }

    @Test func counter_ofSeveralProcesses_givesNoCodeTwice() throws {
        try tool.store(Data("otpauth://hotp/x?secret=\(Self.seed20)&counter=0".utf8), service: "otp", account: "a")
        let run = try tool.shell("seq 6 | xargs -P 6 -I{} \"$CTL\" otp -s otp -a a")
        let codes = run.text.split(separator: "\n")
        #expect(Swift.Set(codes).count == 6, "\(run.everything)")
    }

    @Test func time_withoutAnother_isNow() throws {
        let run = try otp("otpauth://totp/x?secret=\(Self.seed20)&period=86400")
        #expect(run.text.wholeMatch(of: /[0-9]{6}\n/) != nil, "\(run.everything)")
    }

    @Test(arguments: [
        "plain", "otpauth://totp/x", "otpauth://totp/x?secret=", "otpauth://totp/x?secret=1",
        "otpauth://totp/x?secret=AAA",
        "otpauth://totp/x?secret=AAAA&digits=5", "otpauth://totp/x?secret=AAAA&digits=9",
        "otpauth://totp/x?secret=AAAA&digits=99999999999999999999999", "otpauth://totp/x?secret=AAAA&period=0",
        "otpauth://totp/x?secret=AAAA&period=-1", "otpauth://totp/x?secret=AAAA&algorithm=MD5",
        "otpauth://hotp/x?secret=AAAA", "otpauth://hotp/x?secret=AAAA&counter=18446744073709551616",
        "otpauth://hotp/x?secret=AAAA&counter=18446744073709551615", "otpauth://totp/x?secret=AAAA&secret=BBBB",
        "otpauth://totp/x?secret=%4", "otpauth://other/x?secret=AAAA", " \n",
        "otpauth://totp/x?secret=AAAA&issuer=y\notpauth://totp/z?issuer=z",
        "otpauth://totp/x?secret=AAAA&issuer=y\r\notpauth://totp/z?issuer=z",
    ])
    func value_thatIsNoURL_isAnErrorAndStays(value: String) throws {
        let run = try otp(value)
        #expect(run.status == 1, "\(run.everything)")
        #expect(!run.everything.contains("AAAA"))
        #expect(try tool.get(service: "otp", account: "a") == Data(value.utf8))
    }
}
