// The server's page in a real browser, used as people would: with the pointer, with keys, and by
// those who hear it; against a server that stalls, drops, repeats and forgets.
// node page_check.mjs; EDICT_SHOTS=FOLDER leaves every view as PNG.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {launch, open, shoot, started, startMock, violations, wish} from './browser.mjs';

let browser, mock, url;
before(async () => {
  mock = await startMock(40, 0);
  url = mock.url;
  browser = await launch();
});
after(async () => {
  await browser.close();
  await mock.stop();
});

const streamPage = (id) => `${url}#/stream/${encodeURIComponent(id)}`;
// Opens, does, and fails for whatever the page complained about meanwhile.
async function withPage(options, what) {
  const page = await open(browser, options.at ?? url, options);
  try {
    await what(page);
    assert.deepEqual(page.complaints, []);
  } finally {
    await page.context().close();
  }
}
const drawnSparks = (page) => page.evaluate(() => [...document.querySelectorAll('#cards canvas')].filter((canvas) => {
  if (!canvas.width) return false;
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value, k) => k % 4 === 3 && value > 0);
}).length);
const charts = (page) => page.waitForFunction(() => document.querySelectorAll('.plot canvas').length >= 4);
const until = async (holds, what) => {
  for (let k = 0; k < 100; ++k) {
    if (await holds()) return;
    await new Promise((next) => setTimeout(next, 100));
  }
  assert.fail(what);
};

test('the overview lists every stream, the most urgent first, and draws what is in sight', () => withPage({}, async (page) => {
  assert.match(await page.textContent('#found'), /^40 streams, \d+ with an alarm$/);
  await until(async () => await drawnSparks(page) >= 12, 'cards in sight stay empty');
  const told = await (await fetch(url + 'v1/streams?limit=1000')).json();
  const urgent = told.streams.sort((a, b) => b.urgency - a.urgency).map(({id}) => id);
  const names = await page.$$eval('#cards li:not([hidden])', (items) => items.sort((a, b) => a.ariaPosInSet - b.ariaPosInSet).map((item) => item.querySelector('.card-name').textContent));
  assert.deepEqual(names.slice(0, 8), urgent.slice(0, 8));
  assert.match(await page.textContent('footer'), /not a medical device/);
  await shoot(page, 'overview-light');
}));

test('cards out of sight do not exist', async () => {
  const many = await startMock(1000, 0);
  const page = await open(browser, many.url);
  assert.match(await page.textContent('#found'), /^1,000 streams/);
  const cards = await page.locator('#cards li:not([hidden])').count();
  assert.ok(cards > 10 && cards < 60, `${cards} cards exist`);
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await until(async () => (await page.$$eval('#cards li:not([hidden])', (items) => Math.max(...items.map((item) => Number(item.ariaPosInSet))))) === 1000, 'the last card does not come');
  await page.context().close();
  await many.stop();
});

test('a name stays a name', () => withPage({}, async (page) => {
  await page.fill('#search', '<img');
  await until(async () => await page.locator('#cards li:not([hidden])').count() === 1, 'the stream is not found by its name');
  assert.equal(await page.textContent('#cards li:not([hidden]) .card-name'), '<img src=x onerror=alert(1)>/%,&#');
  await page.click('#cards li:not([hidden]) .card');
  assert.equal(await page.textContent('#detail-title'), '<img src=x onerror=alert(1)>/%,&#');
  await charts(page);
}));

test('charts that are refused are asked for again, but not at once', () => withPage({ready: false}, async (page) => {
  let asked = 0;
  await page.route('**/v1/trajectories*', (route) => {
    ++asked;
    route.abort();
  });
  await until(async () => asked > 1, 'it does not ask again');
  const before = asked;
  await page.waitForTimeout(5000);
  assert.ok(asked - before <= 4, `${asked - before} requests within 5 s`);
}));

