/*
 * to_chrome: the run as a plain Chrome trace, one event a line.
 */
#include "synth/to.h"

enum { PID_HOST = 1, PID_DEVICE = 2 };

static struct put_arg stamp(nanos ns)
{
    return put_us(ns - SYNTH_EPOCH);
}

static void name_lane(struct events *c, const char *what, int64_t pid, int64_t tid,
                      const char *name)
{
    EVENT(c, "{'ph':'M','name':'%','pid':%,'tid':%,'args':{'name':'%'}}", what, pid, tid, name);
}

static enum status open_chrome(void *self, struct outlet *to)
{
    struct events *c = self;
    const char *name =
        arena_printf(to->arena, "rank%d.json%s", to->rank->id, to->sim->options->gzip ? ".gz" : "");

    TRY(events_open(c, to, "chrome", name, ",\n"));
    PUT(&c->put, "{'displayTimeUnit':'ns','traceEvents':[\n");
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

static void device_task(struct events *c, const struct synth_task *t)
{
    int64_t tid = (int64_t)t->stream + 1;

    EVENT(c, "{'ph':'X','name':'%','cat':'%','pid':%,'tid':%,'ts':%,'dur':%,'args':{'id':%}}",
          t->name, t->op != NULL ? "kernel" : "device", PID_DEVICE, tid, stamp(t->begin),
          put_us(t->dur), t->task_id);
    if (t->launched == 0)
        return;
    EVENT(c, "{'ph':'s','name':'launch','cat':'launch','id':%,'pid':%,'tid':%,'ts':%}",
          t->connection, PID_HOST, (int64_t)t->launch_thread + 1, stamp(t->launched));
    EVENT(c, "{'ph':'f','bp':'e','name':'launch','cat':'launch','id':%,'pid':%,'tid':%,'ts':%}",
          t->connection, PID_DEVICE, tid, stamp(t->begin));
}

static void chrome_write_step(void *self)
{
    struct events *c = self;
    const struct synth_step *step = &c->to->rank->step;

    for (size_t i = 0; i < step->host.n; i++) {
        const struct host_event *e = &step->host.at[i];
        int64_t tid = (int64_t)e->thread + 1;
        if (e->kind == HOST_STEP)
            EVENT(c, "{'ph':'X','name':'Step#%','cat':'step','pid':%,'tid':%,'ts':%,'dur':%}",
                  e->id, PID_HOST, tid, stamp(e->begin), put_us(e->dur));
        else
            EVENT(c, "{'ph':'X','name':'%','cat':'host','pid':%,'tid':%,'ts':%,'dur':%}", e->name,
                  PID_HOST, tid, stamp(e->begin), put_us(e->dur));
    }
    for (size_t i = 0; i < step->tasks.n; i++)
        device_task(c, &step->tasks.at[i]);
    EVENT(c, "{'ph':'C','name':'tasks','pid':%,'tid':0,'ts':%,'args':{'tasks':%}}", PID_DEVICE,
          stamp(step->begin), step->tasks.n);
    EVENT(c, "{'ph':'i','s':'g','name':'end of step %','pid':%,'tid':1,'ts':%}", step->number,
          PID_HOST, stamp(step->mark_end));
}

static enum status close_chrome(void *self)
{
    struct events *c = self;

    PUT(&c->put, "\n]}\n");
    return events_close(c);
}

const struct to_writer to_chrome = {
    .formats = SYNTH_CHROME,
    .size = sizeof(struct events),
    .open = open_chrome,
    .step = chrome_write_step,
    .close = close_chrome,
    .abort = events_abort,
    .bytes = events_bytes,
};
