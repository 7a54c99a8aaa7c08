/*
 * The calibration file. See calibration.h.
 */
#include "opdb/plan/calibration.h"

#include "base/files/embedded.h"
#include "base/files/mapfile.h"
#include "base/text/num.h"

/* Lines "engine,quantity,value,rows,source"; "all" is the engine of what holds for all. */
static const struct {
    struct str name;
    size_t offset;
} quantities[] = {
    {S_INIT("host_us"), offsetof(struct calibration_engine, host_us)},
    {S_INIT("request_us"), offsetof(struct calibration_engine, request_us)},
    {S_INIT("prompt_us"), offsetof(struct calibration_engine, prompt_us)},
    {S_INIT("first_us"), offsetof(struct calibration_engine, first_us)},
    {S_INIT("token_center"), offsetof(struct calibration_engine, token_center)},
    {S_INIT("token_spread"), offsetof(struct calibration_engine, token_spread)},
    {S_INIT("first_center"), offsetof(struct calibration_engine, first_center)},
    {S_INIT("first_spread"), offsetof(struct calibration_engine, first_spread)},
};

enum { ENGINES = 64 };

static struct calibration_engine *engine_of(struct calibration *c, struct arena *arena,
                                            struct str name)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_equal(c->engines[i].engine, name))
            return &c->engines[i];
    if (c->n == ENGINES)
        return NULL;
    struct calibration_engine *e = &c->engines[c->n];
    *e = c->engines[0]; /* what is not said of it is that of all */
    e->engine = arena_str(arena, name);
    c->n++;
    return e;
}

/* A line without effect is an error, not a comment: a misspelt quantity would calibrate nothing. */
static bool read_engine(struct calibration *c, struct arena *arena, struct str line)
{
    struct str engine = S(""), name = S(""), text = S(""), rows = S("");
    double value = 0;
    uint64_t n = 0;

    if (!str_split(&line, ',', &engine) || !str_split(&line, ',', &name) ||
        !str_split(&line, ',', &text) || !str_split(&line, ',', &rows))
        return false;
    if (str_equal(name, S("version"))) {
        c->version = arena_str(arena, text);
        return true;
    }
    if (!num_f64(text, &value) || !(value >= 0) || value > 1e9)
        return false;
    if (str_equal(name, S("common"))) {
        c->common = value;
        return true;
    }
    struct calibration_engine *e =
        engine_of(c, arena, str_equal(engine, S("all")) ? S("") : engine);
    for (size_t i = 0; i < ARRAY_LEN(quantities) && e != NULL; i++)
        if (str_equal(quantities[i].name, name)) {
            memcpy((char *)e + quantities[i].offset, &value, sizeof(value));
            num_u64(rows, &n);
            e->rows = n > e->rows ? n : e->rows;
            return true;
        }
    return false;
}

static enum status parse(struct arena *arena, struct str text, const char *path,
                         struct calibration *c, struct diag *d)
{
    struct str line;
    uint64_t at = 0;

    while (str_split(&text, '\n', &line)) {
        line = str_trim(line);
        at++;
        if (line.n == 0 || line.at[0] == '#' || (at == 1 && str_starts(line, S("engine,"))))
            continue;
        if (!read_engine(c, arena, line))
            return diag_fail(d, ST_FORMAT, "plan.bad-calibration",
                             (struct where){.path = path, .line = at},
                             "not \"engine,quantity,value,rows,source\" of a known quantity");
    }
    return ST_OK;
}

enum status calibration_read(struct arena *arena, const char *path, struct calibration *out,
                             struct diag *d)
{
    struct mapfile map;

    *out = (struct calibration){.version = S(""),
                                .source =
                                    path != NULL ? arena_str(arena, str_of(path)) : S("built in"),
                                .engines = ARENA_ARRAY(arena, struct calibration_engine, ENGINES),
                                .n = 1};
    out->engines[0] = (struct calibration_engine){.engine = S(""),
                                                  .token_center = 1,
                                                  .token_spread = 1.2816,
                                                  .first_center = 1,
                                                  .first_spread = 1.2816};
    if (path == NULL)
        return parse(arena, embedded_file("plan/calibration.csv"), "plan/calibration.csv", out, d);
    TRY(mapfile_open(&map, path, d));
    enum status st = parse(arena, map.text, path, out, d);
    mapfile_close(&map);
    return st;
}

const struct calibration_engine *calibration_of(const struct calibration *c, struct str engine)
{
    for (size_t i = 1; i < c->n; i++)
        if (str_equal(c->engines[i].engine, engine))
            return &c->engines[i];
    return &c->engines[0];
}
