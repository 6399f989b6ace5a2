// SPDX-License-Identifier: Apache-2.0
// Raw SQLite, and with SEALED raw SQLite with AES-256-GCM: floors, for they check, hide and coordinate nothing else.

#include "contender.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef SEALED
#include <openssl/evp.h>
#include <openssl/rand.h>
enum { NONCE = 12, TAG = 16, STORED_LENGTH = NONCE + SECRET_LENGTH + TAG };
static unsigned char key[32];
static EVP_CIPHER_CTX *context;
#else
enum { STORED_LENGTH = SECRET_LENGTH };
#endif

static sqlite3 *db;
static sqlite3_stmt *select_one, *insert, *update, *delete, *select_names;

static void run_sql(const char *sql) {
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) fail("%s: %s", sql, sqlite3_errmsg(db));
}

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) fail("%s: %s", sql, sqlite3_errmsg(db));
    return statement;
}

#ifdef SEALED
static void open_key(const char *store) {
    char path[4096];
    snprintf(path, sizeof path, "%s/key", store);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) fail("the key cannot be opened");
    if (read(file, key, sizeof key) != sizeof key
        && (RAND_bytes(key, sizeof key) != 1 || pwrite(file, key, sizeof key, 0) != sizeof key))
        fail("the key cannot be made");
    close(file);
    context = EVP_CIPHER_CTX_new();
}

// The account is authenticated with the secret, so that rows cannot be exchanged.
static void seal(const char *account, const char *value, unsigned char stored[STORED_LENGTH]) {
    int length, is_sealed = RAND_bytes(stored, NONCE) == 1
        && EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, stored) == 1
        && EVP_EncryptUpdate(context, NULL, &length, (const unsigned char *)account, (int)strlen(account)) == 1
        && EVP_EncryptUpdate(context, stored + NONCE, &length, (const unsigned char *)value, SECRET_LENGTH) == 1
        && EVP_EncryptFinal_ex(context, stored + NONCE + length, &length) == 1
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, TAG, stored + NONCE + SECRET_LENGTH) == 1;
    if (!is_sealed) fail("a secret cannot be sealed");
}

static void open_sealed(const char *account, const unsigned char stored[STORED_LENGTH], unsigned char *value) {
    unsigned char tag[TAG];
    memcpy(tag, stored + NONCE + SECRET_LENGTH, TAG);
    int length, is_open = EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, stored) == 1
        && EVP_DecryptUpdate(context, NULL, &length, (const unsigned char *)account, (int)strlen(account)) == 1
        && EVP_DecryptUpdate(context, value, &length, stored + NONCE, SECRET_LENGTH) == 1
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, TAG, tag) == 1
        && EVP_DecryptFinal_ex(context, value + length, &length) == 1;
    if (!is_open) fail("a secret cannot be opened");
}
#else
static void open_key(const char *store) { (void)store; }

static void seal(const char *account, const char *value, unsigned char stored[STORED_LENGTH]) {
    (void)account;
    memcpy(stored, value, SECRET_LENGTH);
}

static void open_sealed(const char *account, const unsigned char stored[STORED_LENGTH], unsigned char *value) {
    (void)account;
    memcpy(value, stored, SECRET_LENGTH);
}
#endif

// The vault's settings, so that a commit is as durable as the vault's.
void peer_open(const char *store) {
    char path[4096];
    snprintf(path, sizeof path, "%s/items.db", store);
    if (sqlite3_open(path, &db) != SQLITE_OK) fail("the database cannot be opened");
    sqlite3_busy_timeout(db, 30000);
    run_sql("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON");
    run_sql("CREATE TABLE IF NOT EXISTS item (service TEXT NOT NULL, account TEXT NOT NULL, value BLOB NOT NULL, "
            "PRIMARY KEY (service, account)) WITHOUT ROWID");
    select_one = prepare("SELECT value FROM item WHERE service = ? AND account = ?");
    insert = prepare("INSERT INTO item (service, account, value) VALUES (?, ?, ?)");
    update = prepare("UPDATE item SET value = ?3 WHERE service = ?1 AND account = ?2");
    delete = prepare("DELETE FROM item WHERE service = ? AND account = ?");
    select_names = prepare("SELECT account FROM item WHERE service = ?");
    open_key(store);
}

static void bind(sqlite3_stmt *statement, const char *service, const char *account) {
    sqlite3_reset(statement);
    sqlite3_bind_text(statement, 1, service, -1, SQLITE_STATIC);
    if (account) sqlite3_bind_text(statement, 2, account, -1, SQLITE_STATIC);
}

void peer_read(int index) {
    char service[NAME_LENGTH], account[NAME_LENGTH];
    unsigned char value[SECRET_LENGTH];
    name_service(index, service);
    name_account(index, account);
    bind(select_one, service, account);
    if (sqlite3_step(select_one) != SQLITE_ROW || sqlite3_column_bytes(select_one, 0) != STORED_LENGTH)
        fail("item %d is not there: %s", index, sqlite3_errmsg(db));
    open_sealed(account, sqlite3_column_blob(select_one, 0), value);
    sqlite3_reset(select_one);
}

static void write_item(sqlite3_stmt *statement, int index, bool has_value) {
    char service[NAME_LENGTH], account[NAME_LENGTH];
    char value[SECRET_LENGTH + 1];
    unsigned char stored[STORED_LENGTH];
    name_service(index, service);
    name_account(index, account);
    bind(statement, service, account);
    if (has_value) {
        new_secret(value);
        seal(account, value, stored);
        sqlite3_bind_blob(statement, 3, stored, STORED_LENGTH, SQLITE_STATIC);
    }
    int result = sqlite3_step(statement), changes = sqlite3_changes(db);
    sqlite3_reset(statement);
    if (result != SQLITE_DONE || changes != 1) fail("item %d: %s", index, sqlite3_errmsg(db));
}

void peer_add(int index) { write_item(insert, index, true); }
void peer_update(int index) { write_item(update, index, true); }
void peer_delete(int index) { write_item(delete, index, false); }

int peer_list(int index) {
    char service[NAME_LENGTH];
    int count = 0;
    name_service(index, service);
    bind(select_names, service, NULL);
    while (sqlite3_step(select_names) == SQLITE_ROW) count += sqlite3_column_text(select_names, 0) != NULL;
    sqlite3_reset(select_names);
    return count;
}

void peer_begin(void) { run_sql("BEGIN IMMEDIATE"); }
void peer_commit(void) { run_sql("COMMIT"); }
