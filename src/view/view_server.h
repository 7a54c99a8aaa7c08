/*
 * view_server - what `strata view` serves: the page's shell at once, the progress of the import, a
 * first picture, the page, and then any part of the captures.
 *
 *     view_server_open(&server, port, &d);          requests are answered from here on
 *     ... import: view_server_tick(server, step) ...
 *     view_server_show(server, &page);              rows and tiles, and a page without verdict
 *     ... analyse ...
 *     view_server_finish(server, &page);            the whole page
 *     view_server_close(server);
 *
 * The page, its sets and their captures outlive the server and are not changed while it is open,
 * but for what page_prepare() does to the items of the sets. One thread makes these calls.
 */
#ifndef STRATA_VIEW_VIEW_SERVER_H
#define STRATA_VIEW_VIEW_SERVER_H

#include "base/diag.h"
#include "base/run/progress.h"
#include "page/page.h"

struct view_server;

enum status view_server_open(struct view_server **out, unsigned port, enum lang lang,
                             struct diag *d);
void view_server_close(struct view_server *server);

unsigned view_server_port(const struct view_server *server);
const char *view_server_token(const struct view_server *server);
nanos view_server_idle(const struct view_server *server); /* since the last answer */

void view_server_tick(struct view_server *server, struct progress_step step);
void view_server_show(struct view_server *server, struct page_file *page);
void view_server_finish(struct view_server *server, struct page_file *page);
void view_server_fail(struct view_server *server, const struct diag *d);

#endif
