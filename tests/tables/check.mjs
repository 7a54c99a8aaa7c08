// check.mjs STRATA [CAPTURE...]: files that strata writes for data tools, opened by those tools' own readers; flame
// graphs by speedscope itself, in Chromium. With captures, all but the last for those.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import Ajv from 'ajv';
import { CompressionType, compressionRegistry, tableFromIPC } from 'apache-arrow';
import { decompress } from 'fzstd';
import { chromium } from 'playwright-core';
import { Profile } from 'pprof-format';

const strata = path.resolve(process.argv[2]);
const root = path.resolve(import.meta.dirname, '../..');
const out = fs.mkdtempSync(path.join(os.tmpdir(), 'strata-tables-'));
const given = process.argv.slice(3).map((name) => path.resolve(name));
const captures = given.length > 0 ? given :
    ['examples/ascend-small', 'examples/kineto-small'].map((name) => path.join(root, name));
const speedscope = path.join(import.meta.dirname, 'node_modules/speedscope/dist/release');
const duck = await (await DuckDBInstance.create(':memory:')).connect();
const tables = JSON.parse(run('query', '--schema', '--json')).result.tables.map((t) => t.name);
let failures = 0;
compressionRegistry.set(CompressionType.ZSTD, { decode: (bytes) => decompress(bytes).slice() });

function run(...args) {
    return execFileSync(strata, args, { encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'pipe'] });
}

function check(what, is, want) {
    if (is === want) return;
    failures++;
    console.log(`${what}: ${is}, expected ${want}`);
}

// Cells as text; whole numbers of any size exactly, others as the nearest double.
function cell(value) {
    if (value === null || value === undefined) return '-';
    if (typeof value === 'number') return String(value);
    return String(value);
}

