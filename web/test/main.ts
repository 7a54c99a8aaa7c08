import { runAll } from './harness';
import './unit';

void runAll(process.argv[2]);
