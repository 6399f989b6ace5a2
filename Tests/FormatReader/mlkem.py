# SPDX-License-Identifier: Apache-2.0
# ML-KEM-768 as specified in FIPS 203: making keys, and decapsulation. Slow, and not constant in time: for tests only.

import hashlib

Q, N, K, ETA, DU, DV = 3329, 256, 3, 2, 10, 4
CIPHERTEXT = 32 * (DU * K + DV)
PUBLIC_KEY = 384 * K + 32


def reversed_bits(number):
    return int(f"{number:07b}"[::-1], 2)


ZETAS = [pow(17, reversed_bits(i), Q) for i in range(128)]
GAMMAS = [pow(17, 2 * reversed_bits(i) + 1, Q) for i in range(128)]


def ntt(polynomial):
    f, i, length = list(polynomial), 1, 128
    while length >= 2:
        for start in range(0, N, 2 * length):
            zeta, i = ZETAS[i], i + 1
            for j in range(start, start + length):
                t = zeta * f[j + length] % Q
                f[j + length], f[j] = (f[j] - t) % Q, (f[j] + t) % Q
        length //= 2
    return f


def inverse_ntt(polynomial):
    f, i, length = list(polynomial), 127, 2
    while length <= 128:
        for start in range(0, N, 2 * length):
            zeta, i = ZETAS[i], i - 1
            for j in range(start, start + length):
                t = f[j]
                f[j], f[j + length] = (t + f[j + length]) % Q, zeta * (f[j + length] - t) % Q
        length *= 2
    return [x * 3303 % Q for x in f]


def times(f, g):
    product = []
    for i in range(128):
        a, b, c, d = f[2 * i], f[2 * i + 1], g[2 * i], g[2 * i + 1]
        product += [(a * c + b * d * GAMMAS[i]) % Q, (a * d + b * c) % Q]
    return product


def plus(*polynomials):
    return [sum(parts) % Q for parts in zip(*polynomials)]


def inner(row, column):
    return plus(*(times(f, g) for f, g in zip(row, column)))


def encode(polynomial, bits):
    number = sum(x << bits * i for i, x in enumerate(polynomial))
    return number.to_bytes(32 * bits, "little")


def decode(data, bits):
    number, mask = int.from_bytes(data, "little"), (1 << bits) - 1
    return [number >> bits * i & mask for i in range(N)]


def compress(polynomial, bits):
    return [((x << bits + 1) + Q) // (2 * Q) % (1 << bits) for x in polynomial]


def decompress(polynomial, bits):
    return [(x * Q * 2 + (1 << bits)) >> bits + 1 for x in polynomial]


def sampled(seed):
    """A polynomial of the matrix, by rejection."""
    stream, found, at = hashlib.shake_128(seed).digest(3 * 600), [], 0
    while len(found) < N:
        a, b, c = stream[at:at + 3]
        found += [x for x in (a + 256 * (b % 16), b // 16 + 16 * c) if x < Q]
        at += 3
    return found[:N]


def noise(seed, number):
    bits = int.from_bytes(hashlib.shake_256(seed + bytes([number])).digest(64 * ETA), "little")
    quads = [bits >> 4 * i & 15 for i in range(N)]
    return [((x & 1) + (x >> 1 & 1) - (x >> 2 & 1) - (x >> 3)) % Q for x in quads]


def matrix(seed):
    return [[sampled(seed + bytes([j, i])) for j in range(K)] for i in range(K)]


def make_keys(d, z):
    """Public key, and private key."""
    seeds = hashlib.sha3_512(d + bytes([K])).digest()
    public_seed, secret_seed = seeds[:32], seeds[32:]
    secret = [ntt(noise(secret_seed, i)) for i in range(K)]
    error = [ntt(noise(secret_seed, K + i)) for i in range(K)]
    public = [plus(inner(row, secret), part) for row, part in zip(matrix(public_seed), error)]
    encoded = b"".join(encode(f, 12) for f in public) + public_seed
    return encoded, b"".join(encode(f, 12) for f in secret) + encoded + hashlib.sha3_256(encoded).digest() + z


def parts(data, bits):
    return [decode(data[at:at + 32 * bits], bits) for at in range(0, len(data), 32 * bits)]


def encrypt(public, message, seed):
    t, public_seed = parts(public[:384 * K], 12), public[384 * K:]
    y = [ntt(noise(seed, i)) for i in range(K)]
    columns = zip(*matrix(public_seed))
    u = [plus(inverse_ntt(inner(column, y)), noise(seed, K + i)) for i, column in enumerate(columns)]
    v = plus(inverse_ntt(inner(t, y)), noise(seed, 2 * K), decompress(decode(message, 1), 1))
    return b"".join(encode(compress(f, DU), DU) for f in u) + encode(compress(v, DV), DV)


def decrypt(secret, ciphertext):
    u = [ntt(decompress(f, DU)) for f in parts(ciphertext[:32 * DU * K], DU)]
    v = decompress(decode(ciphertext[32 * DU * K:], DV), DV)
    w = plus(v, [-x for x in inverse_ntt(inner(parts(secret, 12), u))])
    return encode(compress(w, 1), 1)


def decapsulate(private, ciphertext):
    """The shared secret; another one if the ciphertext is not of this key, as the standard says."""
    secret, public = private[:384 * K], private[384 * K:768 * K + 32]
    digest, z = private[768 * K + 32:768 * K + 64], private[768 * K + 64:]
    message = decrypt(secret, ciphertext)
    seeds = hashlib.sha3_512(message + digest).digest()
    if encrypt(public, message, seeds[32:]) == ciphertext:
        return seeds[:32]
    return hashlib.shake_256(z + ciphertext).digest(32)
