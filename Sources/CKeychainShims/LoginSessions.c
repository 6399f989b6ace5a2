// SPDX-License-Identifier: Apache-2.0
// Receives logind's signals through sd-bus.

#define _GNU_SOURCE
#include "LoginSessions.h"

#include <errno.h>
#include <stddef.h>

#ifdef __linux__

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const service = "org.freedesktop.login1";
static const char *const manager_path = "/org/freedesktop/login1";
static const char *const manager_interface = "org.freedesktop.login1.Manager";
static const char *const session_interface = "org.freedesktop.login1.Session";

// From sd-bus(3). Declared here, so that building does not need headers of systemd.
typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;
typedef int (*message_handler)(sd_bus_message *message, void *context, void *error);

struct library {
    void *handle;
    int (*open_system)(sd_bus **bus);
    sd_bus *(*unref)(sd_bus *bus);
    int (*add_match)(sd_bus *bus, void **slot, const char *rule, message_handler handler, void *context);
    int (*process)(sd_bus *bus, sd_bus_message **message);
    int (*wait)(sd_bus *bus, uint64_t microseconds);
    int (*call_method)(sd_bus *bus, const char *destination, const char *path, const char *interface,
                       const char *member, void *error, sd_bus_message **reply, const char *types, ...);
    int (*get_property)(sd_bus *bus, const char *destination, const char *path, const char *interface,
                        const char *member, void *error, sd_bus_message **reply, const char *type);
    int (*read)(sd_bus_message *message, const char *types, ...);
    const char *(*get_path)(sd_bus_message *message);
    sd_bus_message *(*message_unref)(sd_bus_message *message);
};

struct keychain_session_watch {
    struct library library;
    sd_bus *bus;
    /// While it is open, the system does not sleep.
    int inhibitor;
    /// What the handlers saw in the last message.
    long event;
    /// The session that was locked; its owner is queried afterwards.
    char session[256];
};

// MARK: - Loading

static int find(void *handle, const char *name, void *function) {
    // POSIX allows storing a function pointer in an object pointer; C does not, hence this form.
    *(void **)function = dlsym(handle, name);
    return *(void **)function != NULL;
}

static int load(struct library *library) {
    void *handle = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    library->handle = handle;
    return handle != NULL && find(handle, "sd_bus_open_system", &library->open_system)
        && find(handle, "sd_bus_flush_close_unref", &library->unref)
        && find(handle, "sd_bus_add_match", &library->add_match)
        && find(handle, "sd_bus_process", &library->process) && find(handle, "sd_bus_wait", &library->wait)
        && find(handle, "sd_bus_call_method", &library->call_method)
        && find(handle, "sd_bus_get_property", &library->get_property)
        && find(handle, "sd_bus_message_read", &library->read)
        && find(handle, "sd_bus_message_get_path", &library->get_path)
        && find(handle, "sd_bus_message_unref", &library->message_unref);
}

// MARK: - Receiving

static int heard_lock(sd_bus_message *message, void *context, void *error) {
    struct keychain_session_watch *watch = context;
    (void)error;
    const char *path = watch->library.get_path(message);
    int length = snprintf(watch->session, sizeof watch->session, "%s", path != NULL ? path : "");
    if (length >= 0 && (size_t)length < sizeof watch->session) watch->event = KEYCHAIN_SESSION_LOCKED;
    return 0;
}

static int heard_sleep(sd_bus_message *message, void *context, void *error) {
    struct keychain_session_watch *watch = context;
    int begins = 0;
    (void)error;
    if (watch->library.read(message, "b", &begins) < 0) return 0;
    watch->event = begins ? KEYCHAIN_SYSTEM_GOING_TO_SLEEP : KEYCHAIN_SYSTEM_AWAKE;
    return 0;
}

static int listen_to_logind(struct keychain_session_watch *watch) {
    char rule[256];
    snprintf(rule, sizeof rule, "type='signal',sender='%s',interface='%s',member='Lock'", service, session_interface);
    int result = watch->library.add_match(watch->bus, NULL, rule, heard_lock, watch);
    if (result < 0) return result;
    snprintf(rule, sizeof rule, "type='signal',sender='%s',interface='%s',member='PrepareForSleep'", service,
             manager_interface);
    return watch->library.add_match(watch->bus, NULL, rule, heard_sleep, watch);
}

// A session that has ended meanwhile cannot be queried. It counts as ours, since an unnecessary lock does no harm.
static int is_ours(struct keychain_session_watch *watch) {
    sd_bus_message *reply = NULL;
    uint32_t user = 0;
    const char *path = NULL;
    int result = watch->library.get_property(watch->bus, service, watch->session, session_interface, "User", NULL,
                                             &reply, "(uo)");
    if (result >= 0) result = watch->library.read(reply, "(uo)", &user, &path);
    watch->library.message_unref(reply);
    return result < 0 || user == getuid();
}

// MARK: - Calls

long keychain_session_watch_open(struct keychain_session_watch **opened) {
    struct keychain_session_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL) return -ENOMEM;
    watch->inhibitor = -1;
    int result = load(&watch->library) ? watch->library.open_system(&watch->bus) : -ENOSYS;
    if (result >= 0) result = listen_to_logind(watch);
    if (result < 0) {
        keychain_session_watch_close(watch);
        return result;
    }
    *opened = watch;
    return 0;
}

long keychain_session_watch_next(struct keychain_session_watch *watch) {
    while (1) {
        watch->event = 0;
        int result = watch->library.process(watch->bus, NULL);
        if (watch->event == KEYCHAIN_SESSION_LOCKED && !is_ours(watch)) watch->event = 0;
        if (watch->event != 0) return watch->event;
        if (result == 0) result = watch->library.wait(watch->bus, UINT64_MAX);
        if (result < 0 && result != -EINTR) return result;
    }
}

long keychain_session_watch_delay_sleep(struct keychain_session_watch *watch) {
    sd_bus_message *reply = NULL;
    int descriptor = -1;
    if (watch->inhibitor >= 0) return 0;
    int result = watch->library.call_method(watch->bus, service, manager_path, manager_interface, "Inhibit", NULL,
                                            &reply, "ssss", "sleep", "swift-keychain", "The keychain is locked first",
                                            "delay");
    if (result >= 0) result = watch->library.read(reply, "h", &descriptor);
    // The message closes its own descriptor.
    if (result >= 0) watch->inhibitor = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (result >= 0 && watch->inhibitor < 0) result = -errno;
    watch->library.message_unref(reply);
    return result < 0 ? result : 0;
}

void keychain_session_watch_allow_sleep(struct keychain_session_watch *watch) {
    if (watch->inhibitor >= 0) close(watch->inhibitor);
    watch->inhibitor = -1;
}

void keychain_session_watch_close(struct keychain_session_watch *watch) {
    keychain_session_watch_allow_sleep(watch);
    if (watch->bus != NULL) watch->library.unref(watch->bus);
    if (watch->library.handle != NULL) dlclose(watch->library.handle);
    free(watch);
}

#else

long keychain_session_watch_open(struct keychain_session_watch **watch) { return (void)watch, -ENOSYS; }

long keychain_session_watch_next(struct keychain_session_watch *watch) { return (void)watch, -ENOSYS; }

long keychain_session_watch_delay_sleep(struct keychain_session_watch *watch) { return (void)watch, -ENOSYS; }

void keychain_session_watch_allow_sleep(struct keychain_session_watch *watch) { (void)watch; }

void keychain_session_watch_close(struct keychain_session_watch *watch) { (void)watch; }

#endif
