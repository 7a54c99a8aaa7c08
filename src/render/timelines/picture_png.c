/*
 * picture_png: lanes as rows of pixels, names to the left, an axis of time and the colours below.
 */
#include "base/formats/png.h"
#include "base/run/cancel.h"
#include "render/timelines/picture.h"
#include "render/timelines/timeline.h"

enum {
    SCALE = 2, /* pixels of a dot of the letters */
    GLYPH_W = 3,
    GLYPH_H = 5,
    ADVANCE = (GLYPH_W + 1) * SCALE,
    LINE = (GLYPH_H + 3) * SCALE,
    ROW = 22, /* pixels from one lane to the next */
    BAR = 18,
    MARGIN = 8,
    LABEL_LETTERS = 26,
    LABEL = LABEL_LETTERS * ADVANCE,
    WIDTH = 1200,
    WIDTH_LEAST = 400,
    TICKS = 4,
    SHADES = 4, /* of a class, by share */
};

enum { COLOR_PAPER, COLOR_INK, COLOR_LINE, COLOR_FIRST };

/* Full colours by class. */
static const uint32_t hues[PICTURE_CLASSES] = {0x2f6fb0, 0xd9822b, 0x3a9a5b,
                                               0x9aa3ad, 0x7a58a6, 0x6b7280};

/* Letters of three dots by five: an octal digit for each row, from the top. Lower case looks like
 * upper case. */
static const struct {
    char letter;
    char rows[GLYPH_H + 1];
} glyphs[] = {
    {'0', "75557"}, {'1', "26227"}, {'2', "71747"}, {'3', "71717"}, {'4', "55711"}, {'5', "74717"},
    {'6', "74757"}, {'7', "71122"}, {'8', "75757"}, {'9', "75717"}, {'A', "25755"}, {'B', "65656"},
    {'C', "34443"}, {'D', "65556"}, {'E', "74647"}, {'F', "74644"}, {'G', "34553"}, {'H', "55755"},
    {'I', "72227"}, {'J', "11152"}, {'K', "55655"}, {'L', "44447"}, {'M', "57755"}, {'N', "65555"},
    {'O', "25552"}, {'P', "65644"}, {'Q', "25563"}, {'R', "65655"}, {'S', "34216"}, {'T', "72222"},
    {'U', "55557"}, {'V', "55552"}, {'W', "55775"}, {'X', "55255"}, {'Y', "55222"}, {'Z', "71247"},
    {' ', "00000"}, {'.', "00002"}, {',', "00024"}, {'-', "00700"}, {'_', "00007"}, {'/', "11244"},
    {'(', "24442"}, {')', "21112"}, {':', "02020"}, {'%', "51245"}, {'+', "02720"}, {'=', "07070"},
    {'#', "57575"}, {'[', "64446"}, {']', "31113"}, {'<', "12421"}, {'>', "42124"}, {'*', "05250"},
};
static const char unknown[] = "07770"; /* a box */

struct canvas {
    struct arena arena;
    uint8_t *at;
    size_t width, height;
};

static void png_fill(struct canvas *c, size_t x, size_t y, size_t w, size_t h, unsigned color)
{
    for (size_t row = y; row < y + h && row < c->height; row++)
        for (size_t column = x; column < x + w && column < c->width; column++)
            c->at[row * c->width + column] = (uint8_t)color;
}

static const char *glyph_of(char letter)
{
    if (letter >= 'a' && letter <= 'z')
        letter = (char)(letter - 'a' + 'A');
    for (size_t i = 0; i < ARRAY_LEN(glyphs); i++)
        if (glyphs[i].letter == letter)
            return glyphs[i].rows;
    return unknown;
}

static void draw_text(struct canvas *c, size_t x, size_t y, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (((unsigned char)text.at[i] & 0xc0) == 0x80) /* inside a character */
            continue;
        const char *rows = glyph_of(text.at[i]);
        for (size_t row = 0; row < GLYPH_H; row++)
            for (size_t dot = 0; dot < GLYPH_W; dot++)
                if ((rows[row] - '0') >> (GLYPH_W - 1 - dot) & 1)
                    png_fill(c, x + dot * SCALE, y + row * SCALE, SCALE, SCALE, COLOR_INK);
        x += ADVANCE;
    }
}

