// The page of `edict explore` in a browser: used as a person would, with the pointer and the keys.
// Called by browser-check.cjs.
'use strict';

const ready = (page) => page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
const drawn = '#charts svg.chart';

// Charts in sight that are empty or hold something that is no number.
const emptyCharts = () => [...document.querySelectorAll('#charts figure')].filter((figure) => {
  const box = figure.getBoundingClientRect();
  if (box.bottom < 0 || box.top > innerHeight) return false;
  return !figure.querySelector('svg.chart') || /NaN|undefined|Infinity/.test(figure.innerHTML);
}).map((figure) => figure.querySelector('figcaption').textContent);

module.exports = async ({open, shoot, check, failures}) => {
  const page = await open({viewport: {width: 1360, height: 900}, colorScheme: 'light'});
  const began = Date.now();
  await ready(page);
  const opening = await page.evaluate(() => performance.timing.domInteractive - performance.timing.navigationStart);
  const seconds = (opening + Date.now() - began) / 1000;
  check(seconds < 5, `the page takes ${seconds} s to open`);
  const name = page.locator('#name'), list = page.locator('#list');
  // Charts are drawn when the browser has seen that they are in sight; on a busy machine that takes a while.
  const settled = async () => {
    let empty = [];
    for (let waited = 0; waited < 5000; waited += 150) {
      await page.waitForTimeout(150);
      empty = await page.evaluate(emptyCharts);
      if (!empty.length) return;
    }
    for (const title of empty) failures.push(`chart '${title}' is empty`);
  };
  await settled();
  const series = await page.evaluate(() => document.querySelectorAll('#list [role=option]').length);
  check(series > 0, 'no series are listed');
  check(await page.locator(drawn).count() > 0, 'no chart is drawn');
  check(await page.locator('#list [role=option]').count() < 100, 'rows out of sight exist too');
  await shoot(page, 'explore-light');

  // Keys lead through the series and to the search.
  const first = await name.textContent();
  await page.keyboard.press('ArrowDown');
  await settled();
  const second = await name.textContent();
  const several = await page.locator('#list [role=option]').count() > 1;
  check(!several || first !== second, 'the arrow key does not change the series');
  await page.keyboard.press('ArrowUp');
  await settled();
  check(await name.textContent() === first, 'the arrow key does not lead back');
  const last = (await page.locator('#list [role=option] .row-id').last().textContent());
  await page.keyboard.press('/');
  await page.keyboard.type(last);
  await settled();
  check(await name.textContent() === `Series ${last}`, `searching for '${last}' shows '${await name.textContent()}'`);
  check((await page.evaluate(() => location.hash)) === '#id=' + encodeURIComponent(last), 'the address does not name the series');
  await page.locator('#search').fill('');
  for (let k = 0; k < await page.locator('#sort option').count(); ++k) {
    await page.locator('#sort').selectOption(String(k));
    await settled();
  }
  await page.locator('#sort').selectOption('0');
  await settled();

  // Pointing at a chart tells what is there.
  const plot = page.locator('#charts figure:has(circle.seen, circle.hidden, circle.raw) .plot').first();
  await plot.scrollIntoViewIfNeeded();
  const dot = plot.locator('circle.seen, circle.hidden, circle.raw').first(), at = await dot.boundingBox();
  await page.mouse.move(at.x + at.width / 2, at.y + at.height / 2);
  const told = await page.locator('#tip').textContent();
  check(/ at .*observed[−\d]/.test(told), `pointing at an observation tells '${told}'`);
  await shoot(page, 'explore-hover');
  const banded = await page.locator('#charts polygon.epistemic').count() > 0;
  if (banded) check(/expected.*aleatoric.*epistemic.*z/.test(told), `pointing at an observation tells '${told}'`);

  // Dragging zooms, and the button leads back.
  const whole = await page.locator('#range').textContent(), box = await plot.boundingBox();
  await page.mouse.move(box.x + box.width * 0.3, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.45, box.y + 60, {steps: 4});
  await page.mouse.move(box.x + box.width * 0.6, box.y + 60, {steps: 4});
  await page.mouse.up();
  await settled();
  const part = await page.locator('#range').textContent();
  check(part !== whole, 'dragging does not zoom');
  await page.mouse.move(0, 0);
  await shoot(page, 'explore-zoomed');
  await page.keyboard.press('Shift+ArrowRight');
  check(await page.locator('#range').textContent() !== part, 'Shift and an arrow do not move the range');
  await page.locator('#reset').click();
  check(await page.locator('#range').textContent() === whole, 'the range is not reset');
  await page.keyboard.press('+');
  check(await page.locator('#range').textContent() !== whole, 'the key + does not zoom');
  await page.keyboard.press('0');
  check(await page.locator('#range').textContent() === whole, 'the key 0 does not reset');

  // Left and right in a chart lead from observation to observation.
  await plot.focus();
  await page.keyboard.press('ArrowRight');
  const one = await page.locator('#tip').textContent();
  await page.keyboard.press('ArrowRight');
  const following = await page.locator('#tip').textContent(), dots = await plot.locator('circle.seen, circle.hidden, circle.raw').count();
  check(/observed/.test(one) && (dots < 2 || one !== following), `the keys tell '${one}', then '${following}'`);

  // Features are found by name and chosen.
  const all = await page.locator('#charts figure').count();
  const feature = await plot.locator('xpath=..').locator('.feature-name').textContent();
  await page.keyboard.press('f');
  await page.keyboard.type(feature);
  await settled();
  const matching = await page.locator('#charts figure .feature-name').allTextContents();
  check(matching.includes(feature) && matching.every((n) => n === 'Class probability' || n.toLowerCase().includes(feature.toLowerCase())), `searching for '${feature}' shows ${matching}`);
  await page.locator('#feature-search').fill('');
  await page.locator('#feature-choice summary').click();
  await page.locator('#no-features').click();
  check(await page.locator('#charts figure:not(:has-text("Class probability"))').count() === 0, 'no features still shows some');
  await page.locator('#all-features').click();
  check(await page.locator('#charts figure').count() === all, 'all features does not show all');
  await page.locator('#feature-choice summary').click();

  // The other view after the cut, the table, and the way from a surprising observation to its chart.
  if (await page.locator('#view').isVisible()) {
    await page.locator('#view').selectOption('given');
    await settled();
    check(await page.locator('#charts .hidden').count() === 0, 'with everything given something is still hidden');
    await page.locator('#view').selectOption('forecast');
  }
  await page.locator('#table-view summary').click();
  await page.waitForTimeout(150);
  check(await page.locator('#table tbody tr').count() > 0, 'the table is empty');
  await page.locator('#table-view summary').click();
  const links = page.locator('#surprising-table a');
  if (await links.count()) {
    await page.locator('#surprising summary').click();
    await shoot(page, 'explore-page', {fullPage: true});
    const wanted = await links.nth(Math.min(3, await links.count() - 1)).textContent();
    await links.nth(Math.min(3, await links.count() - 1)).click();
    await settled();
    check(await name.textContent() === `Series ${wanted}`, `a surprising observation of '${wanted}' leads to '${await name.textContent()}'`);
    check(/observed/.test(await page.locator('#tip').textContent()), 'a surprising observation is not shown in its chart');
    await shoot(page, 'explore-surprising');
  }
  const labels = await page.evaluate(() => [...document.querySelectorAll('input, select, button, [role=img], [role=listbox]')]
    .filter((e) => !(e.labels && e.labels.length) && !e.getAttribute('aria-label') && !e.textContent.trim()).map((e) => e.outerHTML.slice(0, 80)));
  for (const unnamed of labels) failures.push(`without a name for a screen reader: ${unnamed}`);
  const charts = await page.locator('#charts figure').count();

  const dark = await open({viewport: {width: 1360, height: 900}, colorScheme: 'dark'});
  await ready(dark);
  const lightness = await dark.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).reduce((s, c) => s + Number(c), 0));
  check(lightness < 200, 'dark mode is not dark');
  await dark.waitForTimeout(300);
  await shoot(dark, 'explore-dark');

  const phone = await open({viewport: {width: 390, height: 844}, deviceScaleFactor: 2, colorScheme: 'light', hasTouch: true});
  await ready(phone);
  const wide = await phone.evaluate(() => document.documentElement.scrollWidth);
  check(wide <= 390, `the page is ${wide} pixels wide on a phone of 390`);
  await phone.locator('#name').scrollIntoViewIfNeeded();
  await phone.waitForTimeout(300);
  await shoot(phone, 'explore-phone');
  await phone.evaluate(() => document.getElementById('charts').scrollIntoView());
  await phone.waitForTimeout(300);
  await shoot(phone, 'explore-phone-charts');
  return {page, told: `${charts} charts of a series, open in ${seconds.toFixed(1)} s, fine in light, dark and on a phone`};
};
