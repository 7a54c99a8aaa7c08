/* regcomp() and regexec(), in the account of the job. */
#include "base/text/pattern.h"

#include <errno.h>
#include <regex.h>

#include "base/run/job.h"
#include "base/run/mem.h"

struct pattern {
    regex_t compiled;
};

static void pattern_release(void *what, size_t n)
{
    (void)n;
    regfree(&((struct pattern *)what)->compiled);
}

struct pattern *pattern_new(const char *text, enum pattern_case letters, char why[PATTERN_WHY])
{
    struct pattern *p = mem_grow(NULL, sizeof(*p), 1);
    int error = regcomp(&p->compiled, text,
                        REG_EXTENDED | REG_NOSUB | (letters == PATTERN_ANY_CASE ? REG_ICASE : 0));

    if (error == REG_ESPACE)
        job_out_of_memory();
    if (error != 0) {
        regerror(error, &p->compiled, why, PATTERN_WHY);
        mem_free(p);
        return NULL;
    }
    job_hold(pattern_release, p, 0);
    return p;
}

void pattern_free(struct pattern *p)
{
    if (p == NULL)
        return;
    job_drop(pattern_release, p);
    regfree(&p->compiled);
    mem_free(p);
}

bool pattern_finds(const struct pattern *p, struct str text)
{
    regmatch_t part = {0, (regoff_t)text.n};

    errno = 0; /* glibc answers REG_NOMATCH also when it had no memory */
    int answer = regexec(&p->compiled, text.n > 0 ? text.at : "", 1, &part, REG_STARTEND);
    if (answer != 0 && errno == ENOMEM)
        job_out_of_memory();
    return answer == 0;
}