static void draw_row(struct canvas *c, const struct picture *p, size_t number)
{
    const struct picture_row *row = &p->rows.at[number];
    const size_t y = MARGIN + number * ROW, x = MARGIN + LABEL;

    draw_text(c, MARGIN, y + (BAR - GLYPH_H * SCALE) / 2, str_fit(row->label, LABEL_LETTERS - 1));
    png_fill(c, x, y + BAR, p->columns, 1, COLOR_LINE);
    for (size_t i = 0; i < p->columns; i++) {
        const struct picture_cell *cell = &row->cells[i];
        unsigned shade = cell->share < 1 ? (unsigned)(cell->share * SHADES) : SHADES - 1;
        if (cell->share > 0)
            png_fill(c, x + i, y, 1, BAR, COLOR_FIRST + (unsigned)cell->class * SHADES + shade);
    }
}

/* Lines at whole parts of the time, with the time under them. */
static void draw_axis(struct canvas *c, struct picture *p, size_t y)
{
    nanos length = nanos_sub(p->span.end, p->span.begin);

    for (size_t i = 0; i <= TICKS; i++) {
        size_t x = MARGIN + LABEL + i * (p->columns - 1) / TICKS;
        nanos at = nanos_add(p->span.begin, nanos_of((double)length * (double)i / TICKS));
        struct str text = str_of(picture_time(p, at));
        size_t width = str_chars(text) * ADVANCE;
        png_fill(c, x, y, 1, SCALE * 2, COLOR_INK);
        x = i == 0 ? x : i == TICKS ? x - width : x - width / 2;
        draw_text(c, x, y + SCALE * 3, text);
    }
}

static void draw_legend(struct canvas *c, struct picture *p, size_t y)
{
    size_t x = MARGIN + LABEL;

    for (unsigned k = 0; k < PICTURE_CLASSES; k++) {
        struct str name = str_of(picture_class_name((enum picture_class)k));
        if (!p->has_class[k])
            continue;
        png_fill(c, x, y, GLYPH_H * SCALE, GLYPH_H * SCALE, COLOR_FIRST + k * SHADES + SHADES - 1);
        draw_text(c, x + LINE, y, name);
        x += LINE + (name.n + 2) * ADVANCE;
    }
    if (p->left_out > 0)
        draw_text(c, x, y, arena_format(&p->arena, "AND %zu MORE LANES", p->left_out));
}

/* A share of a colour on white paper. */
static uint32_t mix(uint32_t hue, double share)
{
    uint32_t out = 0;

    for (unsigned shift = 0; shift <= 16; shift += 8) {
        double part = 255 - (255 - (double)(hue >> shift & 255)) * share;
        out |= (uint32_t)(part + 0.5) << shift;
    }
    return out;
}

static bool png_save(const struct canvas *c, struct sink out)
{
    uint32_t colors[COLOR_FIRST + PICTURE_CLASSES * SHADES] = {
        [COLOR_PAPER] = 0xffffff, [COLOR_INK] = 0x1f2933, [COLOR_LINE] = 0xe4e7eb};

    for (unsigned k = 0; k < PICTURE_CLASSES; k++)
        for (unsigned shade = 0; shade < SHADES; shade++)
            colors[COLOR_FIRST + k * SHADES + shade] = mix(hues[k], (shade + 1.0) / SHADES);
    return png_write(
        &(struct png){(uint32_t)c->width, (uint32_t)c->height, c->at, colors, ARRAY_LEN(colors)},
        out);
}

static bool write_png(const struct cut *cut, const struct timeline_options *options,
                      struct sink out)
{
    size_t width = options->width > 0 ? options->width : WIDTH;
    struct canvas c = {.width = width < WIDTH_LEAST ? WIDTH_LEAST : width};
    struct picture p;

    picture_init(&p, cut, c.width - LABEL - 2 * MARGIN);
    c.height = 2 * MARGIN + p.rows.n * ROW + 2 * LINE + SCALE * 4;
    arena_init(&c.arena);
    c.at = arena_alloc(&c.arena, c.width * c.height); /* COLOR_PAPER */
    for (size_t i = 0; i < p.rows.n; i++)
        draw_row(&c, &p, i);
    draw_axis(&c, &p, MARGIN + p.rows.n * ROW);
    draw_legend(&c, &p, MARGIN + p.rows.n * ROW + LINE + SCALE * 4);
    bool is_ok = !cancelled() && png_save(&c, out);
    arena_free(&c.arena);
    picture_fini(&p);
    return is_ok;
}

const struct timeline_format timeline_png = {
    .name = "png",
    .endings = (const char *const[]){".png", NULL},
    .summary = "picture of the lanes",
    .is_binary = true,
    .write = write_png,
};
