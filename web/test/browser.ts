// A browser for tests: opens files from disk, collects messages and requests.
import { Browser, BrowserContextOptions, chromium, Page } from 'playwright-core';

export interface Opened {
    page: Page;
    problems: string[]; // console messages, errors, requests that leave the file
}

export async function launch(more: string[] = []): Promise<Browser> {
    return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', ...more] });
}

export async function open(browser: Browser, file: string, hash = '', options: BrowserContextOptions = {}): Promise<Opened> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(10_000);
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (message) => problems.push(message.type() + ': ' + message.text()));
    page.on('pageerror', (error) => problems.push('error: ' + error.message));
    page.on('request', (request) => {
        if (!request.url().startsWith('file://' + file) && !request.url().startsWith('blob:')) problems.push('request: ' + request.url());
    });
    await page.goto('file://' + file + hash);
    return { page, problems };
}
