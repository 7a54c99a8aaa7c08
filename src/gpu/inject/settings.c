/*
 * What the environment asks for. See settings.h.
 */
#include "gpu/inject/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/char.h"
#include "base/text/mangled.h"

enum { NAME_MOST = 512 };

/* NULL for unset and empty ones. */
static const char *settings_value_of(const char *variable)
{
    const char *value = getenv(variable);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

static void complain(struct settings *s, const char *variable)
{
    if (s->bad == NULL)
        s->bad = variable;
}

static uint64_t settings_number_of(struct settings *s, const char *variable, uint64_t otherwise,
                                   uint64_t most)
{
    const char *value = settings_value_of(variable);
    char *end;

    if (value == NULL)
        return otherwise;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    if (!char_is_digit(value[0]) || *end != '\0' || errno != 0 || number > most) {
        complain(s, variable);
        return otherwise;
    }
    return number;
}

static int word_of(struct settings *s, const char *variable, const char *const *words, int n,
                   int otherwise)
{
    const char *value = settings_value_of(variable);

    if (value == NULL)
        return otherwise;
    for (int i = 0; i < n; i++)
        if (strcmp(value, words[i]) == 0)
            return i;
    complain(s, variable);
    return otherwise;
}

/* Cuts a variable into pieces, which lie in `text`. */
static unsigned settings_list_of(struct settings *s, const char *variable, char cut, char *text,
                                 const char **list, unsigned most)
{
    const char *value = settings_value_of(variable);
    unsigned n = 0;

    if (value == NULL)
        return 0;
    size_t size = strlen(value) + 1;
    if (size > SETTINGS_TEXT) {
        complain(s, variable);
        return 0;
    }
    memcpy(text, value, size);
    for (char *at = text; at != NULL;) {
        char *next = strchr(at, cut);
        if (next != NULL)
            *next++ = '\0';
        if (at[0] != '\0' && n < most)
            list[n++] = at;
        else if (at[0] != '\0')
            complain(s, variable);
        at = next;
    }
    return n;
}

void settings_read(struct settings *s)
{
    static const char *const modes[] = {"trace", "counters", "event", "samples"};
    static const char *const presets[] = {"min", "std", "full"};
    static const char *const clocks[] = {"real", "mono"};
    enum { PER_KERNEL = 3, PASSES = 2, PERIOD = 200, PERIOD_MOST = 3600000, SAMPLING_MOST = 31 };
    const char *kernel = settings_value_of("STRATA_INJECT_KERNEL");

    *s = (struct settings){.folder = settings_value_of("STRATA_TRACE_DIR"), .device = -1};
    s->mode = (enum inject_mode)word_of(s, "STRATA_INJECT_MODE", modes, 4, INJECT_TRACE);
    s->preset = (enum inject_preset)word_of(s, "STRATA_INJECT_PRESET", presets, 3, PRESET_STD);
    s->graphs = settings_number_of(s, "STRATA_INJECT_GRAPHS", 0, 1) != 0;
    s->latency = settings_number_of(s, "STRATA_INJECT_LATENCY", 0, 1) != 0;
    s->modules = settings_number_of(s, "STRATA_INJECT_MODULES", 0, 1) != 0;
    s->is_mono = word_of(s, "STRATA_INJECT_CLOCK", clocks, 2, 0) == 1;
    s->flush_bytes = settings_number_of(s, "STRATA_INJECT_FLUSH", 0, (uint64_t)1 << 36);
    if (settings_value_of("STRATA_INJECT_DEVICE") != NULL)
        s->device = (int64_t)settings_number_of(s, "STRATA_INJECT_DEVICE", 0, INT32_MAX);
    s->skip = settings_number_of(s, "STRATA_INJECT_SKIP", 0, INT64_MAX);
    s->count = settings_number_of(s, "STRATA_INJECT_COUNT", 0, INT64_MAX);
    s->per_kernel = settings_number_of(s, "STRATA_INJECT_PER_KERNEL", PER_KERNEL, INT64_MAX);
    s->is_replayed = settings_number_of(s, "STRATA_INJECT_REPLAY", 1, 1) != 0;
    s->passes = settings_number_of(s, "STRATA_INJECT_PASSES", PASSES, INT32_MAX);
    s->period_ms = (uint32_t)settings_number_of(s, "STRATA_INJECT_PERIOD_MS", PERIOD, PERIOD_MOST);
    if (s->period_ms == 0)
        s->period_ms = PERIOD;
    s->sampling = (uint32_t)settings_number_of(s, "STRATA_INJECT_SAMPLING", 0, SAMPLING_MOST);
    s->n_ranges =
        settings_list_of(s, "STRATA_INJECT_RANGE", '\n', s->range_text, s->ranges, SETTINGS_RANGES);
    s->n_metrics = settings_list_of(s, "STRATA_INJECT_METRICS", ',', s->metric_text, s->metrics,
                                    TRACE_METRICS_MOST);
    if (kernel != NULL) {
        s->has_kernel = regcomp(&s->kernel, kernel, REG_EXTENDED | REG_NOSUB) == 0;
        if (!s->has_kernel)
            complain(s, "STRATA_INJECT_KERNEL");
    }
}

bool settings_wants(const struct settings *s, const char *name)
{
    struct str part = mangled_plain(str_of(name));
    char plain[NAME_MOST];

    if (!s->has_kernel || regexec(&s->kernel, name, 0, NULL, 0) == 0)
        return true;
    if (part.n >= sizeof(plain))
        return false;
    memcpy(plain, part.at, part.n);
    plain[part.n] = '\0';
    return regexec(&s->kernel, plain, 0, NULL, 0) == 0;
}
