/* A program outside the tree: loads a profile, asks one question, prints what was found. */
#include <stdio.h>
#include <strata/strata.h>

int main(int argc, char **argv)
{
    struct strata *s = strata_new();
    struct strata_report *report = NULL;

    if (argc < 2 || strata_load(s, argv[1], NULL) || strata_analyze(s, "anomaly", &report))
        printf("no answer: %s\n", strata_error(s));
    else
        printf("%zu findings\n", strata_finding_count(report));
    strata_report_free(report);
    strata_free(s);
    return 0;
}
