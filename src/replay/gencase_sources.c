/*
 * The generated sources. Each is put together in one buffer.
 */
#include "base/char.h"
#include "replay/gencase.h"

struct source_text {
    struct arena *arena;
    VEC_OF(char) bytes;
};

static void put(struct source_text *t, struct str s)
{
    vec_reserve(&t->bytes, t->bytes.n + s.n);
    if (s.n > 0)
        memcpy(t->bytes.at + t->bytes.n, s.at, s.n);
    t->bytes.n += s.n;
}

static void put_line(struct source_text *t, struct str s)
{
    put(t, s);
    put(t, S("\n"));
}

#define line(t, ...) put_line((t), arena_format((t)->arena, __VA_ARGS__))

static struct str finish(struct source_text *t)
{
    struct str all = arena_str(t->arena, (struct str){t->bytes.at, t->bytes.n});

    vec_free(&t->bytes);
    return all;
}

static void put_prologue(struct source_text *t)
{
    static const char *const narrow[] = {"hifloat8_t",    "float8_e4m3_t",   "float8_e5m2_t",
                                         "float8_e8m0_t", "float4_e1m2x2_t", "float4_e2m1x2_t"};

    line(t, "/* Written by strata: a kernel alone, for the operator simulator. */");
    line(t, "#ifndef __VEC_SCOPE__");
    line(t, "#define __VEC_SCOPE__");
    line(t, "#endif");
    line(t, "#include <stdint.h>");
    line(t, "#if defined(__NPU_ARCH__) && (__NPU_ARCH__ == 2201)");
    line(t, "/* Types this core lacks; headers name them. */");
    for (size_t i = 0; i < ARRAY_LEN(narrow); i++)
        line(t, "typedef struct { uint8_t bits; } %s;", narrow[i]);
    line(t, "#endif");
    line(t, "#if defined(PTOAS_ENABLE_CCE_PRINT)");
    line(t, "#include \"ccelib/print/print.h\"");
    line(t, "#endif");
    line(t, "#include \"pto/pto-inst.hpp\"");
    line(t, "#include \"pto/common/constants.hpp\"");
    line(t, "#if !defined(__CCE_AICORE__) && !defined(TMRGSORT_HPP)");
    line(t, "namespace pto {");
    line(t, "struct MrgSortExecutedNumList {");
    line(t, "    uint16_t mrgSortList0;");
    line(t, "    uint16_t mrgSortList1;");
    line(t, "    uint16_t mrgSortList2;");
    line(t, "    uint16_t mrgSortList3;");
    line(t, "};");
    line(t, "}");
    line(t, "#endif");
    line(t, "#ifndef __CPU_SIM");
    line(t, "#include \"acl/acl.h\"");
    line(t, "#endif");
    line(t, "%s", "");
}

static void put_params(struct source_text *t, const struct entry *e)
{
    for (size_t i = 0; i < e->n_params; i++) {
        if (i > 0)
            put(t, S(", "));
        put(t, e->params[i].text);
    }
}

static void put_names(struct source_text *t, const struct entry *e, size_t zeros)
{
    for (size_t i = 0; i < e->n_params + zeros; i++) {
        if (i > 0)
            put(t, S(", "));
        put(t, i < e->n_params ? e->params[i].name : S("0"));
    }
}

static void put_head(struct source_text *t, const struct entry *e)
{
    put(t, S("extern \"C\" __global__ AICORE void "));
    put(t, e->name);
    put(t, S("("));
    put_params(t, e);
    put(t, S(")"));
}

static void put_call(struct source_text *t, const struct entry *e, const char *suffix, size_t zeros)
{
    put(t, S("    "));
    put(t, e->name);
    put(t, str_of(suffix));
    put(t, S("("));
    put_names(t, e, zeros);
    put(t, S(");\n"));
}

/* The body of a bare kernel under another name: static, so that the entry can have its own. */
static void put_renamed(struct source_text *t, const struct gencase_job *job)
{
    const struct entry *e = job->entry;
    size_t decl = str_find(str_part(job->source, e->head_at, job->source.n), S("AICORE"));

    put(t, str_part(job->source, 0, e->head_at));
    put(t, S("static "));
    put(t, str_part(job->source, e->head_at + decl, e->name_at - e->head_at - decl));
    put(t, e->name);
    put(t, S("_impl"));
    put(t, str_part(job->source, e->name_at + e->n, job->source.n));
}

struct str gencase_kernel(const struct gencase_job *job, struct arena *arena)
{
    const struct entry *e = job->entry;
    struct source_text t = {.arena = arena};

