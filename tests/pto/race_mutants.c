/*
 * Kernels with one flag or barrier less: how many the checker finds. Usage: race_mutants MOST
 * FILE..
 */
#include <stdio.h>

#include "base/files/mapfile.h"
#include "kernels/pto/testing_mutants.h"
#include "kernels/pto/text/parse.h"
#include "kernels/pto/text/verify.h"

static void try_file(struct mutants *m, struct pto_sim *s, const char *path, uint32_t most)
{
    struct pto_parser *parser = pto_parser_new();
    struct pto_module module;
    struct mapfile map = {0};
    struct diag diag;

    diag_init(&diag);
    pto_module_init(&module);
    if (mapfile_open(&map, path, &diag) == ST_OK && pto_parse(parser, map.text, &module) == ST_OK &&
        pto_verify(&module) == ST_OK &&
        pto_sim_prepare(s, &module, S(""), module.arch, false, path, &diag) == ST_OK) {
        uint32_t alarms = m->false_alarms;
        if (!mutants_kernel(m, s, most))
            printf("%s: the two disagree\n", path);
        if (m->false_alarms > alarms)
            printf("%s: false alarm\n", path);
    }
    mapfile_close(&map);
    pto_module_fini(&module);
    pto_parser_free(parser);
    diag_fini(&diag);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"", "set, wait or barrier", "set with its waits", "moved"};
    struct mutants *m = mutants_new();
    struct pto_sim s;

    pto_sim_init(&s);
    for (int i = 2; i < argc; i++)
        try_file(m, &s, argv[i], (uint32_t)atoi(argv[1]));
    printf("%u kernels, %u false alarms, %u verdicts differ, %u kernels with FIFOs and "
           "%u runs too large not judged\n",
           m->kernels, m->false_alarms, m->disagreed, m->mixed, m->too_large);
    for (int i = MUTANT_ONE; i < MUTANT_KINDS; i++)
        printf("%-22s %6u mutants, %6u not redundant, %6u found\n", names[i], m->tried[i],
               m->harmful[i], m->found[i]);
    bool is_fine = m->false_alarms == 0 && m->disagreed == 0 && m->kernels > 0;
    pto_sim_free(&s);
    mutants_free(m);
    return is_fine ? 0 : 1;
}
