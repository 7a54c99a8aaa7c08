#include <inttypes.h>

#include "replay/gen.h"

/* The words of the vendor's compiler, empty for others, which may only check the syntax. */
static void put_words(struct gen *g)
{
    gen_put(g, S("#ifndef AICORE\n"
                 "#ifdef __clang__\n"
                 "#define AICORE [aicore]\n"
                 "#else\n"
                 "#define AICORE\n"
                 "#endif\n"
                 "#endif\n"
                 "#ifndef __clang__\n"
                 "#ifndef __global__\n"
                 "#define __global__\n"
                 "#endif\n"
                 "#ifndef __gm__\n"
                 "#define __gm__\n"
                 "#endif\n"
                 "#endif\n"
                 "\n"));
}

static void put_prologue(const struct workspace *ws, struct gen *g)
{
    const struct platform *p = ws->platform;

    gen_put(g, S("#ifndef __CCE_AICORE__\n"));
    gen_line(g, "#define __CCE_AICORE__ %d", p->number);
    gen_put(g, S("#endif\n#include <cce_aicore_intrinsics.h>\n"));
    gen_line(g, "#ifndef %s", p->macro);
    gen_line(g, "#define %s", p->macro);
    gen_put(g, S("#endif\n#ifndef EVENT_ID7\n"));
    gen_line(g, "#define EVENT_ID7 (static_cast<%sevent_t>(7))", p->scope);
    gen_put(g, S("#endif\n#ifndef PIPE_FIX\n"));
    gen_line(g, "#define PIPE_FIX (static_cast<%spipe_t>(10))", p->scope);
    gen_put(g, S("#endif\n"));
    gen_line(g, "#include \"%s\"", ws->kernel->incore.path);
}

static void put_parameters(const struct workspace *ws, struct gen *g)
{
    gen_put(g, S("extern \"C\" __global__ AICORE void replay_entry("));
    gen_put(g, ws->kernel->shape == SHAPE_MIX
                   ? S("__gm__ int64_t *aic_args, __gm__ int64_t *aiv_args)")
                   : S("__gm__ int64_t *args)"));
}

static void put_mix_body(struct gen *g)
{
    gen_put(g, S("#if defined(__DAV_CUBE__)\n"
                 "    const uint64_t row = static_cast<uint64_t>(get_block_idx());\n"
                 "    kernel_entry(aic_args + row * 50);\n"
                 "#elif defined(__DAV_VEC__)\n"
                 "    const uint64_t row = static_cast<uint64_t>(\n"
                 "        get_block_idx() * get_subblockdim() + get_subblockid());\n"
                 "    kernel_entry(aiv_args + row * 50);\n"
                 "#endif\n"));
}

void gen_kernel(const struct workspace *ws, struct gen *g)
{
    const char *guard = ws->kernel->shape == SHAPE_AIC ? "defined(__DAV_CUBE__)"
                        : ws->kernel->shape == SHAPE_AIV
                            ? "defined(__DAV_VEC__)"
                            : "defined(__DAV_CUBE__) || defined(__DAV_VEC__)";

    gen_line(g, "// One kernel (%s) behind a C entry. Made by strata incore replay.",
             shape_name(ws->kernel->shape));
    gen_put(g, S("#include <stdint.h>\n\n"));
    put_words(g);
    gen_line(g, "#if %s", guard);
    put_prologue(ws, g);
    gen_put(g, S("#endif\n\n"
                 "// Both core types get an entry; where the kernel does not run it is empty.\n"));
    put_parameters(ws, g);
    gen_put(g, S("\n{\n"));
    if (ws->kernel->shape == SHAPE_MIX) {
        put_mix_body(g);
    } else {
        gen_line(g, "#if %s", guard);
        gen_put(g, S("    kernel_entry(args);\n#endif\n"));
    }
    gen_put(g, S("}\n"));
}

void gen_launch(const struct workspace *ws, struct gen *g)
{
    bool is_mix = ws->kernel->shape == SHAPE_MIX;

    gen_put(g, S("// Launches the entry of replay_kernel.cpp. Made by strata incore replay.\n"
                 "#include <stdint.h>\n"
                 "#include <stdlib.h>\n\n"));
    put_words(g);
    put_parameters(ws, g);
    gen_put(g, S(";\n\n"));
    gen_line(g, "extern \"C\" void launch_replay(%s, void *stream)",
             is_mix ? "void *aic_args, void *aiv_args" : "void *args");
    gen_put(g, S("{\n#ifdef __clang__\n"));
    gen_line(g, "    replay_entry<<<%" PRId64 ", nullptr, stream>>>(%s);", ws->blocks,
             is_mix ? "(__gm__ int64_t *)aic_args, (__gm__ int64_t *)aiv_args"
                    : "(__gm__ int64_t *)args");
    gen_put(g, S("#else\n"));
    gen_put(g, is_mix ? S("    (void)aic_args, (void)aiv_args, (void)stream;\n")
                      : S("    (void)args, (void)stream;\n"));
    gen_put(g, S("    abort(); // only bisheng can launch kernels\n"
                 "#endif\n"
                 "}\n"));
}
