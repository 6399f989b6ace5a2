// SPDX-License-Identifier: Apache-2.0
// Where the root certificates that the system trusts are.

/// Files of certificates in PEM.
package enum RootFiles {
    /// The first one that exists is used.
    package static let standard = [
        "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Arch, Gentoo
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, RHEL
        "/etc/pki/tls/certs/ca-bundle.crt",  // older Fedora and RHEL
        "/etc/ssl/ca-bundle.pem",  // openSUSE
        "/etc/ssl/cert.pem",  // Alpine
        "/etc/pki/tls/cacert.pem",  // OpenELEC
    ]

    /// The name of the variable whose file is used alone, if it is set.
    package static let variable = "SSL_CERT_FILE"
}
