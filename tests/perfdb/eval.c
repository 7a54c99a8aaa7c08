/*
 * perfdb-eval GROUP FILE [INPUT-DIR]: calls the functions of the operator database.
 *
 * FILE is a JSON document, usually a list of cases. It is printed again with the outputs that
 * strata gives filled in (or replaced). Files that cases need are in INPUT-DIR; without it in a
 * folder "input" beside FILE or one level up.
 */
#include "eval.h"

#include <stdio.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"

static const struct eval_group *const groups[] = {
#define EVAL_GROUP(sym) &eval_##sym,
#include "eval_groups.def"
#undef EVAL_GROUP
};

static bool to_stdout(void *ctx, struct str text)
{
    return fwrite(text.at, 1, text.n, ctx) == text.n;
}

static const char *find_input(struct eval *e)
{
    struct str path = str_of(e->file), name = str_basename(path);
    const char *folder = arena_format(&e->arena, "%.*s", (int)(path.n - name.n), path.at).at;
    const char *places[] = {
        fs_join(&e->arena, folder[0] != '\0' ? folder : ".", "input"),
        fs_join(&e->arena, folder[0] != '\0' ? folder : ".", "../input"),
        "input",
        folder[0] != '\0' ? folder : ".",
    };

    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (fs_is_dir(places[i]))
            return places[i];
    return NULL;
}

static int evaluate(struct eval *e, const struct eval_group *group)
{
    struct mapfile map;
    struct json_writer w;
    struct diag d;
    int code = 1;

    diag_init(&d);
    if (mapfile_open(&map, e->file, &d) == ST_OK) {
        struct node *root = node_read(&e->arena, map.text);
        if (root != NULL) {
            group->run(e, root);
            json_write_init(&w, (struct sink){to_stdout, stdout}, JSON_INDENTED);
            node_print(root, &w);
            code = json_write_finish(&w) && fflush(stdout) == 0 ? 0 : 1;
        }
        mapfile_close(&map);
    }
    if (code != 0)
        fprintf(stderr, "perfdb-eval: %s: cannot be read\n", e->file);
    diag_fini(&d);
    return code;
}

int main(int argc, char **argv)
{
    struct eval e = {0};
    int code = 2;

    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: perfdb-eval GROUP FILE [INPUT-DIR]\n");
        return 2;
    }
    arena_init(&e.arena);
    e.file = argv[2];
    e.input = argc > 3 ? argv[3] : find_input(&e);
    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        if (strcmp(groups[i]->name, argv[1]) == 0)
            code = evaluate(&e, groups[i]);
    if (code == 2)
        fprintf(stderr, "perfdb-eval: no group %s\n", argv[1]);
    arena_free(&e.arena);
    return code;
}
