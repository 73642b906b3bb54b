// Chromium, axe and the server behind the page, for the tests and measurements of the page.
// Needs playwright-core and axe-core below the folder EDICT_BROWSER (npm install --prefix).
import {spawn} from 'node:child_process';
import {mkdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

const here = dirname(fileURLToPath(import.meta.url)), root = resolve(here, '../../..');
const packages = resolve(process.env.EDICT_BROWSER ?? join(root, 'build/browser'));
const require = createRequire(packages + '/');
const {chromium} = require('playwright-core');
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const uplot = process.env.EDICT_UPLOT_PACKAGE ?? join(root, 'build/release/uplot/package');

// Starts a program that prints an address in one of its first lines; ends it with this process.
export async function started(command, args, options = {}) {
  const child = spawn(command, args, {stdio: ['pipe', 'pipe', 'inherit'], ...options});
  const url = await new Promise((found, failed) => {
    let text = '';
    child.stdout.on('data', (part) => {
      text += part;
      const match = text.match(/http:\/\/127\.0\.0\.1:\d+\//);
      if (match) found(match[0]);
    });
    child.on('exit', (code) => failed(new Error(`${command} ended with ${code}: ${text}`)));
  });
  return {url, child, stop: () => new Promise((ended) => { child.removeAllListeners('exit'); child.on('exit', ended); child.kill('SIGTERM'); })};
}

export const startMock = (streams, rate) => started('node', [join(here, 'mock.mjs'), join(root, 'src/front/server/page'), uplot, String(streams), String(rate)]);
export const wish = async (url, what) => (await fetch(url + 'mock', {method: 'POST', body: JSON.stringify(what)})).json();

export const launch = () => chromium.launch({executablePath: process.env.EDICT_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--enable-precise-memory-info']});

// What the page and its scripts complain about is a failure.
export async function open(browser, url, {width = 1400, height = 900, colorScheme = 'light', clock = false, ready = true} = {}) {
  const context = await browser.newContext({viewport: {width, height}, colorScheme, reducedMotion: 'reduce'});
  const page = await context.newPage();
  page.complaints = [];
  page.on('pageerror', (error) => page.complaints.push(error.message));
  page.on('console', (message) => { if (message.type() === 'error' && !/Failed to load resource|net::ERR/.test(message.text())) page.complaints.push(message.text()); });
  if (clock) await page.clock.install();
  await page.goto(url);
  if (ready) await page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
  return page;
}

// Rules of WCAG 2.2 A and AA, and what axe calls best practice.
export async function violations(page) {
  await page.evaluate(axeSource);
  const found = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
  return found.violations.map(({id, help, nodes}) => `${id}: ${help} (${nodes.slice(0, 3).map(({html}) => html.slice(0, 120)).join(' | ')})`);
}

export async function shoot(page, name) {
  const folder = process.env.EDICT_SHOTS;
  if (!folder) return;
  mkdirSync(folder, {recursive: true});
  await page.screenshot({path: join(folder, `${name}.png`)});
}