    put_prologue(&t);
    if (e->sort == ENTRY_BARE)
        put_renamed(&t, job);
    else
        put(&t, job->source);
    put(&t, S("\n"));
    if (e->sort == ENTRY_GLOBAL)
        return finish(&t);
    put_head(&t, e);
    put(&t, S("\n{\n"));
    if (e->sort == ENTRY_BARE) {
        put_call(&t, e, "_impl", 0);
    } else {
        put(&t, S("#if defined(__DAV_CUBE__)\n"));
        put_call(&t, e, "_aic", 0);
        put(&t, S("#endif\n"));
        if (e->has_aiv) {
            put(&t, S("#if defined(__DAV_VEC__)\n"));
            put_call(&t, e, "_aiv", e->extra_aiv);
            put(&t, S("#endif\n"));
        }
    }
    put(&t, S("}\n"));
    return finish(&t);
}

const char *gencase_launch(struct arena *arena, struct str kernel)
{
    char first = kernel.n > 0 ? char_upper(kernel.at[0]) : '_';

    return arena_format(arena, "Launch%c%.*s", first, STR_ARGS(str_part(kernel, 1, kernel.n))).at;
}

/* The host function's parameters: "aclFloat16 *v1, int32_t v2, void *stream". */
static void put_host_params(struct source_text *t, const struct entry *e)
{
    for (size_t i = 0; i < e->n_params; i++) {
        const struct entry_param *p = &e->params[i];
        put(t, p->is_pointer ? p->host : p->type);
        put(t, p->is_pointer ? S(" *") : S(" "));
        put(t, p->name);
        put(t, S(", "));
    }
    put(t, S("void *stream"));
}

struct str gencase_launcher(const struct gencase_job *job, struct arena *arena)
{
    const struct entry *e = job->entry;
    struct source_text t = {.arena = arena};

    put_prologue(&t);
    put_head(&t, e);
    put(&t, S(";\n\n"));
    line(&t, "void %s(", gencase_launch(arena, e->name));
    t.bytes.n--; /* on the same line */
    put_host_params(&t, e);
    put(&t, S(")\n{\n    "));
    put(&t, e->name);
    put(&t, S("<<<1, nullptr, stream>>>("));
    for (size_t i = 0; i < e->n_params; i++) {
        const struct entry_param *p = &e->params[i];
        if (i > 0)
            put(&t, S(", "));
        if (p->is_pointer) {
            put(&t, S("(__gm__ "));
            put(&t, p->type);
            put(&t, S(" *)"));
        }
        put(&t, p->name);
    }
    put(&t, S(");\n}\n"));
    return finish(&t);
}

static const char check_macro[] =
    "#define CHECK(call)                                                              \\\n"
    "    do {                                                                         \\\n"
    "        const aclError code_ = (call);                                           \\\n"
    "        if (code_ != ACL_SUCCESS) {                                              \\\n"
    "            const char *why_ = aclGetRecentErrMsg();                             \\\n"
    "            std::fprintf(stderr, \"%s failed: %d at %s:%d: %s\\n\", #call, (int)code_, \\\n"
    "                         __FILE__, __LINE__, why_ != nullptr ? why_ : \"\");        \\\n"
    "            failed = 1;                                                          \\\n"
    "            goto done;                                                           \\\n"
    "        }                                                                        \\\n"
    "    } while (0)\n\n";

static void put_buffers(struct source_text *t, const struct gencase_job *job)
{
    const struct entry *e = job->entry;

    for (size_t i = 0; i < e->n_params; i++) {
        const struct entry_param *p = &e->params[i];
        if (p->is_pointer) {
            line(t, "    const size_t %.*s_elements = %lld;", STR_ARGS(p->name),
                 (long long)gm_text_elements(job->sizes, i));
            line(t, "    const size_t %.*s_bytes = %zu;", STR_ARGS(p->name), gencase_bytes(job, i));
            line(t, "    void *%.*s_host = nullptr, *%.*s_device = nullptr;", STR_ARGS(p->name),
                 STR_ARGS(p->name));
        } else {
            struct str value =
                job->given != NULL && job->given[i].scalar.n > 0 ? job->given[i].scalar : S("1");
            line(t, "    %.*s %.*s = static_cast<%.*s>(%.*s);", STR_ARGS(p->type),
                 STR_ARGS(p->name), STR_ARGS(p->type), STR_ARGS(value));
        }
    }
}

