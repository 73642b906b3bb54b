// How the server's page bears load, in Debian's chromium:
//   node bench/page.mjs frames [URL]            frames a second with 1,000 cards, news and scrolling
//   node bench/page.mjs memory [MINUTES] [URL]  memory of the page under live data
// Without URL against the invented server of tests/server/page (1,000 streams, RATE=200 events a second);
// needs what server.Page needs.
import {readdirSync, readFileSync} from 'node:fs';
import {launch, open, startMock} from '../tests/server/page/browser.mjs';

const [what = 'frames', ...rest] = process.argv.slice(2);
const given = rest.find((text) => text.startsWith('http')), minutes = Number(rest.find((text) => /^[\d.]+$/.test(text)) ?? 10);
const mock = given ? null : await startMock(1000, Number(process.env.RATE ?? 200)), url = given ?? mock.url;
const browser = await launch();

// Frames of `seconds`, of which the browser asks for 60 a second at most; scrolling is 1,500 pixels a
// second, eight rows of cards.
async function frames(page, seconds, scrolls) {
  return page.evaluate(([length, moves]) => new Promise((done) => {
    const gaps = [], begin = performance.now(), height = document.documentElement.scrollHeight - innerHeight;
    let last = begin;
    const next = (now) => {
      gaps.push(now - last);
      last = now;
      if (moves) scrollTo(0, Math.min(height, 1.5 * (now - begin)));
      if (now - begin < 1000 * length) requestAnimationFrame(next);
      else {
        gaps.sort((a, b) => a - b);
        done({frames: gaps.length / length, slow: gaps[Math.floor(gaps.length * 0.95)], slowest: gaps[gaps.length - 1]});
      }
    };
    requestAnimationFrame(next);
  }), [seconds, scrolls]);
}

// Processor seconds of all of chromium's processes so far: on a busy machine they say more than frames.
function processorSeconds() {
  let ticks = 0;
  for (const process of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${process}/cmdline`, 'utf8').includes('chromium')) continue;
      const fields = readFileSync(`/proc/${process}/stat`, 'utf8').split(') ')[1].split(' ');
      ticks += Number(fields[11]) + Number(fields[12]);
    } catch { /* it has just ended */ }
  }
  return ticks / 100;
}

async function measured(page, scrolls) {
  const seconds = 10, before = processorSeconds(), told = await frames(page, seconds, scrolls);
  return `${written(told)}, ${(1000 * (processorSeconds() - before) / (told.frames * seconds)).toFixed(1)} ms of processor time a frame`;
}

const written = ({frames: rate, slow, slowest}) => `${rate.toFixed(1)} frames/s, 95 % within ${slow.toFixed(0)} ms, slowest ${slowest.toFixed(0)} ms`;

if (what === 'frames') {
  const page = await open(browser, url);
  await page.waitForTimeout(3000);
  console.log(await page.textContent('#found'));
  console.log('still:    ', await measured(page, false));
  console.log('scrolling:', await measured(page, true));
} else if (what === 'memory') {
  const overview = await open(browser, url), detail = await open(browser, url);
  await detail.locator('.card').first().click();
  const sessions = await Promise.all([overview, detail].map((page) => page.context().newCDPSession(page)));
  // What is left after everything that nobody holds was thrown away.
  const used = async (session) => {
    await session.send('HeapProfiler.collectGarbage');
    const {usedSize} = await session.send('Runtime.getHeapUsage'), {nodes} = await session.send('Memory.getDOMCounters');
    return `${(usedSize / 2 ** 20).toFixed(1)} MB, ${nodes} nodes`;
  };
  for (let minute = 0; minute <= minutes; ++minute) {
    console.log(`minute ${minute}: overview ${await used(sessions[0])}; detail ${await used(sessions[1])}`);
    if (minute < minutes) await overview.waitForTimeout(60000);
  }
} else {
  console.error('frames or memory?');
  process.exitCode = 2;
}
await browser.close();
await mock?.stop();
