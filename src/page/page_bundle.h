/*
 * page_bundle - the script and the styles of the page, made from web/ by the build.
 */
#ifndef STRATA_PAGE_PAGE_BUNDLE_H
#define STRATA_PAGE_PAGE_BUNDLE_H

#include "base/str.h"

struct page_bundle {
    struct str text;
    unsigned char sha256[32]; /* of the text, for the Content-Security-Policy */
};

extern const struct page_bundle page_script, page_style;

#endif
