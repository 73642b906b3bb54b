// The page: connects to the server, keeps what it knows true, and shows the view that the address
// names. #/ is the overview, #/stream/ID one stream.
import * as alarms from './alarms.js';
import {getModel} from './api.js';
import {serverTime, setServerTime, setTimes} from './clock.js';
import {onScheme} from './colours.js';
import * as detail from './detail.js';
import {element, say, tell} from './dom.js';
import {follow} from './events.js';
import * as overview from './overview.js';
import * as streams from './streams.js';
import {ago, lasting} from './words.js';

let lostSince = null;    // on this machine's clock
let newest = 0;          // when the server last received anything
let fingerprint = null;

// ---- where we are ----

function route() {
  const match = location.hash.match(/^#\/stream\/(.+)$/);
  overview.show(!match);
  detail.show(match ? decodeURIComponent(match[1]) : null);
}
let scrolled = 0;
addEventListener('hashchange', (event) => {
  const fromOverview = !new URL(event.oldURL).hash.startsWith('#/stream/');
  if (fromOverview) scrolled = scrollY;
  route();
  if (location.hash.startsWith('#/stream/')) {
    scrollTo(0, 0);
    detail.focusTitle();
  } else if (!fromOverview) {
    scrollTo(0, scrolled);
  }
});
addEventListener('keydown', (event) => {
  if (event.defaultPrevented || document.querySelector('dialog[open]')) return;
  if (event.key === 'Escape' && location.hash.startsWith('#/stream/')) location.hash = '#/';
  if (event.key === '/' && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName) && !element('overview').hidden) {
    event.preventDefault();
    element('search').focus();
  }
});

// ---- the connection ----

function tellConnection() {
  const lost = lostSince !== null, silent = lost ? (performance.now() - lostSince) / 1000 : 0;
  document.body.classList.toggle('lost', lost);
  const age = newest ? `newest data ${ago(serverTime() - newest)}` : 'no data yet';
  tell(document.querySelector('#connection .state'), lost ? `Not connected, ${age}` : `Live, ${age}`);
  element('broken').hidden = !lost || silent < 1;
  if (lost && silent >= 1) tell(element('broken').firstChild ?? element('broken'), `The connection to the server is lost: ${why}. What is shown is ${newest ? `at least ${lasting(serverTime() - newest)} old` : 'old'}; the page tries again by itself.`);
}
let why = '';

const on = {
  event(name, data) {
    if (name === 'hello') {
      setServerTime(data.now);
      if (fingerprint !== null && data.model !== fingerprint) location.reload();  // another model: another page
    }
    if (name === 'stream' && data.received > newest) newest = data.received;
    streams.take(name, data).catch(() => { /* told by the connection, and fetched anew when it is back */ });
  },
  async live(resumed) {
    const back = lostSince !== null;
    lostSince = null;
    if (back) say('Connected again.');
    tellConnection();
    if (!resumed) await load();
  },
  lost(reason) {
    lostSince ??= performance.now();
    why = reason;
    tellConnection();
  },
};

// Everything that is fetched once; asked again until it is there.
async function load() {
  try {
    const model = await getModel();
    fingerprint = model.fingerprint;
    setTimes(model);
    detail.setModel(model);
    tell(element('model'), `model ${model.name}, edict ${model.version}`);
    tell(element('research'), `${model.research.replace(/\.$/, '')}.`);
    await streams.fetchAll();
    for (const stream of streams.streams.values()) newest = Math.max(newest, stream.received ?? 0);
    route();
    tellConnection();
    document.documentElement.dataset.ready = 'true';
  } catch {
    setTimeout(load, 2000);
  }
}

alarms.start();
overview.start();
detail.start();
onScheme(() => {
  overview.redrawAll();
  detail.redrawAll();
});
route();
setInterval(tellConnection, 1000);
follow(on);
