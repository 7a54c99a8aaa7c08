/*
 * opt_db - what the commands on the operator database share: the options that name the folder to
 * work in, exit codes, the writers' lock and lists of operators.
 *
 *     struct args {
 *         struct place_args place;
 *         double wait;
 *     };
 *     static const struct opt options[] = {
 *         OPT_DB_PLACE(struct args, place),
 *         OPT_DB_WAIT(struct args, wait),
 *     };
 */
#ifndef STRATA_CLI_DB_OPT_DB_H
#define STRATA_CLI_DB_OPT_DB_H

#include "base/files/sink.h"
#include "cli/session.h"
#include "opdb/rows/lock.h"
#include "opdb/rows/place.h"

struct op_table;

/* --database-path and the parts of a path below the data root. */
#define OPT_DB_PLACE(type, member)                                                                 \
    OPT_GROUP("Database"),                                                                         \
        OPT_STRING(0, "database-path", "DIR", type, member.database_path,                          \
                   "folder with the operator tables"),                                             \
        OPT_STRING(0, "data-root", "DIR", type, member.data_root,                                  \
                   "root of the tree (default: $STRATA_PERFDB or perfdb)"),                        \
        OPT_STRING(0, "chip", "NAME", type, member.device,                                         \
                   "device in the tree (default: " PLACE_DEFAULT_DEVICE ")", .alias = "device"),   \
        OPT_STRING(0, "vllm-version", "V", type, member.vllm,                                      \
                   "vLLM-Ascend version, or full version folder name"),                            \
        OPT_STRING(0, "torch-version", "V", type, member.torch, "PyTorch version"),                \
        OPT_STRING(0, "cann-version", "V", type, member.cann, "CANN version"),                     \
        OPT_STRING(0, "stack-version", "V", type, member.stack_version,                            \
                   "version folder of a non-Ascend device")

/* For commands that write. */
#define OPT_DB_WAIT(type, member)                                                                  \
    OPT_DOUBLE(0, "wait", "SECONDS", type, member,                                                 \
               "seconds to wait for another writer (default: 0)")

/* --op and --ops NAME...: further names may follow as operands. */
#define OPT_DB_OPS(type, member)                                                                   \
    OPT_LIST(0, "op", "NAME", type, member, "only these operators; more names may follow"),        \
        OPT_LIST(0, "ops", "NAME", type, member, "same as --op")

/* The exit code of a status: 1 for every error of files and data, 4 for a missing tool. */
int db_code(enum status status);

/* The folder the options name: CODE_DONE, or the exit code of what is wrong with them. */
int db_place(struct session *s, const struct place_args *args, const char **dir);

/* Takes the writers' lock of a folder, under the name of the running command. */
enum status db_lock(struct session *s, const char *dir, double wait, struct lock *lock);

/* The operators that were named, as options and as operands, in the order given, in normal form
 * (opdb/rows/signature.h) and once each. */
struct db_ops {
    struct str *at;
    size_t n;
};
struct db_ops db_ops(struct session *s, const struct words *given);

/* The same where operands may only follow --op: CODE_DONE, or the code of the usage error. */
int db_only_ops(struct session *s, const struct words *given, struct db_ops *out);

/* The tables of the operators that were named, or of all, in the folder the options name. */
int db_tables(struct session *s, const struct words *ops, const struct place_args *args,
              const char **dir, struct place_files *out);

/* The same; all of them can be replayed, else CODE_NO with a message. */
int db_known_ops(struct session *s, const struct words *given, struct db_ops *out);

/* A line on stderr, at once: for what must not wait for the end of the run. */
void db_message(struct session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes one document; false when the sink failed. */
typedef bool db_document(const void *what, struct sink sink);

/* The file asked for: --output, else --out; NULL when none was, or "-". */
const char *db_output_path(const struct session *s, const char *output);

/* "-" was asked for. */
bool db_output_is_stdout(const struct session *s, const char *output);

/* Writes a document to `path` as a whole, making the folders above it, or to stdout when it is
 * NULL. A path that is one of the `inputs` (ends with NULL) is an error. */
enum status db_output(struct session *s, const char *path, const char *const *inputs,
                      db_document *write, const void *what);

/* The same for a table. */
enum status db_output_table(struct session *s, const char *path, const char *const *inputs,
                            const struct op_table *t);

#endif
