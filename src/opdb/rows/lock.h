/*
 * lock - one writer at a time in a database folder.
 *
 *     TRY(lock_acquire(&lock, dir, "db parse", 0, d));
 *     ... write tables ...
 *     lock_release(&lock);
 *
 * The lock is flock() on <dir>/.strata.lock, so it ends with its process whatever happens; a file
 * that nobody holds means nothing. It holds the process id and the command, for the message that a
 * second writer gets. The file is removed on release, and so is a folder that was made for it and
 * is still empty. Whoever takes the lock also removes what killed writers have left in the folder:
 * temporaries with strata's mark and the id of a process that is gone (table_is_leftover).
 */
#ifndef STRATA_OPDB_ROWS_LOCK_H
#define STRATA_OPDB_ROWS_LOCK_H

#include "base/diag.h"

struct lock {
    int fd; /* -1: not held */
    char *path;
    bool made_dir; /* the folder was not there: an empty one goes with the lock */
};

/* Makes the folder if need be. `command` is the words after "strata". Waits up to `wait_s` seconds
 * for another writer, then fails with ST_IO and its name. After a failure nothing is held. */
enum status lock_acquire(struct lock *lock, const char *dir, const char *command, double wait_s,
                         struct diag *d);

/* The same for a folder that may be no database: nothing is removed from it. */
enum status lock_hold(struct lock *lock, const char *dir, const char *command, double wait_s,
                      struct diag *d);

/* Removes what killed writers have left in a folder whose lock is held, or in one below it. */
void lock_clean(const char *dir);

/* Harmless when nothing is held. */
void lock_release(struct lock *lock);

#endif
