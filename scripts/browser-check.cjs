// Called by scripts/browser-check with the page and, perhaps, a folder for screenshots.
'use strict';
const {chromium} = require('playwright-core');
const fs = require('fs'), path = require('path');
const checkExplore = require('./browser-check-explore.cjs');

const [file, shots] = process.argv.slice(2);
const failures = [];
const check = (good, what) => { if (!good) failures.push(what); };

// Every chart has something drawn with real coordinates.
const emptyCharts = () => [...document.querySelectorAll('svg.chart')].filter((svg) => {
  const drawn = [...svg.querySelectorAll('polyline, polygon')];
  return drawn.length === 0 || drawn.some((p) => !/^-?\d/.test(p.getAttribute('points')) || /NaN|undefined/.test(p.getAttribute('points')));
}).map((svg) => svg.getAttribute('aria-label'));

(async () => {
  const browser = await chromium.launch({executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox']});
  const open = async (options) => {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) failures.push(`console: ${message.text()}`); });
    page.on('pageerror', (error) => failures.push(`script: ${error.message}`));
    page.on('request', (request) => { if (!/^(file|data):/.test(request.url())) failures.push(`asks for ${request.url()}`); });
    await page.goto('file://' + file);
    return page;
  };
  const shoot = async (page, name, options = {}) => { if (shots) await page.screenshot({path: path.join(shots, name + '.png'), ...options}); };
  const finish = async (page, told) => {
    if (shots) await page.pdf({path: path.join(shots, 'print.pdf'), format: 'A4'});
    await browser.close();
    for (const failure of failures) console.error(failure);
    if (failures.length) process.exit(1);
    console.log(`${file}: ${told}`);
  };

  if (fs.readFileSync(file, 'utf8').includes('<nav id="chooser"')) {
    const {page, told} = await checkExplore({open, shoot, check, failures});
    await finish(page, told);
    return;
  }
  const page = await open({viewport: {width: 1280, height: 900}, colorScheme: 'light'});
  const charts = await page.locator('svg.chart').count();
  check(charts > 0, 'no charts');
  for (const name of await page.evaluate(emptyCharts)) failures.push(`chart '${name}' is empty`);
  const links = await page.evaluate(() => [...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href')));
  for (const link of new Set(links)) {
    if (link.startsWith('#')) check(await page.locator(`[id="${link.slice(1)}"]`).count() === 1, `${link} leads nowhere`);
    else check(fs.existsSync(path.join(path.dirname(file), link)), `${link} does not exist`);
  }
  await shoot(page, 'light', {fullPage: true});

  const legend = page.locator('#noise .legend button').first();
  if (await legend.count()) {
    const hidden = () => page.locator('#noise figure').first().locator('svg .off').count();
    await legend.click();
    check(await hidden() > 0, 'the legend hides nothing');
    await legend.press('Enter');
    check(await hidden() === 0, 'the legend does not show again');
  }

  if (await page.locator('#browser').count()) {
    const heading = page.locator('#browser .view h3');
    const list = page.locator('#browser .series-list:not([hidden]) button');
    const count = await list.count();
    check(count > 1, `the browser lists ${count} series`);
    const first = await heading.textContent();
    await list.first().focus();
    await page.keyboard.press('ArrowDown');
    const second = await heading.textContent();
    check(first !== second, 'the arrow key does not change the series');
    await page.keyboard.press('ArrowUp');
    check(await heading.textContent() === first, 'the arrow key does not lead back');
    await page.keyboard.press('End');
    check((await list.last().getAttribute('aria-selected')) === 'true', 'End does not lead to the last series');
    await page.keyboard.press('Home');
    for (const mode of ['noisy', 'forecast']) {
      await page.locator(`input[value=${mode}]`).check();
      for (let i = 0; i < count; ++i) {
        for (const name of await page.evaluate(emptyCharts)) failures.push(`chart '${name}' is empty (${mode}, series ${i})`);
        await list.nth((i + 1) % count).click();
      }
    }
    await page.locator('#browser .view svg').first().hover();
    const told = await page.locator('#browser .readout').textContent();
    check(/ at .*: -?[\d.e-]+, 90 % within \[-?[\d.e-]+, -?[\d.e-]+\], aleatoric ± [\d.e-]+, epistemic ± [\d.e-]+$/.test(told), `pointing at a chart tells '${told}'`);
    const models = page.locator('#browser option');
    if (await models.count() > 1) {
      await page.locator('#browser select').selectOption('1');
      check(await list.count() > 1 && await page.locator('#browser .view svg').count() > 0, 'another model shows nothing');
      await page.locator('#browser select').selectOption('0');
    }
    await page.locator('input[value=noisy]').check();
    await page.locator('#browse').scrollIntoViewIfNeeded();
    if (shots) await page.locator('#browse').screenshot({path: path.join(shots, 'browse.png')});
  }

  const dark = await open({viewport: {width: 1280, height: 900}, colorScheme: 'dark'});
  const lightness = await dark.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).reduce((s, c) => s + Number(c), 0));
  check(lightness < 200, 'dark mode is not dark');
  await shoot(dark, 'dark', {fullPage: true});

  const phone = await open({viewport: {width: 390, height: 844}, deviceScaleFactor: 2, colorScheme: 'light'});
  const wide = await phone.evaluate(() => document.documentElement.scrollWidth);
  check(wide <= 390, `the page is ${wide} pixels wide on a phone of 390`);
  await shoot(phone, 'phone', {fullPage: true});

  await finish(page, `${charts} charts, ${links.length} links, fine in light, dark and on a phone`);
})().catch((error) => { console.error(error.message); process.exit(1); });
