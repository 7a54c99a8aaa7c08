/*
 * Every table of a query with its columns. The order of columns is the order that sql_slices.c and
 * sql_rows.c number them in; docs/queries.md explains each.
 */
#include "analysis/sql/sql_schema.h"

#define SLICE_COLUMNS                                                                              \
    "id INTEGER, ts INTEGER, dur INTEGER, end_ts INTEGER, name TEXT, kind TEXT, lane INTEGER, "    \
    "lane_name TEXT, process TEXT, device INTEGER, step INTEGER, rank INTEGER, cat TEXT, "         \
    "type TEXT, core TEXT"

const struct sql_table sql_tables[] = {
    {{"accounting",
      "id INTEGER, step INTEGER, class TEXT, part TEXT, ns INTEGER, share REAL, "
      "window_ts INTEGER, window_end_ts INTEGER, device INTEGER, rank INTEGER, "
      "step_group INTEGER, is_slow INTEGER",
      "where each nanosecond of a step's device window went; classes add up to the window"},
     &sql_rows_module,
     SET_ALL,
     SQL_ACCOUNTING},
    {{"captures",
      "id INTEGER, name TEXT, rank INTEGER, world_size INTEGER, device INTEGER, device_name TEXT, "
      "kind TEXT, producer TEXT, host TEXT, level INTEGER, origin TEXT, to_unix INTEGER",
      "facts about each profile; one row per rank"},
     &sql_rows_module,
     SET_ALL,
     SQL_CAPTURES},
    {{"collectives",
      "id INTEGER, name TEXT, \"group\" TEXT, step INTEGER, is_p2p INTEGER, ts INTEGER, "
      "elapse INTEGER, transit INTEGER, wait INTEGER, sync INTEGER, idle INTEGER, "
      "megabytes REAL, transit_ms REAL, rank INTEGER, kind TEXT, dtype TEXT, ranks INTEGER, "
      "bytes REAL, exposed_ns INTEGER",
      "collectives from the profiler's communication analysis, or their kernels"},
     &sql_rows_module,
     SET_ALL,
     SQL_COLLECTIVES},
    {{"counters",
      "id INTEGER, ts INTEGER, value REAL, name TEXT, unit TEXT, process TEXT, rank INTEGER",
      "samples of counters"},
     &sql_rows_module,
     SET_ALL,
     SQL_COUNTERS},
    {{"critical_path",
      "id INTEGER, slice INTEGER, part TEXT, reason TEXT, ts INTEGER, dur INTEGER, "
      "end_ts INTEGER, step INTEGER, device INTEGER, rank INTEGER",
      "the slices that decided how long the run took, first to last"},
     &sql_rows_module,
     SET_ALL,
     SQL_CRITICAL_PATH},
    {{"flows", "id INTEGER, from_id INTEGER, to_id INTEGER, kind TEXT, rank INTEGER",
      "arrows from one slice to another, such as a launch and its kernel"},
     &sql_rows_module,
     SET_ALL,
     SQL_FLOWS},
    {{"gaps",
      "id INTEGER, gap INTEGER, ts INTEGER, dur INTEGER, end_ts INTEGER, step INTEGER, "
      "cause TEXT, state TEXT, filled_by INTEGER, enabled_by INTEGER, launch INTEGER, "
      "task INTEGER, waits_for INTEGER, device INTEGER, rank INTEGER",
      "idle time of the device by cause, with the slices behind it"},
     &sql_rows_module,
     SET_ALL,
     SQL_GAPS},
    {{"host_events",
      SLICE_COLUMNS ", input_shapes TEXT, input_dtypes TEXT, stack TEXT, link INTEGER",
      "slices that are events of the host"},
     &sql_slices_module,
     SET_HOST,
     0},
    {{"kernels",
      SLICE_COLUMNS ", stream INTEGER, class TEXT, wait_ns INTEGER, task INTEGER, "
                    "block_dim INTEGER, mix_block_dim INTEGER, state TEXT, input_shapes TEXT, "
                    "input_dtypes TEXT, input_formats TEXT, output_shapes TEXT, "
                    "output_dtypes TEXT, output_formats TEXT, link INTEGER",
      "slices that are work of the device"},
     &sql_slices_module,
     SET_KERNELS,
     0},
    {{"lanes",
      "id INTEGER, name TEXT, kind TEXT, process TEXT, device INTEGER, pid INTEGER, tid INTEGER, "
      "slices INTEGER, ts INTEGER, rank INTEGER",
      "streams, threads and other rows of the timeline"},
     &sql_rows_module,
     SET_ALL,
     SQL_LANES},
    {{"memory",
      "id INTEGER, ts INTEGER, pool TEXT, bytes REAL, allocated_bytes REAL, reserved_bytes REAL, "
      "address INTEGER, op TEXT, module TEXT, rank INTEGER",
      "device memory taken and given back, and the totals behind it"},
     &sql_rows_module,
     SET_ALL,
     SQL_MEMORY},
    {{"modules",
      "id INTEGER, name TEXT, class TEXT, calls INTEGER, kernels INTEGER, own_kernels INTEGER, "
      "device_ns INTEGER, own_device_ns INTEGER, host_ns INTEGER, rank INTEGER",
      "modules of the model as Python frames name them, with the kernels launched in them"},
     &sql_rows_module,
     SET_ALL,
     SQL_MODULES},
    {{"ops",
      "id INTEGER, name TEXT, input_shapes TEXT, input_dtypes TEXT, calls INTEGER, "
      "kernels INTEGER, own_kernels INTEGER, device_ns INTEGER, own_device_ns INTEGER, "
      "host_ns INTEGER, own_host_ns INTEGER, rank INTEGER, flops REAL, bytes REAL, "
      "known_ns INTEGER, rated_ns INTEGER, roof_ns REAL",
      "host operators by input shapes, with the kernels launched in them"},
     &sql_rows_module,
     SET_ALL,
     SQL_OPS},
    {{"slices", SLICE_COLUMNS, "everything on the timeline"}, &sql_slices_module, SET_ALL, 0},
    {{"sources",
      "id INTEGER, path TEXT, format TEXT, bytes INTEGER, rows INTEGER, lost INTEGER, "
      "rank INTEGER",
      "the files that were read"},
     &sql_rows_module,
     SET_ALL,
     SQL_SOURCES},
    {{"step_times",
      "id INTEGER, step INTEGER, device INTEGER, computing INTEGER, comm_exposed INTEGER, "
      "overlapped INTEGER, communication INTEGER, free INTEGER, stage INTEGER, bubble INTEGER, "
      "preparing INTEGER, rank INTEGER",
      "step times reported by the profiler"},
     &sql_rows_module,
     SET_ALL,
     SQL_STEP_TIMES},
    {{"steps",
      "id INTEGER, step INTEGER, name TEXT, ts INTEGER, dur INTEGER, end_ts INTEGER, source TEXT, "
      "rank INTEGER",
      "the steps, from one mark to the next"},
     &sql_rows_module,
     SET_ALL,
     SQL_STEPS},
    {{"stream_gaps",
      "id INTEGER, lane INTEGER, ts INTEGER, dur INTEGER, end_ts INTEGER, busy INTEGER, "
      "step INTEGER, cause TEXT, waits_for INTEGER, launch INTEGER, task INTEGER, "
      "device INTEGER, rank INTEGER",
      "time in which a stream had nothing to do while another one worked"},
     &sql_rows_module,
     SET_ALL,
     SQL_STREAM_GAPS},
};
const size_t sql_table_count = ARRAY_LEN(sql_tables);