// Rows of a JSON document of strata with whole numbers kept as they stand.
function rowsOf(json) {
    const exact = json.replace(/("(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)/g, (all, text, number) =>
        text ?? (/^-?\d+$/.test(number) ? `"\\u0001${number}"` : number));
    return JSON.parse(exact).result.rows.map((row) =>
        row.map((v) => cell(typeof v === 'string' && v[0] === '\u0001' ? v.slice(1) : v)));
}

async function duckRows(file) {
    const reader = await duck.runAndReadAll(`SELECT * FROM '${file}'`);
    return reader.getRows().map((row) => row.map(cell));
}

function arrowRows(file) {
    const table = tableFromIPC(fs.readFileSync(file));
    const columns = table.schema.fields.map((_, i) => table.getChildAt(i));
    return Array.from({ length: table.numRows }, (_, r) => columns.map((c) => cell(c.get(r))));
}

function same(what, got, want) {
    check(`${what}: rows`, got.length, want.length);
    for (let r = 0; r < want.length && r < got.length; r++)
        for (let c = 0; c < want[r].length; c++)
            if (got[r][c] !== want[r][c])
                return check(`${what}: row ${r}, column ${c}`, got[r][c], want[r][c]);
}

// The rows of every table, and some tables as files.
async function checkQueries(capture, asFiles) {
    const all = {};
    for (const table of tables) {
        const statement = `SELECT * FROM ${table}`;
        const want = all[table] = rowsOf(run('query', capture, '--json', statement));
        for (const [ending, rows] of asFiles.includes(table) ? [['parquet', duckRows], ['arrow', arrowRows]] : []) {
            const file = path.join(out, `q.${ending}`);
            run('query', capture, '-o', file, statement);
            same(`query ${table} of ${path.basename(capture)} as ${ending}`, await rows(file), want);
        }
    }
    return all;
}

async function checkConverts(capture) {
    for (const what of ['kernels', 'slices']) {
        const want = rowsOf(run('query', capture, '--json', `SELECT * FROM ${what}`));
        for (const [ending, rows] of [['parquet', duckRows], ['arrow', arrowRows]]) {
            const file = path.join(out, `c.${ending}`), again = path.join(out, `d.${ending}`);
            run('convert', capture, '-o', file, '--what', what, '--jobs', '1');
            run('convert', capture, '-o', again, '--what', what, '--jobs', '2');
            check(`${what} as ${ending}: two threads`, fs.readFileSync(file).equals(fs.readFileSync(again)), true);
            same(`convert ${what} of ${path.basename(capture)} as ${ending}`, await rows(file), want);
        }
    }
}

// Time by stack, added up over all stacks.
function foldedTime(file) {
    return fs.readFileSync(file, 'utf8').trimEnd().split('\n')
        .reduce((sum, line) => sum + BigInt(line.slice(line.lastIndexOf(' ') + 1)), 0n);
}

function pprofValues(file) {
    const profile = Profile.decode(zlib.gunzipSync(fs.readFileSync(file)));
    const strings = profile.stringTable.strings;
    const functions = new Set(profile.function.map((f) => f.id));
    const locations = new Map(profile.location.map((l) => [l.id, l]));
    check('pprof: first string', strings[0], '');
    check('pprof: values', profile.sampleType.map((t) => strings[Number(t.type)]).join(), 'slices,time');
    for (const location of profile.location)
        check('pprof: function of a location', functions.has(location.line[0].functionId), true);
    return profile.sample.reduce((sum, sample) => {
        check('pprof: locations', sample.locationId.every((id) => locations.has(id)), true);
        return [sum[0] + BigInt(sample.value[0]), sum[1] + BigInt(sample.value[1])];
    }, [0n, 0n]);
}

function speedscopeTime(file) {
    const document = JSON.parse(fs.readFileSync(file, 'utf8'));
    const schema = JSON.parse(fs.readFileSync(path.join(speedscope, 'file-format-schema.json'), 'utf8'));
    const validate = new Ajv({ strict: false }).compile(schema);
    check('speedscope: schema', validate(document) || JSON.stringify(validate.errors[0]), true);
    let time = 0;
    for (const profile of document.profiles) {
        const open = [];
        let last = profile.startValue;
        for (const event of profile.events) {
            check('speedscope: order', event.at >= last && event.at <= profile.endValue, true);
            last = event.at;
            if (event.type === 'O') {
                open.push(event);
            } else {
                const begin = open.pop();
                check('speedscope: nesting', event.frame, begin.frame);
                time += event.at - begin.at;
            }
        }
        check('speedscope: open frames', open.length, 0);
    }
    return BigInt(time);
}

// Time of the slices that lie within no other of their lane: what is left when inner time is counted once.
function outerTime(capture) {
    return BigInt(rowsOf(run('query', capture, '--json', `WITH o AS (SELECT dur, end_ts, max(end_ts) OVER (PARTITION BY
        rank, lane ORDER BY ts, dur DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM slices)
        SELECT coalesce(sum(dur), 0) FROM o WHERE before IS NULL OR end_ts > before`))[0][0]);
}

// Opens a file in speedscope as its own command line does; what it was taken for, and the title of the page.
async function openInSpeedscope(browser, file) {
    const script = path.join(out, 'profile.js');
    const bytes = fs.readFileSync(file).toString('base64');
    fs.writeFileSync(script, `speedscope.loadFileFromBase64("${path.basename(file)}", "${bytes}")`);
    const page = await browser.newPage();
    const imported = page.waitForEvent('console', (message) => message.text().startsWith('Importing as '));
    await page.goto(`file://${speedscope}/index.html#localProfilePath=${script}`);
    const kind = (await imported).text();
    await page.waitForFunction(() => document.title.endsWith(' - speedscope'));
    await page.getByText('Left Heavy').waitFor();
    await page.close();
    return kind;
}

async function checkSpeedscope(capture) {
    const options = { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
        args: ['--no-sandbox', '--disable-gpu', '--enable-unsafe-swiftshader'] };
    const browser = await chromium.launch(options);
    for (const [ending, kind] of [['folded', 'collapsed stack format'], ['pb.gz', 'protobuf encoded pprof file'],
        ['speedscope.json', 'speedscope json file']]) {
        const file = path.join(out, `b.${ending}`);
        run('convert', capture, '-o', file);
        check(`speedscope: ${ending}`, await openInSpeedscope(browser, file), `Importing as ${kind}`);
    }
    await browser.close();
}

function checkStacks(capture) {
    const files = ['folded', 'pb.gz', 'speedscope.json'].map((ending) => path.join(out, `s.${ending}`));
    for (const file of files) run('convert', capture, '-o', file);
    const [count, time] = rowsOf(run('query', capture, '--json', 'SELECT count(*), coalesce(sum(dur), 0) FROM slices'))[0];
    const pprof = pprofValues(files[1]);
    check('pprof: slices', pprof[0], BigInt(count));
    check('pprof: time', pprof[1], foldedTime(files[0]));
    check('pprof: time of the outermost slices', pprof[1], outerTime(capture));
    check('speedscope: time', speedscopeTime(files[2]), BigInt(time));
}

// Statements and the index that answers each.
const plans = [
    ...['slices', 'kernels', 'host_events'].flatMap((table) => [
        [`SELECT * FROM ${table} WHERE ts BETWEEN 1 AND 2`, `${table}_by_ts `],
        [`SELECT sum(dur) FROM ${table} WHERE name = 'x'`, `${table}_by_name `],
        [`SELECT * FROM ${table} WHERE lane = 1 AND ts > 2 ORDER BY ts`, `${table}_by_lane_ts `],
        [`SELECT * FROM ${table} WHERE id = 3`, 'INTEGER PRIMARY KEY']]),
    ['SELECT * FROM flows WHERE from_id = 1', 'flows_by_from_id '],
    ['SELECT * FROM flows WHERE to_id = 1', 'flows_by_to_id '],
];

const readDatabase = `
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
tables = [name for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
text = lambda v: "-" if v is None else v if isinstance(v, str) else "%d" % v if v == int(v) else repr(v)
json.dump({"tables": {t: [[text(v) for v in row] for row in db.execute("SELECT * FROM " + t)] for t in tables},
    "plans": [" ".join(row[3] for row in db.execute("EXPLAIN QUERY PLAN " + s)) for s in json.loads(sys.argv[2])],
    "check": db.execute("PRAGMA integrity_check").fetchone()[0]}, sys.stdout)`;

function checkDatabase(capture, want) {
    const file = path.join(out, 'x.db');
    run('convert', capture, '-o', file);
    const statements = JSON.stringify(plans.map((plan) => plan[0]));
    const got = JSON.parse(execFileSync('python3', ['-c', readDatabase, file, statements],
        { encoding: 'utf8', maxBuffer: 1 << 30 }));
    check('sqlite: integrity', got.check, 'ok');
    check('sqlite: tables', Object.keys(got.tables).join(), [...tables].sort().join());
    for (const table of tables)
        same(`sqlite: ${table} of ${path.basename(capture)}`, got.tables[table].map((row) =>
            row.map((v) => /^-?\d+(\.\d+)?e[-+]?\d+$/.test(v) ? String(Number(v)) : v)), want[table]);
    plans.forEach((plan, i) => check(`sqlite: ${plan[0]}`, got.plans[i].includes(plan[1]) || got.plans[i], true));
}

// Captures of what may go wrong: nothing, and names and times that no reader expects.
function writeHard() {
    const names = ['', '"nul \\u0000 inside"', '"\\ud800 alone"', '"a \xff\xfe b \xc3"', '"\xf0\x9f\x9a\x80 rocket"',
        `"${'long '.repeat(100000)}"`, '"quote \' \\" \\\\ ; \\n DROP TABLE slices"', '"-"', '"2"'];
    const event = (name, i) => `{"ph":"X","name":${name || '""'},"cat":"${i % 2 ? 'kernel' : 'cpu_op'}","pid":0,"tid":${i % 3},
        "ts":${1152921504606846n + BigInt(i)}.001,"dur":0.00${i % 10},"args":{"stream":${i % 3 ? i : '"N/A"'},"value":-1e-7}}`;
    const many = Array.from({ length: 1000 }, (_, i) => `"name ${i}"`);
    const hard = path.join(out, 'hard.json'), empty = path.join(out, 'empty.json');
    fs.writeFileSync(hard, `{"schemaVersion":1,"traceEvents":[${[...names, ...many].map(event).join(',\n')}]}`, 'latin1');
    fs.writeFileSync(empty, '{"traceEvents":[]}');
    return [hard, empty];
}

try {
    const hard = given.length === 0 ? writeHard() : [];
    for (const capture of [...captures, ...hard]) {
        const rows = await checkQueries(capture, hard.includes(capture) ? ['slices'] : tables);
        await checkConverts(capture);
        checkStacks(capture);
        checkDatabase(capture, rows);
    }
    if (given.length === 0) await checkSpeedscope(captures[1]);
} finally {
    fs.rmSync(out, { recursive: true });
}
console.log(`${captures.length + (given.length === 0 ? 2 : 0)} captures, ${failures} failures`);
process.exit(failures === 0 ? 0 : 1);
