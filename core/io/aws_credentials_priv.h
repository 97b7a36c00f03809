/* SPDX-License-Identifier: Apache-2.0
 *
 * The sources of AWS keys: shared files, web identity, the container's and the instance's endpoint. Each sets *found
 * and the keys, or leaves both; a source that is there but broken is an error.
 */
#ifndef EBB_IO_AWS_CREDENTIALS_PRIV_H
#define EBB_IO_AWS_CREDENTIALS_PRIV_H

#include <stdio.h>

#include "io/aws_credentials.h"
#include "io/http_sync.h"

struct ebb_aws_credentials {
    struct ebb_http_sync *sync;
    struct ebb_clock clock;
    char *config_id, *config_secret, *config_token;
    char *profile, *region, *sts_endpoint, *imds_endpoint; /* NULL: not said */
    bool without_imds;
    char *id, *secret, *token; /* as of now; id NULL: none */
    int64_t expires_ms;        /* 0: never */
    char source[128];
};

/* NULL when it is unset or empty. */
const char *ebb__aws_env(const char *name);
/* Keep keys. Texts are copied. */
int ebb__aws_keys_set(struct ebb_aws_credentials *c, const char *id, const char *secret, const char *token,
                      int64_t expires_ms, const char *source, struct ebb_err *err);

/* aws_profile.c: ~/.aws/credentials and ~/.aws/config, or what AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE name. */
int ebb__aws_from_profile(struct ebb_aws_credentials *c, bool *found, struct ebb_err *err);
/* *out is replaced; stays NULL when the profile names no region. */
int ebb__aws_profile_region(struct ebb_aws_credentials *c, char **out, struct ebb_err *err);

/* aws_remote.c */
int ebb__aws_from_token(struct ebb_aws_credentials *c, bool *found, struct ebb_err *err);
int ebb__aws_from_container(struct ebb_aws_credentials *c, bool *found, struct ebb_err *err);
int ebb__aws_from_instance(struct ebb_aws_credentials *c, bool *found, struct ebb_err *err);

#endif
