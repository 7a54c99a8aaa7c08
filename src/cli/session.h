/*
 * session - arguments of a command's run(): common options, operands, output.
 *
 * The frame (cli/terminal/frame.c) fills it, calls run(), and closes the run: written files are
 * listed on stdout, diagnostics go to stderr, and a failed run prints exactly one error line.
 */
#ifndef STRATA_CLI_SESSION_H
#define STRATA_CLI_SESSION_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/formats/json_write.h"
#include "base/run/progress.h"
#include "cli/command.h"
#include "cli/terminal/out.h"
#include "report/answer.h"
#include "report/envelope.h"
#include "report/message.h"

struct page_answer;
struct renderer;

enum exit_code {
    CODE_DONE = 0,
    CODE_NO = 1,       /* check failed */
    CODE_USAGE = 2,    /* usage error */
    CODE_FILE = 3,     /* a file is missing, unreadable, unwritable or of an unknown format */
    CODE_TOOL = 4,     /* a required tool or device is missing or failed */
    CODE_BUG = 5,      /* internal error */
    CODE_SIGNAL = 128, /* and the number of the signal that ended the run */
    CODE_INTERRUPTED = CODE_SIGNAL + 2,
};

struct common {
    bool help, quiet, verbose, json, dry_run, csv_safe, long_names, no_pager, ascii;
    const char *out;    /* --out; NULL when not given */
    const char *html;   /* --html; NULL when not given */
    const char *format; /* --from; NULL when not given */
    int64_t jobs;       /* --jobs; 0: as many as processors */
    int color;          /* enum color_mode */
    int lang;           /* --lang: 0 from the environment, else an enum lang plus one */
};

struct session {
    struct command_path path;
    struct common common;
    struct words operands;
    struct diag diag;
    struct arena arena;        /* lives as long as the run */
    struct out out;            /* stdout */
    const struct renderer *as; /* of reports; NULL: text */
    struct page_answer *page;  /* that reports go into; NULL: none */
    struct progress progress;  /* for long jobs; shows one line on stderr when that is a terminal */
    struct progress_line progress_line;
    struct pool *pool; /* of --jobs, when a command asked for it */
    struct json_writer json;
    VEC_OF(struct envelope_input) inputs;
    bool has_kernels; /* a capture that was read has some */
    bool has_said;    /* news, which a blank line parts from the answer */
    VEC_OF(const char *) written;
    bool is_embedded;               /* in the library: nothing goes to the terminal */
    const char *unpacked;           /* folder of captures of the program, left out of paths; NULL */
    struct input_kept *const *kept; /* captures of the library's caller; NULL: none */
    const struct schema *schema;    /* of the document that was written; NULL: none, or by hand */
    bool has_named_files;           /* the answer names what was written */
};

/* As TRY() of base/status.h, with an exit code. */
#define TRY_CODE(call)                                                                             \
    do {                                                                                           \
        int try_code_ = (call);                                                                    \
        if (try_code_ != CODE_DONE)                                                                \
            return try_code_;                                                                      \
    } while (0)

/* The exit code of a status. */
int session_code(enum status status);

/* The first error; NULL: none. */
struct diag_entry *session_error(const struct diag *d);

/* Adds a usage error and returns CODE_USAGE. */
int session_usage(struct session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Texts are copied. Files are listed in this order at the end of the run. */
void session_read(struct session *s, const char *path, const char *format, uint64_t rows,
                  uint64_t lost);
void session_wrote(struct session *s, const char *path);

/* Writes a file as a whole, and lists it. */
enum status session_save(struct session *s, const char *path, struct str text);

/* The frame calls these around run(). */
void session_progress_begin(struct session *s);
void session_progress_end(struct session *s);

/* On the line of progress, how long the job has taken, while the job itself says nothing: a second
 * after the last tick and each second from then on, by a timer (cli/terminal/heartbeat.c).
 * session_heartbeat_delay() follows a tick that was shown; session_heartbeat_end() is true when a
 * beat is still on the line. */
void session_heartbeat_begin(void);
void session_heartbeat_delay(void);
bool session_heartbeat_end(void);

/*
 * What a command has found, to whoever asked: a document for --json, a report in the reader's
 * language on the terminal, in each language on a page. Nothing with --quiet, where files are the
 * answer. Only here is it known who asks.
 */
void session_give(struct session *s, const struct answer *a);

/* CODE_DONE, or the usage error: an option asks for a form of its own, and --json for another. */
int session_own_form(struct session *s, const char *option);

/* News of a long job, a line on the terminal at once, above the answer; nobody hears it where the
 * answer is a document, or with --quiet. */
void session_say(struct session *s, const char *line);

/* A command is about to write `what` to stdout, as a file without -o: CODE_DONE, or the code of the
 * mistake where its answer goes there. */
int session_file_on_stdout(struct session *s, const char *what);

/* The answer as JSON: the command's document over `result`; `origin` as in report/envelope.h. What
 * getters make lives in the session's arena, unless they need an `env` of their own. */
void session_document(struct session *s, const struct schema *schema, const char *origin,
                      const void *result);
void session_document_in(struct session *s, const struct schema *schema, const char *origin,
                         const void *result, const struct record_env *env);

/* The language of reports; English for commands without --lang. */
enum lang session_lang(const struct session *s);

/* The answer as text, or by any renderer. */
void session_report(struct session *s, const struct report *report);
void session_answer(struct session *s, struct report *report); /* and frees it */
void session_render(struct session *s, const struct renderer *as, const struct report *report);

/*
 * The envelope of `--json` around a result written by hand. begin() leaves the writer after the key
 * "result", where the caller writes one value; end() adds diagnostics and outputs. `origin` is
 * measured, simulated, estimated or inferred, or NULL where no numbers are reported.
 */
struct json_writer *session_json_begin(struct session *s, const char *schema, const char *origin);
void session_json_end(struct session *s);

/* Onto stdout: documents of a prescribed shape that go without the envelope, CSV and traces; and
 * text for people (out_bytes). */
struct sink session_sink(struct session *s);
struct sink session_text(struct session *s);

#endif