test('keys lead from card to card, into a stream and back', () => withPage({}, async (page) => {
  await page.keyboard.press('/');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'search');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  const at = () => page.evaluate(() => document.activeElement.closest('li')?.ariaPosInSet);
  assert.equal(await at(), '1');
  const pressed = async (key, place) => {
    await page.keyboard.press(key);
    await until(async () => await at() === place, `${key} does not lead to card ${place}`);
  };
  await pressed('ArrowRight', '2');
  await pressed('ArrowLeft', '1');
  await pressed('End', '40');
  await pressed('Home', '1');
  const name = await page.evaluate(() => document.activeElement.querySelector('.card-name').textContent);
  await page.keyboard.press('Enter');
  await charts(page);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), name);
  await page.keyboard.press('Escape');
  assert.ok(await page.isVisible('#cards'));
}));

test('a stream shows fans, limits and probabilities in words', () => withPage({at: streamPage('bed 08'), height: 1100}, async (page) => {
  await charts(page);
  await until(async () => /^P\(MAP < 65 within 15 min\) [=<>]/.test((await page.locator('.probable').nth(1).innerText()).trim()), 'no probability of MAP');
  const spoken = await page.locator('.probable').nth(1).locator('.hidden-text').textContent();
  assert.match(spoken, /^MAP below 65 within 15 min: (\d+|less than 1|more than 99) percent$/);
  await shoot(page, 'detail-light');

  await page.focus('#ahead');
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.getAttribute('#ahead', 'aria-valuetext'), '30 minutes ahead');
  await until(async () => (await page.locator('.probable').nth(1).innerText()).includes('within 30 min'), 'the probability does not follow the slider');

  await page.getByRole('spinbutton', {name: 'Your limit for SpO2'}).fill('92');
  await page.keyboard.press('Enter');
  await until(async () => (await page.locator('.probable').nth(2).innerText()).includes('P(SpO2 < 92 within 30 min)'), 'an own limit has no probability');

  await page.locator('.plot').first().focus();
  await page.keyboard.press('ArrowLeft');
  assert.match(await page.locator('.told').first().textContent(), /expected [\d.]+, between [\d.]+ and [\d.]+; noise ±[\d.]+, model ±[\d.]+/);
  const before = await page.locator('.told').first().textContent();
  await page.keyboard.press('End');
  assert.notEqual(await page.locator('.told').first().textContent(), before);

  assert.match(await page.locator('.table').first().textContent(), /to come/);
  await page.getByRole('button', {name: 'Numbers of HR'}).click();
  await shoot(page, 'detail-numbers');
}));

test('what the guard clipped is told raw and used', () => withPage({at: streamPage('bed 03')}, async (page) => {
  await charts(page);
  await page.getByLabel('Look back').selectOption({label: '1 hour'});
  await until(async () => /\(used [\d.]+\)/.test((await page.locator('.table').allTextContents()).join(' ')), 'no clipped observation in the tables');
}));

test('an alarm is called out, listed by mark and word, and acknowledged with a reason', () => withPage({}, async (page) => {
  await wish(url, {alarm: true});
  await until(async () => /high alarm, bed 02, low pressure fires/.test(await page.textContent('#call')), 'the alarm is not called out');
  const line = page.locator('#alarm-list .alarm', {hasText: 'bed 02'});
  await until(async () => await line.count() === 1, 'the alarm is not listed');
  assert.match(await line.textContent(), /\*\*\* high/);
  await line.getByRole('button').click();
  assert.deepEqual(await violations(page), []);
  await page.getByLabel('Your name').fill('Anna');
  await page.getByLabel('Reason').fill('arm was raised');
  await shoot(page, 'acknowledge-light');
  await page.keyboard.press('Enter');
  await until(async () => /seen by Anna: arm was raised/.test(await line.textContent()), 'the acknowledgement is not shown');
  assert.equal(await line.getByRole('button').count(), 0);
}));

