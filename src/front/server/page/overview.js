// All streams as cards, the most urgent first. Only the cards in sight exist, and of those only the
// ones with news are drawn again, so that a thousand streams cost no more than forty.
import {getTrajectories, getTrajectory} from './api.js';
import {serverTime} from './clock.js';
import {element, make, onceAFrame, tell} from './dom.js';
import {drawSpark} from './spark.js';
import {limitsOf, listen, loudest, marks, nameOf, streams} from './streams.js';
import {ago, counted, number, short, unbroken} from './words.js';

const list = element('cards');
const narrowest = 236, cardHeight = 182, gap = 10;
const reorderEvery = 2000, refreshEvery = 2000, mostAtOnce = 60, points = 48, mostKept = 300;

let order = [];             // ids in their order
let places = new Map();     // id → place in the order
let fired = new Map();      // id → its most important alarm
let outdated = true;        // whether the order may be wrong
let shown = false;
let focused = null;         // the card that Tab leads to
const cards = new Map();    // those that exist, by id
const spare = [];           // those that went out of sight, for others that come
const charts = new Map();   // what small charts show, by id: {trajectory, feature, fetched}; the latest last
let sparkSize = null;       // of the canvas in a card of a width
let alarmNews = 0;          // counts what happened to alarms

// ---- order ----

const collator = new Intl.Collator('en', {numeric: true});
const compare = {
  urgency: (a, b) => (b.urgency ?? 0) - (a.urgency ?? 0),
  received: (a, b) => (b.received ?? 0) - (a.received ?? 0),
  silent: (a, b) => (a.received ?? 0) - (b.received ?? 0),
  id: () => 0,
};

// Cards stay where they are while somebody points at one or has one in focus.
const held = () => list.matches(':hover') || list.contains(document.activeElement);

function reorder() {
  outdated = false;
  const wanted = element('search').value.trim().toLowerCase(), by = compare[element('sort').value];
  const found = [...streams.values()].filter((stream) => !wanted || stream.id.toLowerCase().includes(wanted) || nameOf(stream).toLowerCase().includes(wanted));
  found.sort((a, b) => by(a, b) || collator.compare(nameOf(a), nameOf(b)));
  order = found.map((stream) => stream.id);
  places = new Map(order.map((id, k) => [id, k]));
  if (!places.has(focused)) focused = order[0] ?? null;
  const firing = found.filter((stream) => fired.has(stream.id) && !fired.get(stream.id).acknowledged).length;
  tell(element('found'), !streams.size ? 'No stream yet. What is sent to /v1/observations appears here.'
    : `${order.length === streams.size ? counted(order.length, 'stream') : `${number(order.length)} of ${counted(streams.size, 'stream')}`}, ${firing ? `${firing} with an alarm` : 'none with an alarm'}`);
  draw();
}

// ---- cards ----

function makeCard() {
  const part = (tag, name, attributes = {}) => make(tag, {class: name, ...attributes});
  const parts = {name: part('span', 'card-name'), alarm: part('span', 'card-alarm'), value: part('span', 'card-value'), canvas: part('canvas', 'spark', {'aria-hidden': 'true'}), why: part('span', 'card-why'), age: part('span', 'card-age')};
  const link = make('a', {class: 'card', tabindex: -1}, parts.name, parts.alarm, parts.canvas, parts.value, parts.why, parts.age);
  const item = make('li', {}, link);
  return {item, link, ...parts};
}

// A card for a stream: one that is no longer needed, or a new one.
function cardFor(id) {
  const card = spare.pop() ?? makeCard();
  card.link.href = '#/stream/' + encodeURIComponent(id);
  Object.assign(card, {id, drawn: null, place: '', filled: ''});
  card.item.hidden = false;
  if (!card.item.isConnected) list.append(card.item);
  cards.set(id, card);
  return card;
}

// What the chart shows, once there is one; the server chooses what is most urgent.
const featureOf = (stream) => charts.get(stream.id)?.feature || fired.get(stream.id)?.feature || stream.why?.feature || Object.keys(stream.last ?? {})[0] || null;

