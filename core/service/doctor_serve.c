/* SPDX-License-Identifier: Apache-2.0 */
#include "service/doctor_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAY_S 86400

/* ---- TLS ---- */

static X509 *read_cert(const char *file)
{
    BIO *bio = BIO_new_file(file, "rb");
    X509 *cert = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;

    BIO_free(bio);
    return cert;
}

/* A key that asks for a pass phrase can't be used by a daemon. */
static int no_passphrase(char *buf, int size, int is_writing, void *data)
{
    (void)buf;
    (void)size;
    (void)is_writing;
    (void)data;
    return -1;
}

static EVP_PKEY *read_key(const char *file)
{
    BIO *bio = BIO_new_file(file, "rb");
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL) : NULL;

    BIO_free(bio);
    return key;
}

static void tell_days(struct ebb__doctor *d, const char *file, X509 *cert)
{
    time_t now = (time_t)(ebb_clock_now(&d->o->clock) / 1000);
    int days = 0, seconds = 0;
    ASN1_TIME *at = ASN1_TIME_set(NULL, now);

    if (at && ASN1_TIME_diff(&days, &seconds, at, X509_get0_notAfter(cert)) && (days < 0 || seconds < 0))
        ebb__doctor_say(d, EBB_DOCTOR_FAIL, "serve", "put in a new certificate", "%s: the certificate has expired",
                        file);
    else if (at && days < 21)
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "serve", "put in a new certificate",
                        "%s: the certificate expires within %d days", file, days + 1);
    else
        ebb__doctor_say(d, EBB_DOCTOR_OK, "serve", "", "%s: the certificate is good for %d days", file, days);
    ASN1_TIME_free(at);
}

static void look_at_key(struct ebb__doctor *d, const char *file)
{
    struct stat st;

    if (stat(file, &st) == 0 && (st.st_mode & (S_IRWXO | S_IWGRP)))
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "serve", "chmod 0600", "%s: others may read the key (mode %04o)", file,
                        (unsigned)(st.st_mode & 07777));
}

static void look_at_tls(struct ebb__doctor *d, const struct ebb_serve_config *s)
{
    X509 *cert = read_cert(s->cert);
    EVP_PKEY *key = read_key(s->key);

    if (!cert)
        ebb__doctor_say(d, EBB_DOCTOR_FAIL, "serve", "serve.tls.cert", "%s: can't be read as a certificate in PEM",
                        s->cert);
    else if (!key)
        ebb__doctor_say(d, EBB_DOCTOR_FAIL, "serve", "serve.tls.key, without a pass phrase",
                        "%s: can't be read as a private key in PEM", s->key);
    else if (X509_check_private_key(cert, key) != 1)
        ebb__doctor_say(d, EBB_DOCTOR_FAIL, "serve", "", "%s: is not the key of the certificate %s", s->key, s->cert);
    else
        tell_days(d, s->cert, cert);
    look_at_key(d, s->key);
    EVP_PKEY_free(key);
    X509_free(cert);
}

/* ---- the rest ---- */

static bool is_loopback(const char *listen)
{
    return !strncmp(listen, "127.", 4) || !strncmp(listen, "[::1]:", 6);
}

static void look_at_address(struct ebb__doctor *d, const struct ebb_serve_config *s)
{
    if (is_loopback(s->listen))
        return;
    if (!s->cert && !s->insecure)
        ebb__doctor_say(d, EBB_DOCTOR_FAIL, "serve", "serve.tls, or insecure = true behind a proxy that ends TLS",
                        "%s: beyond loopback without TLS, the daemon will not start", s->listen);
    if (strcmp(s->auth, "token") != 0)
        ebb__doctor_say(d, EBB_DOCTOR_FAIL, "serve", "serve.auth = \"token\"",
                        "%s: beyond loopback without tokens, the daemon will not start", s->listen);
    if (!s->cert && s->insecure)
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "serve", "is there a proxy that ends TLS",
                        "%s: tokens go over the network in the clear", s->listen);
}

static void look_at_program(struct ebb__doctor *d, const char *key, const char *path)
{
    struct stat st;

    if (access(path, X_OK) != 0)
        ebb__doctor_say(d, EBB_DOCTOR_FAIL, "serve", "make it a program that ebb may run, or take it out", "%s: %s: %s",
                        key, path, strerror(errno));
    else if (stat(path, &st) == 0 && (st.st_mode & (S_IWGRP | S_IWOTH)))
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "serve", "chmod go-w", "%s: %s: others may write to it", key, path);
}

void ebb__doctor_serve(struct ebb__doctor *d)
{
    const struct ebb_serve_config *s = &d->config->serve;

    look_at_address(d, s);
    if (s->cert)
        look_at_tls(d, s);
    for (size_t i = 0; i < s->executables.count; i++)
        look_at_program(d, "executables", s->executables.items[i]);
    for (size_t i = 0; i < s->notify_count; i++)
        if (!s->notify[i].url)
            look_at_program(d, "notify", s->notify[i].command.items[0]);
    ebb__doctor_say(d, EBB_DOCTOR_OK, "serve", "",
                    "listens on %s, auth %s, jobs at once %" PRId64 ", ways to tell people %zu", s->listen, s->auth,
                    s->jobs, s->notify_count);
}
