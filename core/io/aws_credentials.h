/* SPDX-License-Identifier: Apache-2.0
 *
 * Where AWS keys come from: what is configured; the environment; the shared files (~/.aws/credentials, ~/.aws/config,
 * AWS_PROFILE); web identity (STS); the container's endpoint; the instance's (IMDSv2): the first that has keys, in this
 * order. Temporary keys are fetched anew before they expire. A source that is there but broken is an error, not
 * skipped. One thread.
 */
#ifndef EBB_IO_AWS_CREDENTIALS_H
#define EBB_IO_AWS_CREDENTIALS_H

#include "base/clock.h"
#include "io/sigv4.h"

struct ebb_http_sync;

#define EBB_AWS_REFRESH_MS ((int64_t)5 * 60 * 1000) /* before they expire */

/* What was configured; every text may be NULL or "" (not said). */
struct ebb_aws_config {
    const char *access_key_id, *secret_access_key, *session_token;
    const char *profile;                      /* NULL: AWS_PROFILE, else "default" */
    const char *region;                       /* NULL: AWS_REGION, AWS_DEFAULT_REGION, the profile's */
    const char *sts_endpoint, *imds_endpoint; /* NULL: the environment's (AWS_ENDPOINT_URL_STS,
                                                 AWS_EC2_METADATA_SERVICE_ENDPOINT), else the usual ones */
    bool without_imds;                        /* also AWS_EC2_METADATA_DISABLED=true */
};

struct ebb_aws_credentials;
/* All of config is copied; sync and clock are borrowed. Nothing is read yet. */
int ebb_aws_credentials_new(const struct ebb_aws_config *config, struct ebb_http_sync *sync, struct ebb_clock clock,
                            struct ebb_aws_credentials **out, struct ebb_err *err);
void ebb_aws_credentials_free(struct ebb_aws_credentials *credentials);
/* The keys as of now, fetched when need be. Borrowed until the next call. EBB_ECONFIG with a hint when no source has
 * any, or one is broken; EBB_EIO. */
int ebb_aws_credentials_get(struct ebb_aws_credentials *credentials, struct ebb_aws_keys *out, struct ebb_err *err);
/* The server said that they have expired: the next get fetches them anew. */
void ebb_aws_credentials_forget(struct ebb_aws_credentials *credentials);
/* Region as configured or found, NULL when nothing says one. Borrowed. */
const char *ebb_aws_credentials_region(struct ebb_aws_credentials *credentials);
/* Where the keys came from, for `ebb doctor`: "configuration", "environment", "profile NAME", …; "" before the first
 * get. */
const char *ebb_aws_credentials_source(const struct ebb_aws_credentials *credentials);

#endif
