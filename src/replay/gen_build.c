#include <inttypes.h>

#include "replay/gen.h"

/* A quoted argument of CMake: only these characters mean something inside quotes. */
static void put_cmake_text(struct gen *g, const char *text)
{
    gen_put(g, S("\""));
    for (; *text != '\0'; text++) {
        if (strchr("\"\\$;", *text) != NULL)
            gen_put(g, S("\\"));
        gen_put(g, (struct str){text, 1});
    }
    gen_put(g, S("\""));
}

static void put_default(struct gen *g, const char *name, const char *value, const char *what)
{
    gen_put(g, S("set("));
    gen_put(g, str_of(name));
    gen_put(g, S(" "));
    put_cmake_text(g, value);
    gen_line(g, " CACHE STRING \"%s\")", what);
}

static const struct str flags = S_INIT(
    "set(common_flags -O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIC)\n"
    "add_link_options(-s -Wl,-z,relro -Wl,-z,now)\n"
    "\n"
    "# One library with the code of both core types. Split into a -cube and a -vec library the\n"
    "# simulator leaves no dump.\n"
    "add_library(replay_kernel SHARED replay_kernel.cpp replay_launch.cpp)\n"
    "target_compile_options(replay_kernel PRIVATE ${common_flags}\n"
    "    -xcce -fenable-matrix --cce-aicore-enable-tl -Xhost-start -Xhost-end\n"
    "    \"SHELL:-mllvm -cce-aicore-stack-size=0x8000\"\n"
    "    \"SHELL:-mllvm -cce-aicore-function-stack-size=0x8000\"\n"
    "    \"SHELL:-mllvm -cce-aicore-record-overflow=true\"\n"
    "    \"SHELL:-mllvm -cce-aicore-addr-transform\"\n"
    "    \"SHELL:-mllvm -cce-aicore-dcci-insert-for-scalar=false\"\n"
    "    --cce-aicore-arch=${AICORE_ARCH} -DREGISTER_BASE)\n"
    "target_link_options(replay_kernel PRIVATE --cce-fatobj-link)\n"
    "\n"
    "add_executable(replay_host replay_host.cpp)\n"
    "target_compile_options(replay_host PRIVATE ${common_flags} -xc++\n"
    "    \"SHELL:-include stdint.h\" \"SHELL:-include stddef.h\")\n"
    "\n");

static const struct str links = S_INIT(
    "foreach(target replay_kernel replay_host)\n"
    "    target_include_directories(${target} PRIVATE ${include_dirs})\n"
    "endforeach()\n"
    "target_link_directories(replay_host PRIVATE ${ASCEND_HOME}/lib64\n"
    "    ${ASCEND_HOME}/aarch64-linux/simulator/${SOC_VERSION}/lib\n"
    "    ${ASCEND_HOME}/x86_64-linux/simulator/${SOC_VERSION}/lib\n"
    "    ${ASCEND_HOME}/simulator/${SOC_VERSION}/lib\n"
    "    ${ASCEND_HOME}/tools/simulator/${SOC_VERSION}/lib)\n"
    "target_link_libraries(replay_host PRIVATE replay_kernel runtime_camodel stdc++ ascendcl m\n"
    "    tiling_api platform c_sec dl nnopbase)\n");

void gen_cmake(const struct workspace *ws, struct gen *g)
{
    const char *family = ws->platform->family;

    gen_put(g, S("# Builds the replay of one kernel. Made by strata incore replay.\n"
                 "cmake_minimum_required(VERSION 3.16)\n"
                 "set(CMAKE_C_COMPILER bisheng)\n"
                 "set(CMAKE_CXX_COMPILER bisheng)\n"
                 "project(insight_trace_replay LANGUAGES C CXX)\n"
                 "set(CMAKE_CXX_STANDARD 17)\n"
                 "set(CMAKE_CXX_STANDARD_REQUIRED ON)\n\n"));
    put_default(g, "ASCEND_HOME", ws->cann_home, "the CANN toolkit");
    put_default(g, "PTO_ISA_ROOT", ws->pto_isa_root, "checkout of the PTO instructions");
    put_default(g, "REPO_ROOT", ws->repo_root, "checkout of the runtime");
    put_default(g, "SOC_VERSION", ws->soc, "the simulated chip");
    put_default(g, "AICORE_ARCH", ws->platform->arch, "without -cube or -vec");
    gen_put(g, S("\nset(include_dirs ${PTO_ISA_ROOT}/include ${PTO_ISA_ROOT}/include/pto\n"));
    static const char *const parts[] = {"runtime", "common", "orchestration"};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        gen_line(g, "    ${REPO_ROOT}/src/%s/runtime/%s/%s", family, ws->runtime, parts[i]);
    gen_put(g, S("    ${REPO_ROOT}/src/common/task_interface\n"));
    gen_line(g, "    ${REPO_ROOT}/src/%s/platform/include", family);
    gen_put(g, S("    ${REPO_ROOT}/simpler_setup/incore\n"
                 "    ${ASCEND_HOME}/pkg_inc ${ASCEND_HOME}/pkg_inc/profiling\n"
                 "    ${ASCEND_HOME}/pkg_inc/runtime/runtime ${ASCEND_HOME}/include)\n\n"));
    gen_put(g, flags);
    gen_put(g, links);
}

static void put_defaults(const struct workspace *ws, struct gen *g)
{
    const struct {
        const char *name, *value;
    } defaults[] = {{"CANN_HOME", ws->cann_home},
                    {"PTO_ISA_ROOT", ws->pto_isa_root},
                    {"REPO_ROOT", ws->repo_root},
                    {"SOC_VERSION", ws->soc}};

    for (size_t i = 0; i < ARRAY_LEN(defaults); i++) {
        gen_line(g, "if [ -z \"${%s:-}\" ]; then", defaults[i].name);
        gen_put(g, S("    "));
        gen_put(g, str_of(defaults[i].name));
        gen_put(g, S("="));
        gen_shell(g, defaults[i].value);
        gen_put(g, S("\nfi\n"));
    }
}