static void put_loads(struct source_text *t, const struct entry *e)
{
    for (size_t i = 0; i < e->n_params; i++) {
        const struct entry_param *p = &e->params[i];
        if (!p->is_pointer)
            continue;
        line(t, "    (void)%.*s_elements;", STR_ARGS(p->name));
        line(t, "    CHECK(aclrtMallocHost(&%.*s_host, %.*s_bytes));", STR_ARGS(p->name),
             STR_ARGS(p->name));
        line(t, "    CHECK(aclrtMalloc(&%.*s_device, %.*s_bytes, ACL_MEM_MALLOC_HUGE_FIRST));",
             STR_ARGS(p->name), STR_ARGS(p->name));
        line(t, "    read_size = %.*s_bytes;", STR_ARGS(p->name));
        line(
            t,
            "    if (!PtoTestCommon::ReadFile(\"./%.*s.bin\", read_size, %.*s_host, %.*s_bytes) ||",
            STR_ARGS(p->name), STR_ARGS(p->name), STR_ARGS(p->name));
        line(t, "        read_size != %.*s_bytes) {", STR_ARGS(p->name));
        line(t, "        std::fprintf(stderr, \"%.*s.bin: not %%zu bytes\\n\", %.*s_bytes);",
             STR_ARGS(p->name), STR_ARGS(p->name));
        line(t, "        failed = 1;");
        line(t, "        goto done;");
        line(t, "    }");
        line(t, "    CHECK(aclrtMemcpy(%.*s_device, %.*s_bytes, %.*s_host, %.*s_bytes,",
             STR_ARGS(p->name), STR_ARGS(p->name), STR_ARGS(p->name), STR_ARGS(p->name));
        line(t, "                      ACL_MEMCPY_HOST_TO_DEVICE));");
    }
}

static void put_launch_call(struct source_text *t, const struct gencase_job *job)
{
    const struct entry *e = job->entry;

    put(t, S("    "));
    put(t, str_of(gencase_launch(t->arena, e->name)));
    put(t, S("("));
    for (size_t i = 0; i < e->n_params; i++) {
        const struct entry_param *p = &e->params[i];
        if (p->is_pointer) {
            put(t, S("static_cast<"));
            put(t, p->host);
            put(t, S(" *>("));
            put(t, p->name);
            put(t, S("_device)"));
        } else {
            put(t, p->name);
        }
        put(t, S(", "));
    }
    put(t, S("stream);\n"));
    line(t, "    CHECK(aclrtSynchronizeStream(stream));");
}

static void put_frees(struct source_text *t, const struct entry *e)
{
    for (size_t i = 0; i < e->n_params; i++) {
        if (!e->params[i].is_pointer)
            continue;
        line(t, "    if (%.*s_device != nullptr)", STR_ARGS(e->params[i].name));
        line(t, "        aclrtFree(%.*s_device);", STR_ARGS(e->params[i].name));
        line(t, "    if (%.*s_host != nullptr)", STR_ARGS(e->params[i].name));
        line(t, "        aclrtFreeHost(%.*s_host);", STR_ARGS(e->params[i].name));
    }
    line(t, "    if (stream != nullptr)");
    line(t, "        aclrtDestroyStream(stream);");
    line(t, "    if (has_device)");
    line(t, "        aclrtResetDevice(device);");
    line(t, "    if (has_acl)");
    line(t, "        aclFinalize();");
    line(t, "    return failed;");
    line(t, "}");
}

struct str gencase_main(const struct gencase_job *job, struct arena *arena)
{
    const struct entry *e = job->entry;
    struct source_text t = {.arena = arena};

    line(&t, "/* Written by strata: runs one kernel once. Results are not compared. */");
    line(&t, "#include <cstddef>");
    line(&t, "#include <cstdint>");
    line(&t, "#include <cstdio>");
    line(&t, "#include <cstdlib>");
    line(&t, "#include \"acl/acl.h\"");
    line(&t, "#include \"test_common.h\"");
    line(&t, "%s", "");
    line(&t, "void %s(", gencase_launch(arena, e->name));
    t.bytes.n--;
    put_host_params(&t, e);
    put(&t, S(");\n\n"));
    put(&t, S(check_macro));
    line(&t, "int main()");
    line(&t, "{");
    put_buffers(&t, job);
    line(&t, "    const char *chosen = std::getenv(\"ACL_DEVICE_ID\");");
    line(&t, "    const int device = chosen != nullptr ? std::atoi(chosen) : 0;");
    line(&t, "    aclrtStream stream = nullptr;");
    line(&t, "    bool has_acl = false, has_device = false;");
    line(&t, "    size_t read_size = 0;");
    line(&t, "    int failed = 0;");
    line(&t, "%s", "");
    line(&t, "    CHECK(aclInit(nullptr));");
    line(&t, "    has_acl = true;");
    line(&t, "    CHECK(aclrtSetDevice(device));");
    line(&t, "    has_device = true;");
    line(&t, "    CHECK(aclrtCreateStream(&stream));");
    put_loads(&t, e);
    line(&t, "    (void)read_size;");
    put_launch_call(&t, job);
    line(&t, "done:");
    put_frees(&t, e);
    return finish(&t);
}

