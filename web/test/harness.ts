// Tests as named functions; one line each, a summary, and exit status 1 when one fails.
type Test = () => void | Promise<void>;

const tests: [string, Test][] = [];

export function test(name: string, run: Test): void {
    tests.push([name, run]);
}

export async function runAll(only: string | undefined): Promise<void> {
    let failed = 0;
    let passed = 0;
    for (const [name, run] of tests) {
        if (only && !name.includes(only)) continue;
        const began = Date.now();
        try {
            await run();
            passed++;
            console.log(`ok     ${String(Date.now() - began).padStart(5)} ms  ${name}`);
        } catch (error) {
            failed++;
            console.log(`FAILED ${String(Date.now() - began).padStart(5)} ms  ${name}\n${(error as Error).stack ?? error}`);
        }
    }
    console.log(`${passed} passed, ${failed} failed`);
    process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}
