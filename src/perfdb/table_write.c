/*
 * A table on its way to disk: all bytes under another name, synced, then renamed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/text_out.h"
#include "perfdb/table.h"

static bool needs_quotes(struct str cell)
{
    for (size_t i = 0; i < cell.n; i++) {
        char c = cell.at[i];
        if (c == ',' || c == '"' || c == '\r' || c == '\n')
            return true;
    }
    return false;
}

static void put_cell(struct text_out *out, struct str cell)
{
    if (!needs_quotes(cell)) {
        text_out_put(out, cell);
        return;
    }
    text_out_put(out, S("\""));
    size_t from = 0;
    for (size_t i = 0; i < cell.n; i++)
        if (cell.at[i] == '"') {
            text_out_put(out, str_part(cell, from, i + 1 - from));
            from = i; /* the quote once more */
        }
    text_out_put(out, str_part(cell, from, cell.n));
    text_out_put(out, S("\""));
}

static void put_row(struct text_out *out, const struct str *cells, size_t n)
{
    /* One empty cell alone would read back as an empty line, which readers skip. */
    if (n == 1 && cells[0].n == 0)
        text_out_put(out, S("\"\""));
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            text_out_put(out, S(","));
        put_cell(out, cells[i]);
    }
    text_out_put(out, S("\r\n"));
}

bool table_print(const struct table *t, enum table_bom bom, struct sink sink)
{
    struct text_out *out = mem_grow(NULL, sizeof(*out), 1);

    text_out_open(out, sink);
    if (bom == TABLE_BOM)
        text_out_put(out, S("\xef\xbb\xbf"));
    put_row(out, t->columns.at, t->columns.n);
    for (size_t row = 0; row < t->n_rows; row++)
        put_row(out, &t->cells.at[row * t->columns.n], t->columns.n);
    bool is_fine = text_out_close(out);
    mem_free(out);
    return is_fine;
}

/* A file being replaced. */
struct swap {
    char goal[4096], temp[4096], folder[4096];
    int fd;
    int error;
};

static bool write_all(void *ctx, struct str text)
{
    struct swap *s = ctx;

    while (text.n > 0 && s->error == 0) {
        ssize_t n = write(s->fd, text.at, text.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            s->error = n < 0 ? errno : EIO;
            break;
        }
        text = str_part(text, (size_t)n, text.n);
    }
    return s->error == 0;
}

/* The three names of a swap; false when they are too long for the system. */
static bool name_swap(struct swap *s, const char *path)
{
    char *real = realpath(path, NULL); /* a link stays, and what it leads to is replaced */
    int n = snprintf(s->goal, sizeof(s->goal), "%s", real != NULL ? real : path);

    free(real);
    if (n < 0 || (size_t)n >= sizeof(s->goal) - 16)
        return false;
    struct str whole = str_of(s->goal), name = str_basename(whole);
    int before = (int)(whole.n - name.n);
    size_t dot = name.n;
    for (size_t i = 1; i < name.n; i++)
        if (name.at[i] == '.')
            dot = i;
    struct str suffix = str_part(name, dot, name.n);
    snprintf(s->folder, sizeof(s->folder), "%.*s", before, s->goal);
    if (before == 0)
        snprintf(s->folder, sizeof(s->folder), ".");
    n = snprintf(s->temp, sizeof(s->temp), "%.*s%.*s.tmp%.*s", before, s->goal, (int)dot, name.at,
                 suffix.n > 0 ? (int)suffix.n : 4, suffix.n > 0 ? suffix.at : ".csv");
    return n > 0 && (size_t)n < sizeof(s->temp);
}

static void begin_swap(struct swap *s, const char *path)
{
    struct stat old;

    *s = (struct swap){.fd = -1};
    if (!name_swap(s, path)) {
        s->error = ENAMETOOLONG;
        return;
    }
    bool is_there = stat(s->goal, &old) == 0;
    if (is_there && !S_ISREG(old.st_mode)) {
        s->error = EEXIST;
        return;
    }
    s->fd = open(s->temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (s->fd < 0 || (is_there && fchmod(s->fd, old.st_mode & 07777) != 0))
        s->error = errno;
}

static void sync_folder(struct swap *s)
{
    int fd = open(s->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    /* Some file systems cannot sync a folder; the rename holds there all the same. */
    if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL && errno != EROFS))
        s->error = errno;
    if (fd >= 0)
        close(fd);
}

static enum status end_swap(struct swap *s, const char *path, struct diag *d)
{
    bool has_temp = s->fd >= 0;

    if (has_temp && s->error == 0 && fsync(s->fd) != 0)
        s->error = errno;
    if (has_temp && close(s->fd) != 0 && s->error == 0)
        s->error = errno;
    if (s->error == 0 && rename(s->temp, s->goal) != 0)
        s->error = errno;
    if (s->error == 0) {
        has_temp = false;
        sync_folder(s);
    }
    if (has_temp)
        unlink(s->temp);
    if (s->error != 0)
        return diag_fail(d, ST_IO, "file.write", (struct where){.path = path}, "cannot write: %s",
                         fs_error_text(s->error));
    return ST_OK;
}

enum status table_write(const struct table *t, const char *path, enum table_bom bom, struct diag *d)
{
    struct swap s;

    begin_swap(&s, path);
    if (s.error == 0)
        table_print(t, bom, (struct sink){write_all, &s});
    return end_swap(&s, path, d);
}

enum status table_write_text(const char *path, struct str text, struct diag *d)
{
    struct swap s;

    begin_swap(&s, path);
    if (s.error == 0)
        write_all(&s, text);
    return end_swap(&s, path, d);
}
