#include "synth/to_chrome.h"

enum { PID_HOST = 1, PID_DEVICE = 2 };

static void end_event(struct to_chrome *c)
{
    c->events++;
    if (put_is_whole(&c->put))
        c->complete = c->events;
}

#define EVENT(c, format, ...)                                                                      \
    do {                                                                                           \
        put_str(&(c)->put, (c)->events > 0 ? S(",\n") : S(""));                                    \
        PUTF(&(c)->put, format, __VA_ARGS__);                                                      \
        end_event(c);                                                                              \
    } while (0)

#define STAMP(ns) U((ns)-SYNTH_EPOCH)

static void name_lane(struct to_chrome *c, const char *what, int64_t pid, int64_t tid,
                      const char *name)
{
    EVENT(c, "{\"ph\":\"M\",\"name\":\"%\",\"pid\":%,\"tid\":%,\"args\":{\"name\":\"%\"}}", Z(what),
          N(pid), N(tid), Z(name));
}

enum status to_chrome_open(struct to_chrome *c, const char *path, const struct sim *s,
                           const struct rank *r, struct diag *d)
{
    *c = (struct to_chrome){.sim = s, .rank = r};
    TRY(put_open(&c->put, path, s->options->truncate, d));
    PUT(&c->put, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    name_lane(c, "process_name", PID_HOST, 0, "host");
    name_lane(c, "thread_name", PID_HOST, 1, "main");
    name_lane(c, "thread_name", PID_HOST, 2, "queue");
    name_lane(c, "thread_name", PID_HOST, 3, "backward");
    name_lane(c, "process_name", PID_DEVICE, 0, "device");
    name_lane(c, "thread_name", PID_DEVICE, 1, "compute");
    name_lane(c, "thread_name", PID_DEVICE, 2, "communication");
    name_lane(c, "thread_name", PID_DEVICE, 3, "cpu cores");
    return ST_OK;
}

static void host_event(struct to_chrome *c, const struct host_event *e)
{
    int64_t tid = (int64_t)e->thread + 1;

    if (e->kind == HOST_STEP)
        EVENT(c,
              "{\"ph\":\"X\",\"name\":\"Step#%\",\"cat\":\"step\",\"pid\":%,\"tid\":%,\"ts\":%,"
              "\"dur\":%}",
              N(e->id), N(PID_HOST), N(tid), STAMP(e->begin), U(e->dur));
    else
        EVENT(c,
              "{\"ph\":\"X\",\"name\":\"%\",\"cat\":\"host\",\"pid\":%,\"tid\":%,\"ts\":%,"
              "\"dur\":%}",
              Z(e->name), N(PID_HOST), N(tid), STAMP(e->begin), U(e->dur));
}

static void device_task(struct to_chrome *c, const struct task *t)
{
    int64_t tid = (int64_t)t->stream + 1;

    EVENT(c,
          "{\"ph\":\"X\",\"name\":\"%\",\"cat\":\"%\",\"pid\":%,\"tid\":%,\"ts\":%,\"dur\":%,"
          "\"args\":{\"id\":%}}",
          Z(t->name), Z(t->op != NULL ? "kernel" : "device"), N(PID_DEVICE), N(tid),
          STAMP(t->begin), U(t->dur), N(t->task_id));
    if (t->launched == 0)
        return;
    EVENT(c,
          "{\"ph\":\"s\",\"name\":\"launch\",\"cat\":\"launch\",\"id\":%,\"pid\":%,\"tid\":%,"
          "\"ts\":%}",
          N(t->connection), N(PID_HOST), N((int64_t)t->launch_thread + 1), STAMP(t->launched));
    EVENT(c,
          "{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"launch\",\"cat\":\"launch\",\"id\":%,\"pid\":%,"
          "\"tid\":%,\"ts\":%}",
          N(t->connection), N(PID_DEVICE), N(tid), STAMP(t->begin));
}

void to_chrome_step(struct to_chrome *c)
{
    const struct step *step = &c->rank->step;

    for (size_t i = 0; i < step->host.n; i++)
        host_event(c, &step->host.at[i]);
    for (size_t i = 0; i < step->tasks.n; i++)
        device_task(c, &step->tasks.at[i]);
    EVENT(c,
          "{\"ph\":\"C\",\"name\":\"tasks\",\"pid\":%,\"tid\":0,\"ts\":%,\"args\":{\"tasks\":%}}",
          N(PID_DEVICE), STAMP(step->begin), N((int64_t)step->tasks.n));
    EVENT(c, "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"end of step %\",\"pid\":%,\"tid\":1,\"ts\":%}",
          N(step->number), N(PID_HOST), STAMP(step->mark_end));
}

void to_chrome_end(struct to_chrome *c)
{
    PUT(&c->put, "\n]}\n");
}