struct str gencase_cmake(const struct gencase_job *job, struct arena *arena)
{
    const char *test = job->testcase;
    struct source_text t = {.arena = arena};

    line(&t, "# Written by strata: one kernel for the operator simulator.");
    line(&t, "cmake_minimum_required(VERSION 3.16)");
    line(&t, "if(NOT DEFINED ENV{ASCEND_HOME_PATH})");
    line(&t, "    message(FATAL_ERROR \"ASCEND_HOME_PATH is not set: source set_env.sh of CANN\")");
    line(&t, "endif()");
    line(&t, "if(NOT DEFINED PTO_ISA_ROOT)");
    line(&t, "    message(FATAL_ERROR \"pass -DPTO_ISA_ROOT=<folder of pto-isa>\")");
    line(&t, "endif()");
    line(&t, "if(NOT DEFINED SOC_VERSION)");
    line(&t, "    set(SOC_VERSION \"%s\")", job->soc);
    line(&t, "endif()");
    line(&t, "set(CMAKE_C_COMPILER bisheng)");
    line(&t, "set(CMAKE_CXX_COMPILER bisheng)");
    line(&t, "project(%s LANGUAGES C CXX)", test);
    line(&t, "set(CMAKE_CXX_STANDARD 17)");
    line(&t, "set(CMAKE_CXX_STANDARD_REQUIRED ON)");
    line(&t, "set(ASCEND $ENV{ASCEND_HOME_PATH})");
    line(&t, "%s", "");
    line(&t, "add_compile_options(-O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIC%s)",
         job->has_lines ? " -g" : "");
    line(&t, "add_link_options(%s-Wl,-z,relro -Wl,-z,now)", job->has_lines ? "" : "-s ");
    line(&t, "include_directories(${PTO_ISA_ROOT}/include ${PTO_ISA_ROOT}/tests/common");
    line(&t, "    ${ASCEND}/include)");
    line(&t,
         "link_directories(${ASCEND}/lib64 ${ASCEND}/aarch64-linux/simulator/${SOC_VERSION}/lib");
    line(&t, "    ${ASCEND}/simulator/${SOC_VERSION}/lib");
    line(&t, "    ${ASCEND}/tools/simulator/${SOC_VERSION}/lib)");
    line(&t, "%s", "");
    line(&t, "add_library(%s_kernel SHARED %s_kernel.cpp launch.cpp)", test, test);
    line(&t, "target_compile_options(%s_kernel PRIVATE -xcce -fenable-matrix", test);
    line(&t, "    --cce-aicore-enable-tl -fPIC -Xhost-start -Xhost-end");
    line(&t, "    \"SHELL:-mllvm -cce-aicore-stack-size=0x8000\"");
    line(&t, "    \"SHELL:-mllvm -cce-aicore-function-stack-size=0x8000\"");
    line(&t, "    \"SHELL:-mllvm -cce-aicore-record-overflow=true\"");
    line(&t, "    \"SHELL:-mllvm -cce-aicore-addr-transform\"");
    line(&t, "    \"SHELL:-mllvm -cce-aicore-dcci-insert-for-scalar=false\"");
    line(&t, "    --cce-aicore-arch=%s -DREGISTER_BASE)", job->arch);
    line(&t, "target_link_options(%s_kernel PRIVATE --cce-fatobj-link)", test);
    line(&t, "%s", "");
    line(&t, "add_executable(%s_sim main.cpp)", test);
    line(&t, "target_compile_options(%s_sim PRIVATE -xc++ \"SHELL:-include stdint.h\"", test);
    line(&t, "    \"SHELL:-include stddef.h\")");
    line(&t, "target_link_libraries(%s_sim PRIVATE %s_kernel runtime_camodel stdc++ ascendcl m",
         test, test);
    line(&t, "    tiling_api platform c_sec dl nnopbase)");
    return finish(&t);
}