function fill(card, stream) {
  const alarm = fired.get(stream.id), feature = featureOf(stream), last = stream.last?.[feature];
  tell(card.name, nameOf(stream));
  const loud = alarm && !alarm.acknowledged;
  card.link.dataset.priority = loud ? alarm.priority : '';
  tell(card.alarm, alarm ? `${marks[alarm.priority]} ${alarm.priority}${alarm.acknowledged ? ', seen' : ''}` : '');
  card.alarm.className = `card-alarm${alarm ? ` badge ${alarm.priority}${loud ? '' : ' quiet'}` : ''}`;
  tell(card.value, feature ? `${feature} ${last ? short(last.value) : '–'}` : 'nothing observed');
  tell(card.why, stream.fault ? `fault: ${stream.fault}` : unbroken(alarm?.text ?? stream.why?.text ?? ''));
  tellAge(card, stream);
}

function tellAge(card, stream) {
  tell(card.age, stream.received ? ago(serverTime() - stream.received) : 'no data');
}

function drawCard(card) {
  const {trajectory = null, feature = null} = charts.get(card.id) ?? {};
  if (card.drawn === (trajectory ?? 'nothing')) return;
  // All are of one size, which is measured once: asking each would have the browser lay out each.
  if (!sparkSize || sparkSize.of !== card.width) sparkSize = {of: card.width, width: card.canvas.clientWidth, height: card.canvas.clientHeight};
  if (sparkSize.width) drawSpark(card.canvas, sparkSize.width, sparkSize.height, trajectory, feature, feature ? limitsOf(card.id, feature) : []);
  card.drawn = trajectory ?? 'nothing';
}

function layout() {
  const width = list.clientWidth, columns = Math.max(1, Math.floor((width + gap) / (narrowest + gap)));
  return {columns, cardWidth: (width - gap * (columns - 1)) / columns};
}

// Makes, moves, fills and removes cards until exactly those in sight exist, and the focused one.
const draw = onceAFrame(() => {
  if (!shown) return;
  const {columns, cardWidth} = layout(), rows = Math.ceil(order.length / columns), step = cardHeight + gap;
  const top = list.getBoundingClientRect().top;
  const first = Math.max(0, Math.floor(-top / step) - 1), last = Math.min(rows, Math.ceil((innerHeight - top) / step) + 1);
  const height = `${Math.max(0, rows * step - gap)}px`;
  if (list.style.height !== height) list.style.height = height;
  const wanted = order.slice(first * columns, last * columns);
  if (focused !== null && places.has(focused) && !wanted.includes(focused)) wanted.push(focused);
  const keep = new Set(wanted);
  for (const [id, card] of cards) if (!keep.has(id)) {
    cards.delete(id);
    spare.push(card);
  }
  for (const id of wanted) {
    const stream = streams.get(id);
    if (!stream) continue;
    const card = cards.get(id) ?? cardFor(id);
    const k = places.get(id), x = (k % columns) * (cardWidth + gap), y = Math.floor(k / columns) * step, place = `${x}|${y}|${cardWidth}`;
    if (card.place !== place) {
      card.item.style.transform = `translate(${x}px, ${y}px)`;
      card.item.style.width = `${cardWidth}px`;
      if (card.width !== cardWidth) card.drawn = null;
      card.width = cardWidth;
      card.place = place;
    }
    const filled = `${stream.news}|${alarmNews}|${k}|${order.length}|${id === focused}|${charts.get(id)?.feature}`;
    if (card.filled !== filled) {
      card.item.setAttribute('aria-posinset', k + 1);
      card.item.setAttribute('aria-setsize', order.length);
      card.link.tabIndex = id === focused ? 0 : -1;
      fill(card, stream);
      card.filled = filled;
    }
    drawCard(card);
  }
  for (const {item} of spare.splice(columns * 2)) item.remove();
  for (const {item} of spare) item.hidden = true;
  refreshSoon();
});

// ---- what the small charts need ----

