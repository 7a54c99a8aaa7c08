/*
 * simdjson_fields - the yardstick of `make bench`: simdjson's on-demand reader that visits six
 * fields of every event of a trace and keeps nothing.
 *
 *     simdjson_fields FILE [ROUNDS [dom]]
 *
 * "dom" builds simdjson's document instead and visits the same fields.
 */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <simdjson.h>

struct sums {
    uint64_t events = 0, bytes = 0;

    void add(std::string_view text) { bytes += text.size(); }
};

static const char *const fields[] = {"ph", "name", "pid", "tid", "ts", "dur"};

static void on_demand(const simdjson::padded_string &text, sums &s)
{
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document doc = parser.iterate(text);

    for (simdjson::ondemand::object event : doc.get_array()) {
        s.events++;
        for (const char *field : fields) {
            simdjson::ondemand::value value;
            std::string_view string;
            if (event.find_field_unordered(field).get(value) != simdjson::SUCCESS)
                continue;
            if (value.get_string().get(string) == simdjson::SUCCESS)
                s.add(string);
            else
                s.add(value.raw_json_token());
        }
    }
}

static void dom(const simdjson::padded_string &text, sums &s)
{
    simdjson::dom::parser parser;

    for (simdjson::dom::object event : parser.parse(text).get_array()) {
        s.events++;
        for (const char *field : fields) {
            std::string_view string;
            if (event[field].get_string().get(string) == simdjson::SUCCESS)
                s.add(string);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    int rounds = argc > 2 ? atoi(argv[2]) : 3;
    bool is_dom = argc > 3 && strcmp(argv[3], "dom") == 0;
    double best = 1e9;
    size_t size = 0;
    sums s;

    for (int i = 0; i < rounds; i++) {
        auto begin = std::chrono::steady_clock::now();
        simdjson::padded_string text = simdjson::padded_string::load(argv[1]);
        size = text.size();
        s = sums();
        if (is_dom)
            dom(text, s);
        else
            on_demand(text, s);
        std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        if (took.count() < best)
            best = took.count();
    }
    printf("simdjson %s  %.0f MB/s  %llu events, %llu bytes\n", is_dom ? "dom" : "on-demand",
           (double)size / 1e6 / best, (unsigned long long)s.events, (unsigned long long)s.bytes);
    return 0;
}
