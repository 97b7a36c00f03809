/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct error_fact {
    const char *code;
    const char *class_name;
    int exit_status;
};

static const struct error_fact FACTS[EBB_ERROR_COUNT] = {{"ok", "", 0},
#define X(symbol, code, class_, exit_) {code, class_, exit_},
                                                         EBB_ERRORS(X)
#undef X
};

__attribute__((format(printf, 3, 0))) static int fill(struct ebb_err *err, enum ebb_error error, const char *format,
                                                      va_list args)
{
    char message[EBB_ERR_MESSAGE_MAX] = "";

    if (err) {
        /* An argument may be the old message. */
        vsnprintf(message, sizeof message, format, args);
        memcpy(err->message, message, sizeof message);
        err->error = error;
        err->retryable = false;
        err->hint[0] = '\0';
    }
    return -(int)error;
}

int ebb_err_set(struct ebb_err *err, enum ebb_error error, const char *format, ...)
{
    va_list args;
    int rc;

    va_start(args, format);
    rc = fill(err, error, format, args);
    va_end(args);
    return rc;
}

static enum ebb_error from_errno(int errno_value)
{
    switch (errno_value) {
    case ENOSPC:
    case EDQUOT:
        return EBB_ENOSPACE;
    case EACCES:
    case EPERM:
    case EROFS:
        return EBB_EPERMISSION;
    case ENOENT:
        return EBB_ENOENT;
    case EEXIST:
        return EBB_EEXIST;
    case ENOMEM:
        return EBB_ENOMEM;
    default:
        return EBB_EIO;
    }
}

int ebb_err_errno(struct ebb_err *err, int errno_value, const char *format, ...)
{
    va_list args;
    int rc;
    size_t used;

    va_start(args, format);
    rc = fill(err, from_errno(errno_value), format, args);
    va_end(args);
    if (err) {
        used = strlen(err->message);
        snprintf(err->message + used, sizeof err->message - used, ": %s", strerror(errno_value));
    }
    return rc;
}

int ebb_err_nomem(struct ebb_err *err)
{
    return ebb_err_set(err, EBB_ENOMEM, "memory: exhausted");
}

void ebb_err_hint(struct ebb_err *err, const char *format, ...)
{
    va_list args;

    if (!err)
        return;
    va_start(args, format);
    vsnprintf(err->hint, sizeof err->hint, format, args);
    va_end(args);
}

int ebb_err_as(struct ebb_err *err, enum ebb_error error, const char *prefix)
{
    char old[EBB_ERR_MESSAGE_MAX];

    if (!err)
        return -(int)error;
    err->error = error;
    if (prefix) {
        memcpy(old, err->message, sizeof old);
        snprintf(err->message, sizeof err->message, "%s: ", prefix);
        strncat(err->message, old, sizeof err->message - strlen(err->message) - 1);
    }
    return -(int)error;
}

static const struct error_fact *fact(enum ebb_error error)
{
    if ((int)error < 0 || error >= EBB_ERROR_COUNT)
        error = EBB_EINTERNAL;
    return &FACTS[error];
}

const char *ebb_error_code(enum ebb_error error)
{
    return fact(error)->code;
}

const char *ebb_error_class(enum ebb_error error)
{
    return fact(error)->class_name;
}

int ebb_error_exit(enum ebb_error error)
{
    return fact(error)->exit_status;
}
