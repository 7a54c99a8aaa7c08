// client.mjs STRATA - the public SDK as a client: it checks every message and every answer against the schemas it got.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const strata = process.argv[2];
const samples = ["ascend-small", "ascend-moe", "kineto-small", "memory", "ranks", "incore"];

async function connect(...options) {
    const client = new Client({ name: "test", version: "1" });
    client.onerror = (error) => assert.fail(error);
    await client.connect(new StdioClientTransport({ command: strata, args: ["mcp", "--root", "examples", ...options] }));
    return client;
}

const call = (client, name, args, options) => client.callTool({ name, arguments: args }, undefined, options);

async function textOf(client, name, args) {
    const got = await call(client, name, args);
    assert.equal(got.isError, true, `${name} ${JSON.stringify(args)}`);
    return got.content[0].text;
}

const client = await connect();
assert.equal(client.getServerVersion().name, "strata");
const { tools } = await client.listTools();
assert.deepEqual(tools.map((t) => t.name), ["open", "diagnose", "query", "timeline", "diff", "ops", "gpu_report", "incore", "simulate", "db_query", "more"]);
await client.ping();

for (const path of samples) {
    const opened = await call(client, "open", { path });
    assert.equal(opened.structuredContent.schema, "strata.info/1", path);
    const found = await call(client, "diagnose", { path });
    assert.ok(found.content[0].text.length > 20, path);
}
const kineto = await call(client, "diagnose", { path: "kineto-small" });
assert.equal(kineto.structuredContent.result.verdict.cause, "gemm_inefficient");

const picture = await call(client, "timeline", { path: "kineto-small" });
assert.equal(picture.content[0].type, "image");
assert.equal(Buffer.from(picture.content[0].data, "base64").subarray(1, 4).toString(), "PNG");

const rows = await call(client, "query", { path: "kineto-small", sql: "SELECT name FROM kernels", limit: 100 });
const handle = rows.structuredContent.more[0].handle;
const rest = await call(client, "more", { handle, offset: 20 });
assert.equal(rest.structuredContent.items.length + 20, 70);

await call(client, "diff", { before: "kineto-small", after: "kineto-small" });
await call(client, "ops", { path: "kineto-small" });
await call(client, "gpu_report", { path: "gpu-rules/raw.csv" });
await call(client, "incore", { path: "incore" });
await call(client, "simulate", { path: "pto/matmul.pto" });
await call(client, "db_query", { database_path: "perfdb/db", comm: "all_reduce", bytes: 10000, num_devices: 8 });

assert.match(await textOf(client, "open", { path: "../README.md" }), /--root/);
assert.match(await textOf(client, "open", { pth: "ranks" }), /did you mean "path"/);
assert.match(await textOf(client, "query", { path: "ranks", sql: "SELEC" }), /query\.sql/);
await assert.rejects(call(client, "gpu_profile", {}), /unknown tool/);

const slow = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
const stop = new AbortController();
setTimeout(() => stop.abort("no longer needed"), 300);
const begun = Date.now();
await assert.rejects(call(client, "query", { path: "ranks", sql: slow, timeout: 100 }, { signal: stop.signal }), /no longer needed/);
await call(client, "open", { path: "ranks" });
assert.ok(Date.now() - begun < 5000, "a cancelled call ends");

const { resources } = await client.listResources();
const skill = resources.find((r) => r.uri === "strata://skill/strata-incore");
assert.match((await client.readResource({ uri: skill.uri })).contents[0].text, /strata incore show/);
const answer = resources.findLast((r) => r.uri.startsWith("strata://answer/"));
JSON.parse((await client.readResource({ uri: answer.uri })).contents[0].text);
await assert.rejects(client.readResource({ uri: "strata://nothing" }), /not found/);
await client.close();

const runner = await connect("--allow-run");
assert.ok((await runner.listTools()).tools.some((t) => t.name === "gpu_profile"));
await runner.close();
console.log("the SDK's client is content");
