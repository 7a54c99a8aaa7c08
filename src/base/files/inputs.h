/*
 * inputs - the files that a run has read, so that it overwrites none of them.
 *
 * Whoever opens a file for reading notes it (base/files/mapfile does), and outfile_open() refuses
 * to replace it. Files are told by device and inode, so links and other spellings do not matter.
 * What the run has written itself is no input, also when it reads it again.
 */
#ifndef STRATA_BASE_FILES_INPUTS_H
#define STRATA_BASE_FILES_INPUTS_H

#include <stdbool.h>
#include <sys/stat.h>

void inputs_note(const struct stat *info);
bool inputs_have(const struct stat *info);

/* It was opened only to see what it is. */
void inputs_unnote(int fd);

/* A file that the run has made; an input that had its inode before is gone. */
void inputs_disown(const struct stat *info);
void inputs_disown_path(const char *path);

/* A new run: nothing has been read. */
void inputs_clear(void);

#endif
