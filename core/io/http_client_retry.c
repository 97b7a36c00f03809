/* SPDX-License-Identifier: Apache-2.0
 *
 * What is tried again, and when (RFC 9110 sections 9.2.2 and 10.2.3).
 */
#include "io/http_client_priv.h"

#include <time.h>
#include <xxhash.h>

#include "base/text.h"

/* Nothing was sent: whatever was asked, it was not done. */
static bool is_before_sending(CURLcode code)
{
    return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY ||
           code == CURLE_SSL_CONNECT_ERROR;
}

bool ebb__http_is_passing(CURLcode code)
{
    return is_before_sending(code) || code == CURLE_OPERATION_TIMEDOUT || code == CURLE_GOT_NOTHING ||
           code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR || code == CURLE_PARTIAL_FILE;
}

static bool is_passing_status(int status)
{
    return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

static int64_t date_of(const struct ebb_strs *headers, const char *name)
{
    struct ebb_http_result result = {.headers = headers};
    const char *text = ebb_http_result_header(&result, name);
    time_t at = text ? curl_getdate(text, NULL) : -1;

    return at < 0 ? -1 : (int64_t)at;
}

/* Milliseconds; 0: nothing said. A date is meant by the clock of the one who said it. */
static int64_t asked_for(const struct ebb_http_request *r)
{
    struct ebb_http_result result = {.headers = &r->answer_headers};
    const char *text = ebb_http_result_header(&result, "Retry-After");
    int64_t seconds, now;

    if (!text)
        return 0;
    if (!ebb_text_count(text, &seconds)) {
        int64_t until = date_of(&r->answer_headers, "Retry-After");

        now = date_of(&r->answer_headers, "Date");
        if (now < 0)
            now = (int64_t)time(NULL);
        seconds = until > now ? until - now : 0;
    }
    return seconds > INT64_MAX / 1000 ? INT64_MAX : seconds * 1000;
}

/* Between a half and the whole of the doubled pause; the same for the same seed and try. */
static int64_t back_off(const struct ebb_http_request *r)
{
    uint64_t wait = r->first_wait_ms, half;

    for (unsigned i = 1; i < r->tries && wait < r->max_wait_ms; i++)
        wait *= 2;
    if (wait > r->max_wait_ms)
        wait = r->max_wait_ms;
    half = wait / 2;
    return (int64_t)(wait - half + XXH64(&r->tries, sizeof r->tries, r->seed) % (half + 1));
}

bool ebb__http_retry(const struct ebb_http_request *r, CURLcode code, unsigned *wait_ms)
{
    int64_t wait, asked, left = r->ends_at - ebb_clock_elapsed_ms();

    if (r->tries >= r->tries_max)
        return false;
    if (code ? !ebb__http_is_passing(code) : !is_passing_status(r->status))
        return false;
    if (!r->may_repeat && !is_before_sending(code))
        return false;
    wait = back_off(r);
    asked = code ? 0 : asked_for(r);
    if (asked > wait)
        wait = asked;
    if (wait >= left)
        return false;
    *wait_ms = (unsigned)wait;
    return true;
}