test('a dropped connection is told, comes back and brings what was missed', () => withPage({}, async (page) => {
  await until(async () => await drawnSparks(page) >= 12, 'cards in sight stay empty');
  // Closed for the page alone; the server goes on.
  await page.context().setOffline(true);
  await wish(url, {drop: true});
  await until(async () => await page.isVisible('#broken'), 'nothing tells that the connection is lost');
  assert.match(await page.textContent('#broken'), /The connection to the server is lost/);
  assert.match(await page.textContent('#connection'), /Not connected, newest data .* ago/);
  await shoot(page, 'lost-light');
  await wish(url, {tick: 30});
  await page.context().setOffline(false);
  await until(async () => /^\s*Live/.test(await page.textContent('#connection')), 'it does not connect again');
  await until(async () => /just now|[1-9] seconds? ago/.test(await page.textContent('#connection .state')), 'what was missed does not come');
  assert.equal(await page.isVisible('#broken'), false);
}));

test('a server that stalls is told after a while, without a word from it', () => withPage({clock: true}, async (page) => {
  await page.clock.runFor(3000);
  await wish(url, {stall: true});
  await page.clock.runFor(40000);
  await until(async () => {
    await page.clock.runFor(1500);
    return /it fell silent/.test(await page.textContent('#broken'));
  }, 'the silence is not told');
  await wish(url, {stall: false});
  await until(async () => {
    await page.clock.runFor(2000);
    return /^\s*Live/.test(await page.textContent('#connection'));
  }, 'it does not come back after the silence');
}));

test('repeated events count once, and a server that counts anew is asked for everything', () => withPage({}, async (page) => {
  await page.evaluate(async () => {
    const {follow} = await import('/page/events.js');
    window.heard = [];
    window.end = follow({event: (name) => window.heard.push(name), live: () => {}, lost: () => {}});
  });
  await until(() => page.evaluate(() => window.heard.includes('hello')), 'no hello');
  await wish(url, {repeat: true, tick: 5});
  await wish(url, {repeat: false, tick: 1});
  await until(() => page.evaluate(() => window.heard.filter((name) => name === 'stream').length >= 6), 'events are missing');
  assert.equal(await page.evaluate(() => window.heard.filter((name) => name === 'stream').length), 6);
  await wish(url, {forget: true, drop: true});
  await until(() => page.evaluate(() => window.heard.includes('reset')), 'nothing is asked for anew');
  await page.evaluate(() => window.end());
}));

// The invented server above says what the page was written against; this is what it meets.
test('the page and the real server understand each other', {skip: !process.env.EDICT_SERVER && 'EDICT_SERVER is not given'}, async () => {
  const demo = await started(process.env.EDICT_SERVER, ['demo', '--training', '1', '--streams', '6', '--for', '120']);
  try {
    await withPage({at: demo.url}, async (page) => {
      assert.match(await page.textContent('#found'), /^6 streams/);
      assert.match(await page.textContent('#model'), /^model ward, edict/);
      await until(async () => await drawnSparks(page) === 6, 'cards stay empty');
      assert.match(await page.textContent('.card-why'), /P\(.* within \d+/);
      const before = await page.textContent('#connection .state');
      assert.match(before, /^Live, newest data/);
      await page.locator('.card').first().click();
      await charts(page);
      await until(async () => /^P\(MAP < 65 within \d+ min\) [=<>]/m.test(await page.locator('.probable').nth(1).innerText()), 'no probability of MAP');
      assert.match(await page.locator('.table').first().textContent(), /to come/);
      assert.deepEqual(await violations(page), []);
      await shoot(page, 'real-detail');
    });
  } finally {
    await demo.stop();
  }
});

// Contrast depends on the scheme alone, and what fits on the size alone.
for (const [colorScheme, size, width, height] of [['light', 'phone', 390, 844], ['dark', 'desk', 1400, 1000]])
  test(`axe finds nothing, and nothing is wider than the screen: ${colorScheme}, ${size}`, async () => {
    for (const [view, at] of [['overview', url], ['detail', streamPage('bed 08')]])
      await withPage({at, colorScheme, width, height}, async (page) => {
        await (view === 'detail' ? page.waitForSelector('.plot canvas') : until(async () => await drawnSparks(page) > 0, 'nothing is drawn'));
        assert.deepEqual(await violations(page), []);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it scrolls sideways');
        await shoot(page, `${view}-${colorScheme}-${size}`);
      });
  });
