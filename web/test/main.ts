import { runAll } from './harness';
import './unit';
import { theBrowser } from './pages';
import './looks';
import './real';
import './notebook';
import './hostile';
import './access';

async function main(): Promise<void> {
    await runAll(process.argv[2]);
    await (await theBrowser()).close();
}

void main();
