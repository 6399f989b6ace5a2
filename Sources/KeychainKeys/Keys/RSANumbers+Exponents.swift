// SPDX-License-Identifier: Apache-2.0
// The two numbers of an RSA private key that PKCS#1 has and the SSH protocol has not.

import SecretMemory

extension RSANumbers {
    /// The private exponent for one prime: d mod p-1, which is the inverse of the public exponent e modulo p-1.
    ///
    /// It is (k · (p-1) + 1) / e for the only k below e that leaves no remainder. Since e is short, no arithmetic of two
    /// long numbers is needed.
    ///
    /// - Parameters:
    ///   - prime: An odd number.
    ///   - exponent: A valid public exponent, which has at most 33 bits.
    /// - Throws: `KeyFailure.malformed` if there is none.
    static func privateExponent(of prime: SecretSlice, for exponent: [UInt8]) throws(KeyFailure) -> SecretBytes {
        defer { scrubResidue() }
        let divisor = exponent.reduce(0) { $0 << 8 | UInt64($1) }
        let remainder = (0..<prime.count).reduce(0) { ($0 << 8 | byte($1, below: prime)) % divisor }
        guard let inverse = inverse(of: Int(remainder), modulo: Int(divisor)) else {
            throw .malformed("RSA prime")
        }
        return SecretBytes(count: prime.count + productExtra) { number in
            multiply(prime, by: divisor - UInt64(inverse), into: number)
            divide(number, by: divisor)
        }
    }

    /// The bytes by which the product may be longer than the prime.
    private static let productExtra = 5

    /// A byte of p-1.
    private static func byte(_ place: Int, below prime: SecretSlice) -> UInt64 {
        let byte = prime[prime.startIndex + place]
        return UInt64(place == prime.count - 1 ? byte & 0xFE : byte)
    }

    /// Writes factor · (p-1) + 1.
    private static func multiply(
        _ prime: SecretSlice, by factor: UInt64, into product: UnsafeMutableRawBufferPointer
    ) {
        var carry: UInt64 = 1
        for index in (0..<product.count).reversed() {
            let place = index - productExtra
            if place >= 0 { carry += factor * byte(place, below: prime) }
            product[index] = UInt8(truncatingIfNeeded: carry)
            carry >>= 8
        }
    }

    /// Replaces a number by its quotient.
    private static func divide(_ number: UnsafeMutableRawBufferPointer, by divisor: UInt64) {
        var remainder: UInt64 = 0
        for index in number.indices {
            let part = remainder << 8 | UInt64(number[index])
            number[index] = UInt8(part / divisor)
            remainder = part % divisor
        }
    }

    /// - Returns: `nil` if the numbers have a common divisor.
    private static func inverse(of number: Int, modulo modulus: Int) -> Int? {
        var (divisor, rest) = (modulus, number)
        var (factor, next) = (0, 1)
        while rest != 0 {
            let quotient = divisor / rest
            (divisor, rest) = (rest, divisor - quotient * rest)
            (factor, next) = (next, factor - quotient * next)
        }
        return divisor == 1 ? (factor + modulus) % modulus : nil
    }
}
