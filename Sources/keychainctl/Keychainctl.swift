// SPDX-License-Identifier: Apache-2.0
// The root command, whose extensions are the other commands.

// Folders, from top to bottom:
//
// - Start: the beginning and end of every run
// - Commands: one file for each command
// - Security: macOS's command `security`
// - Import: entries of other programs' files and services
// - Credentials: the protocols of git, docker, ssh and sudo
// - Keys: private keys and certificates: their files, lists and signatures
// - Archive: exports, their files, and importing them
// - References: references to values, in variables and templates
// - OneTimeCodes: the codes of `otp`
// - Keychain: the user's keychain, how options select its items, and the versions that it keeps
// - Sync: the machines of a ring, their places and their units
// - Programs: other programs and services: starting them, and what passes between them and the tool
// - Input: values and secrets from outside or generated, and the options for them
// - Output: text, tables and JSON
// - .: what several folders share

import ArgumentParser

/// What it does is in the folder `Start`, which uses the commands. The commands need only its name.
struct Keychainctl: ParsableCommand {}