const struct sql_table_info *sql_schema(size_t i)
{
    return i < sql_table_count ? &sql_tables[i].info : NULL;
}

bool sql_next_column(struct str *rest, struct str *name)
{
    struct str one;

    if (!str_split(rest, ',', &one))
        return false;
    one = str_trim(one);
    *name = str_part(one, 0, str_find_char(one, ' '));
    if (name->n > 2 && name->at[0] == '"')
        *name = str_part(*name, 1, name->n - 2);
    return true;
}

int sql_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
                char **error)
{
    struct sql_binding *binding = aux;
    JOB_BOUNDARY(return SQLITE_NOMEM);
    char *text = sqlite3_mprintf("CREATE TABLE x(%s)", binding->table->info.columns);
    int rc = text != NULL ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;

    (void)argc, (void)argv, (void)error;
    sqlite3_free(text);
    if (rc != SQLITE_OK)
        return rc;
    struct sql_vtab *tab = mem_grow(NULL, sizeof(*tab), 1);
    *tab = (struct sql_vtab){.binding = binding};
    *out = &tab->base;
    return SQLITE_OK;
}

int sql_disconnect(sqlite3_vtab *base)
{
    struct sql_vtab *tab = (struct sql_vtab *)base;

    mem_free(tab->bases);
    mem_free(tab->by_target);
    mem_free(tab);
    return SQLITE_OK;
}

void sql_give_value(sqlite3_context *out, struct field_value v)
{
    switch (v.type) {
    case VALUE_NONE:
        break;
    case VALUE_BOOL:
        sqlite3_result_int(out, v.is);
        break;
    case VALUE_INT:
        sqlite3_result_int64(out, v.i);
        break;
    case VALUE_UINT:
        sqlite3_result_int64(out, (sqlite3_int64)v.u);
        break;
    case VALUE_REAL:
        sqlite3_result_double(out, v.real);
        break;
    case VALUE_TEXT:
        sql_give_text(out, v.text);
        break;
    }
}
