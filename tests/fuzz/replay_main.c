/*
 * replay_main - runs a fuzz harness over the files of a corpus, without a fuzzer.
 *
 * fuzz_NAME FOLDER|FILE... hands each file's bytes to the harness. A folder without files is a
 * failure: a test that replays nothing proves nothing. Each input is a heap block of exactly its
 * size, so that AddressSanitizer sees the first byte read past the end.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat st;

    if (file == NULL || fstat(fileno(file), &st) != 0) {
        perror(path);
        exit(1);
    }
    size_t size = (size_t)st.st_size;
    uint8_t *data = malloc(size); /* may be NULL for an empty file, as a fuzzer may pass */
    if (size > 0 && (data == NULL || fread(data, 1, size, file) != size)) {
        perror(path);
        exit(1);
    }
    fclose(file);
    /* Flushed first: when the harness crashes, the last line names the guilty file. */
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int replay_folder(const char *folder)
{
    struct dirent **names;
    int n = scandir(folder, &names, visible, alphasort), count = 0;

    if (n < 0) {
        perror(folder);
        exit(1);
    }
    for (int i = 0; i < n; i++) {
        char path[4096];
        int length = snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (length > 0 && (size_t)length < sizeof path)
            count += replay_file(path);
        free(names[i]);
    }
    free(names);
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;

    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) == 0 && S_ISREG(st.st_mode))
            count += replay_file(argv[i]);
        else
            count += replay_folder(argv[i]);
    }
    printf("%d inputs replayed\n", count);
    return count > 0 ? 0 : 1;
}