static const struct str script_begin =
    S_INIT("#!/usr/bin/env bash\n"
           "# Builds the replay, collects its trace and exports it. Made by strata incore replay.\n"
           "# CANN_HOME, PTO_ISA_ROOT, REPO_ROOT, SOC_VERSION and TARGET_DEVICE_ID replace what is "
           "set here.\n"
           "set -euo pipefail\n"
           "\n"
           "WS=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\n");

static const struct str script_setup = S_INIT(
    "for name in CANN_HOME PTO_ISA_ROOT REPO_ROOT; do\n"
    "    if [ -z \"${!name}\" ]; then\n"
    "        echo \"$name is not set\" >&2\n"
    "        exit 1\n"
    "    fi\n"
    "done\n"
    "export ACL_DEVICE_ID=$DEVICE_ID\n"
    "\n"
    "set +u # the vendor's script reads variables that may not be there\n"
    "if [ -f \"$CANN_HOME/../cann/set_env.sh\" ]; then\n"
    "    . \"$CANN_HOME/../cann/set_env.sh\"\n"
    "elif [ -f \"$CANN_HOME/set_env.sh\" ]; then\n"
    "    . \"$CANN_HOME/set_env.sh\"\n"
    "fi\n"
    "set -u\n"
    "\n"
    "BUILD=$WS/build\n"
    "COLLECT=$WS/msprof_collect\n"
    "EXPORT=$WS/insight_export\n"
    "rm -rf \"$COLLECT/out\" # an earlier collection must not be exported again\n"
    "mkdir -p \"$BUILD\" \"$COLLECT\" \"$EXPORT\"\n"
    "chmod 0700 \"$COLLECT\" \"$EXPORT\"\n"
    "\n"
    "libs=$BUILD\n"
    "for dir in \"$CANN_HOME/aarch64-linux/simulator/$SOC_VERSION/lib\" \\\n"
    "    \"$CANN_HOME/x86_64-linux/simulator/$SOC_VERSION/lib\" \\\n"
    "    \"$CANN_HOME/simulator/$SOC_VERSION/lib\" \\\n"
    "    \"$CANN_HOME/tools/simulator/$SOC_VERSION/lib\"; do\n"
    "    [ ! -d \"$dir\" ] || libs=$libs:$dir\n"
    "done\n"
    "libs=$libs:$CANN_HOME/lib64:$CANN_HOME/aarch64-linux/devlib:$CANN_HOME/devlib\n"
    "export LD_LIBRARY_PATH=$libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\n"
    "\n"
    "cmake -G Ninja -S \"$WS\" -B \"$BUILD\" -DASCEND_HOME=\"$CANN_HOME\" \\\n"
    "    -DPTO_ISA_ROOT=\"$PTO_ISA_ROOT\" -DREPO_ROOT=\"$REPO_ROOT\" "
    "-DSOC_VERSION=\"$SOC_VERSION\"\n"
    "cmake --build \"$BUILD\" --target replay_host\n"
    "\n"
    "# A library without both symbols would simulate nothing, slowly.\n"
    "if command -v nm >/dev/null; then\n"
    "    symbols=$(nm -D \"$BUILD/libreplay_kernel.so\")\n"
    "    for symbol in replay_entry launch_replay; do\n"
    "        case $symbols in\n"
    "        *\" T $symbol\"*) ;;\n"
    "        *)\n"
    "            echo \"$BUILD/libreplay_kernel.so does not export $symbol\" >&2\n"
    "            exit 1\n"
    "            ;;\n"
    "        esac\n"
    "    done\n"
    "fi\n"
    "\n"
    "# Without --kernel-name recent releases report success and write nothing.\n"
    "msprof op simulator --application=\"$BUILD/replay_host\" --kernel-name=replay_entry \\\n");

static const struct str script_end = S_INIT(
    "    --output=\"$COLLECT/out\" 2>&1 | tee \"$COLLECT/msprof_collect.log\"\n"
    "\n"
    "newest=\n"
    "for dir in \"$COLLECT\"/out/OPPROF_*; do\n"
    "    if [ -d \"$dir\" ] && { [ -z \"$newest\" ] || [ \"$dir\" -nt \"$newest\" ]; }; then\n"
    "        newest=$dir\n"
    "    fi\n"
    "done\n"
    "if [ -z \"$newest\" ]; then\n"
    "    echo \"no OPPROF_* folder under $COLLECT/out; see $COLLECT/msprof_collect.log\" >&2\n"
    "    exit 1\n"
    "fi\n"
    "source=$newest/dump\n"
    "[ ! -d \"$newest/device0/tmp_dump\" ] || source=$newest/device0/tmp_dump\n"
    "msprof op simulator --export=\"$source\" --output=\"$EXPORT\" 2>&1 |\n"
    "    tee \"$EXPORT/msprof_export.log\"\n");

void gen_script(const struct workspace *ws, struct gen *g)
{
    gen_put(g, script_begin);
    put_defaults(ws, g);
    gen_line(g, "DEVICE_ID=${TARGET_DEVICE_ID:-${NPU_LOCKED_DEVICE:-%" PRId64 "}}", ws->device);
    gen_put(g, script_setup);
    gen_line(
        g, "    --launch-count=%" PRId64 " --soc-version=\"$SOC_VERSION\" --timeout=%" PRId64 " \\",
        ws->launch_count, ws->sim_minutes);
    gen_put(g, script_end);
}