// Who scrolls through sees cards for too short a time to ask for each.
let soon = null;
function refreshSoon() {
  soon ??= setTimeout(() => {
    soon = null;
    refresh();
  }, 120);
}

let fetching = false;
async function refresh() {
  if (fetching || !shown || document.hidden) return;
  const now = performance.now();
  const fetched = (id) => charts.get(id)?.fetched ?? -Infinity;
  const behind = [...cards.keys()].filter((id) => streams.has(id) && (streams.get(id).stale || !charts.has(id)) && now - fetched(id) > refreshEvery)
    .sort((a, b) => fetched(a) - fetched(b)).slice(0, mostAtOnce);
  if (!behind.length) return;
  fetching = true;
  for (const id of behind) {
    streams.get(id).stale = false;
    charts.set(id, {trajectory: null, feature: null, ...charts.get(id), fetched: now});  // also where no answer comes
  }
  try {
    const put = (trajectory) => {
      charts.delete(trajectory.stream);
      charts.set(trajectory.stream, {trajectory, feature: trajectory.feature ?? Object.keys(trajectory.features)[0] ?? null, fetched: now});
    };
    // A comma stands between names, and one whose name has one is asked for alone.
    const together = behind.filter((id) => !id.includes(',')), alone = behind.filter((id) => id.includes(','));
    if (together.length) (await getTrajectories(together, points)).forEach(put);
    for (const id of alone) put(await getTrajectory(id, {points, features: featureOf(streams.get(id)) ?? undefined}));
    for (const id of charts.keys()) if (charts.size > mostKept && !cards.has(id)) charts.delete(id);
  } catch {
    for (const id of behind) if (streams.has(id)) streams.get(id).stale = true;  // asked again when the server is back
  }
  fetching = false;
  draw();
}

// ---- keys ----

function focusCard(k) {
  const id = order[Math.max(0, Math.min(order.length - 1, k))];
  if (id === undefined) return;
  focused = id;
  const {columns} = layout(), step = cardHeight + gap, y = Math.floor(places.get(id) / columns) * step + list.getBoundingClientRect().top;
  if (y < 8) scrollBy(0, y - 8);
  else if (y + cardHeight > innerHeight - 8) scrollBy(0, y + cardHeight - innerHeight + 8);
  draw();
  requestAnimationFrame(() => cards.get(id)?.link.focus({preventScroll: true}));
}

list.addEventListener('keydown', (event) => {
  const {columns} = layout(), rows = Math.max(1, Math.floor(innerHeight / (cardHeight + gap)));
  const by = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns, PageDown: rows * columns, PageUp: -rows * columns, Home: -Infinity, End: Infinity}[event.key];
  if (by === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  focusCard(by === -Infinity ? 0 : by === Infinity ? order.length - 1 : (places.get(focused) ?? 0) + by);
});
list.addEventListener('focusin', (event) => {
  const card = [...cards.values()].find(({link}) => link === event.target);
  if (!card || card.id === focused) return;
  focused = card.id;
  draw();
});

// ---- life ----

export function show(visible) {
  shown = visible;
  element('overview').hidden = !visible;
  if (visible) reorder();
}

export function redrawAll() {
  for (const card of cards.values()) card.drawn = null;
  draw();
}

export function start() {
  listen((what) => {
    if (what.alarm !== undefined) {
      fired = loudest();
      ++alarmNews;
    }
    outdated = true;
    if (what.streams && !places.size) reorder();
    if (what.rules) redrawAll();
    if (what.stream === undefined || cards.has(what.stream)) draw();
  });
  element('search').addEventListener('input', reorder);
  element('sort').addEventListener('change', reorder);
  addEventListener('scroll', draw, {passive: true});
  new ResizeObserver(draw).observe(list);
  setInterval(() => { if (shown && outdated && !document.hidden && !held()) reorder(); }, reorderEvery);
  setInterval(() => {
    if (!shown || document.hidden) return;
    for (const card of cards.values()) if (streams.has(card.id)) tellAge(card, streams.get(card.id));
    refresh();
  }, 1000);
  document.addEventListener('visibilitychange', draw);
}
