// SPDX-License-Identifier: Apache-2.0
// libsecret in C, in front of whatever serves the Secret Service on the bus.

#include "contender.h"

#include <libsecret/secret.h>
#include <stdio.h>
#include <string.h>

static SecretService *service;
static bool finds_before_update;

static void check(GError *error) {
    if (!error) return;
    char words[400];
    snprintf(words, sizeof words, "%s", error->message);
    g_error_free(error);
    fail("%s", words);
}

// The attributes that Python's keyring gives its items, so that all clients find the same ones.
static GHashTable *attributes_of(int index, bool has_account) {
    GHashTable *attributes = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    char name[NAME_LENGTH];
    name_service(index, name);
    g_hash_table_insert(attributes, "service", g_strdup(name));
    if (!has_account) return attributes;
    name_account(index, name);
    g_hash_table_insert(attributes, "username", g_strdup(name));
    g_hash_table_insert(attributes, "application", g_strdup("Python keyring library"));
    return attributes;
}

// One session with the service for the life of the process. With `find-and-set`, an update finds the item and sets its secret; else it
// is what libsecret calls storing, which replaces an item with the same attributes.
void peer_open(const char *store) {
    finds_before_update = strcmp(store, "find-and-set") == 0;
    GError *error = NULL;
    service = secret_service_get_sync(SECRET_SERVICE_OPEN_SESSION, NULL, &error);
    check(error);
}

void peer_read(int index) {
    GError *error = NULL;
    GHashTable *attributes = attributes_of(index, true);
    SecretValue *value = secret_service_lookup_sync(service, NULL, attributes, NULL, &error);
    g_hash_table_unref(attributes);
    check(error);
    gsize length = 0;
    if (value) secret_value_get(value, &length);
    if (value) secret_value_unref(value);
    if (length != SECRET_LENGTH) fail("item %d is not there", index);
}

static SecretValue *new_value(void) {
    char text[SECRET_LENGTH + 1];
    new_secret(text);
    return secret_value_new(text, SECRET_LENGTH, "text/plain");
}

void peer_add(int index) {
    GError *error = NULL;
    char label[NAME_LENGTH];
    name_account(index, label);
    GHashTable *attributes = attributes_of(index, true);
    SecretValue *value = new_value();
    gboolean is_stored =
        secret_service_store_sync(service, NULL, attributes, SECRET_COLLECTION_DEFAULT, label, value, NULL, &error);
    secret_value_unref(value);
    g_hash_table_unref(attributes);
    check(error);
    if (!is_stored) fail("item %d was not stored", index);
}

void peer_update(int index) {
    if (!finds_before_update) {
        peer_add(index);
        return;
    }
    GError *error = NULL;
    GHashTable *attributes = attributes_of(index, true);
    GList *items = secret_service_search_sync(service, NULL, attributes, SECRET_SEARCH_NONE, NULL, &error);
    g_hash_table_unref(attributes);
    check(error);
    if (!items) fail("item %d is not there", index);
    SecretValue *value = new_value();
    secret_item_set_secret_sync(items->data, value, NULL, &error);
    secret_value_unref(value);
    g_list_free_full(items, g_object_unref);
    check(error);
}

void peer_delete(int index) {
    GError *error = NULL;
    GHashTable *attributes = attributes_of(index, true);
    gboolean is_gone = secret_service_clear_sync(service, NULL, attributes, NULL, &error);
    g_hash_table_unref(attributes);
    check(error);
    if (!is_gone) fail("item %d is not there", index);
}

// The items with their attributes, without their secrets.
int peer_list(int index) {
    GError *error = NULL;
    GHashTable *attributes = attributes_of(index, false);
    GList *items = secret_service_search_sync(service, NULL, attributes, SECRET_SEARCH_ALL, NULL, &error);
    g_hash_table_unref(attributes);
    check(error);
    int count = 0;
    for (GList *place = items; place; place = place->next) {
        GHashTable *found = secret_item_get_attributes(place->data);
        count += g_hash_table_contains(found, "username");
        g_hash_table_unref(found);
    }
    g_list_free_full(items, g_object_unref);
    return count;
}

void peer_begin(void) {}
void peer_commit(void) {}
