// One stream: a chart for each feature with its future side, limits and what is probable.
import {getDistribution, getTrajectory, Refused} from './api.js';
import {alarmItem, fillList} from './alarms.js';
import {durationOnAxis, moment, niceDurations, said, serverTime, toAxis, written} from './clock.js';
import {element, make, onceAFrame, spoken, tell} from './dom.js';
import {Fan, joined, onAxis} from './fan.js';
import {alarmsOf, limitsOf, listen, nameOf, streams} from './streams.js';
import {ago, counted, crossing, short, spokenCrossing} from './words.js';

const section = element('detail');
const points = 160, aheadPoints = 32, refreshEvery = 1000, tableRows = 8;
const ownLimits = JSON.parse(localStorage.getItem('edict-limits') ?? '{}');  // feature → {side, limit}

let model = null;
let id = null;        // of the stream that is shown
let view = null;      // its elements
let figures = [];     // one for each feature, drawn when in sight
let durations = [];
const chosen = {past: null, ahead: null};  // durations of the model

export const setModel = (told) => {
  model = told;
  durations = niceDurations(model.horizon);
  const nearest = (share) => durations.reduce((best, d) => (Math.abs(Math.log(d / (share * model.horizon))) < Math.abs(Math.log(best / (share * model.horizon))) ? d : best));
  if (!durations.includes(chosen.past)) chosen.past = nearest(0.5);
  if (!durations.includes(chosen.ahead)) chosen.ahead = nearest(0.25);
};

// ---- what is shown of a feature ----

const limitsFor = (feature) => limitsOf(id, feature).concat(ownLimits[feature] ? [{feature, ...ownLimits[feature], own: true}] : []);

function ownLimitForm(figure) {
  const {feature} = figure, own = ownLimits[feature];
  const side = make('select', {'aria-label': `Side of your limit for ${feature}`}, ...['below', 'above'].map((name) => make('option', {value: name, selected: own?.side === name}, name)));
  const value = make('input', {type: 'number', step: 'any', value: own?.limit ?? '', 'aria-label': `Your limit for ${feature}`});
  const change = () => {
    if (value.value === '') delete ownLimits[feature];
    else ownLimits[feature] = {side: side.value, limit: Number(value.value)};
    localStorage.setItem('edict-limits', JSON.stringify(ownLimits));
    refresh();
  };
  side.addEventListener('change', change);
  value.addEventListener('change', change);
  return make('span', {class: 'own-limit'}, 'Your limit: ', side, ' ', value);
}

function makeFigure(feature, k) {
  const figure = {feature, stale: true, inSight: false};
  const caption = make('figcaption', {id: `caption-${k}`}, make('span', {class: 'feature-name'}, feature), ' ');
  figure.latest = make('span', {class: 'latest'});
  caption.append(figure.latest);
  figure.probable = make('ul', {class: 'probable', 'aria-label': `Probabilities of ${feature}`});
  figure.plot = make('div', {class: 'plot', tabindex: 0, role: 'img', 'aria-label': `${feature} over time; the arrow keys lead through it`, 'aria-describedby': `told-${k}`});
  figure.told = make('output', {class: 'told note', id: `told-${k}`});
  figure.table = make('div', {class: 'hidden-text table'});
  const toggle = make('button', {type: 'button', 'aria-expanded': 'false', onclick: () => {
    const hidden = figure.table.classList.toggle('hidden-text');
    toggle.setAttribute('aria-expanded', String(!hidden));
    tell(toggle, hidden ? 'Numbers' : 'Hide numbers');
  }, 'aria-label': `Numbers of ${feature}`}, 'Numbers');
  figure.element = make('figure', {class: 'fan', role: 'figure', 'aria-labelledby': `caption-${k}`}, caption, figure.probable, figure.plot, figure.told,
    make('div', {class: 'figure-tools'}, ownLimitForm(figure), toggle), figure.table);
  figure.element.figure = figure;
  figure.fan = new Fan(figure.plot, feature, (text) => { if (text) tell(figure.told, text); });
  return figure;
}

function fillTable(figure, data, distribution) {
  const cell = (tag, text, scope) => make(tag, scope ? {scope} : {}, text);
  const past = data.seen.slice(-tableRows).map((o) => {
    const k = data.x.indexOf(o.x), expected = o.expected ?? (k >= 0 ? {mean: data.mean[k], lower: data.lower[k], upper: data.upper[k]} : {});
    return [moment(o.x), o.clipped ? `${short(o.value)} (used ${short(o.used)})` : short(o.value), short(expected.mean), `${short(expected.lower)} to ${short(expected.upper)}`, '', ''];
  });
  const ahead = (distribution?.at ?? []).filter((_, k) => k % Math.ceil(aheadPoints / 4) === 0 && k > 0).map(({time, features}) => {
    const at = features[figure.feature];
    return [moment(toAxis(time)), 'to come', short(at.mean), `${short(at.lower)} to ${short(at.upper)}`, short(at.aleatoric, 3), short(at.epistemic, 3)];
  });
  figure.table.replaceChildren(make('table', {}, make('caption', {}, `${figure.feature}: the last observations, and what is expected next`),
    make('thead', {}, make('tr', {}, ...['time', 'observed', 'expected', `${100 * model.level} % between`, 'noise ±', 'model ±'].map((name) => cell('th', name, 'col')))),
    make('tbody', {}, ...[...past, ...ahead].map((row) => make('tr', {}, ...row.map((text, c) => (c ? cell('td', text) : cell('th', text, 'row'))))))));
}

function showFigure(figure, trajectory, distribution) {
  const {feature} = figure, limits = limitsFor(feature);
  if (!trajectory.features[feature]) return;
  const data = joined(trajectory, distribution, feature), last = data.seen[data.seen.length - 1];
  figure.fan.show(data, limits, onAxis(data, chosen.past, chosen.ahead));
  tell(figure.latest, last ? `${short(last.value)} at ${moment(last.x)}${last.clipped ? `, clipped to ${short(last.used)}` : ''}` : 'not observed in this time');
  const within = written(chosen.ahead);
  const told = (distribution?.crossing ?? []).filter((one) => one.feature === feature).map((one) => {
    const side = one.below === undefined || one.below === null ? 'above' : 'below', said = {feature, side, limit: one.below ?? one.above, within, probability: one.probability};
    return make('li', {class: one.probability >= 0.5 ? 'likely' : one.probability >= 0.1 ? 'possible' : ''}, ...spoken(crossing(said), spokenCrossing(said)));
  });
  if (figure.probable.textContent !== told.map((item) => item.textContent).join('')) figure.probable.replaceChildren(...told);
  fillTable(figure, data, distribution);
  figure.stale = false;
}

// ---- fetching ----

let fetching = false, again = false;
async function refresh() {
  if (!id || document.hidden) return;
  if (fetching) {
    again = true;
    return;
  }
  const shown = figures.filter((figure) => figure.inSight), asked = id, stream = streams.get(id);
  if (!shown.length || !stream) return;
  fetching = true;
  try {
    const features = shown.map(({feature}) => feature), limits = features.flatMap(limitsFor), last = stream.time;
    const side = (name) => [...new Set(limits.filter((one) => one.side === name).map(({feature, limit}) => `${feature}:${limit}`))];
    const ahead = Array.from({length: aheadPoints + 1}, (_, k) => Number((chosen.ahead * k / aheadPoints).toPrecision(12)));
    const scale = durationOnAxis(1) / (toAxis(1) - toAxis(0));  // durations of the model in units of its times
    const range = Number.isFinite(last) ? {from: last - chosen.past * scale, to: last} : {};
    const below = side('below'), above = side('above');
    const [trajectory, distribution] = await Promise.all([
      getTrajectory(asked, {...range, points, level: model.level, features}),
      getDistribution(asked, {ahead, level: model.level, features, quantiles: [0.25, 0.75], ...(below.length ? {below} : {}), ...(above.length ? {above} : {}), ...(limits.length ? {within: chosen.ahead} : {})}),
    ]);
    if (asked === id) {
      tell(view.problem, '');
      shown.forEach((figure) => showFigure(figure, trajectory, distribution));
      document.documentElement.dataset.drawn = String(Number(document.documentElement.dataset.drawn ?? 0) + 1);
    }
  } catch (error) {
    // A lost connection is told at the top of the page.
    if (asked === id && error instanceof Refused) tell(view.problem, error.message);
  }
  fetching = false;
  if (again) {
    again = false;
    refresh();
  }
}

// At most one request a second while observations pour in.
let timer = null, lastRefresh = 0;
function refreshSoon() {
  if (timer) return;
  timer = setTimeout(() => {
    timer = null;
    lastRefresh = performance.now();
    refresh();
  }, Math.max(0, refreshEvery - (performance.now() - lastRefresh)));
}

const visible = new IntersectionObserver((entries) => {
  let news = false;
  for (const {target, isIntersecting} of entries) {
    news ||= isIntersecting && target.figure.stale;
    target.figure.inSight = isIntersecting;
  }
  if (news) refresh();
}, {rootMargin: '150px'});

const resized = new ResizeObserver((entries) => entries.forEach(({target}) => target.closest('figure')?.figure.fan.resize()));

// ---- the view ----

const drawFacts = onceAFrame(() => {
  const stream = id && streams.get(id);
  if (!view || !stream) return;
  tell(view.title, nameOf(stream));
  tell(view.age, stream.received ? `Newest data ${ago(serverTime() - stream.received)}` : 'No data yet');
  tell(view.facts, `${counted(stream.events ?? 0, 'event')}${stream.fault ? `. Fault: ${stream.fault}` : ''}`);
  fillList(view.alarms, alarmsOf(id).map((alarm) => alarmItem(alarm, false)));
});

function slider() {
  const output = make('output', {for: 'ahead'}), input = make('input', {type: 'range', id: 'ahead', min: 0, max: durations.length - 1, step: 1, value: durations.indexOf(chosen.ahead)});
  const told = () => {
    chosen.ahead = durations[Number(input.value)];
    tell(output, said(chosen.ahead));
    input.setAttribute('aria-valuetext', `${said(chosen.ahead)} ahead`);
  };
  told();
  input.addEventListener('input', () => { told(); refresh(); });
  return make('label', {class: 'field'}, make('span', {}, 'Look ahead ', output), input);
}

function build() {
  const stream = streams.get(id);
  const past = make('select', {}, ...durations.map((d) => make('option', {value: d, selected: d === chosen.past}, said(d))));
  past.addEventListener('change', () => {
    chosen.past = Number(past.value);
    refresh();
  });
  view = {title: make('h1', {id: 'detail-title', tabindex: -1}, id), age: make('span', {class: 'age'}), facts: make('span', {}), alarms: make('ol', {class: 'alarm-list', 'aria-label': 'Alarms of this stream'}), problem: make('p', {class: 'problem', role: 'alert'}), charts: make('div', {class: 'charts'})};
  const key = (name, text) => make('span', {class: 'item'}, make('span', {class: `key ${name}`}), text);
  section.replaceChildren(make('p', {class: 'back'}, make('a', {href: '#/'}, '← All streams')), make('div', {class: 'heading'}, view.title, make('p', {class: 'note'}, view.age, ' · ', view.facts)), view.alarms, view.problem,
    make('div', {class: 'tools'}, slider(), make('label', {class: 'field'}, 'Look back ', past)),
    make('p', {class: 'legend note'}, key('aleatoric', 'noise of the data (aleatoric)'), ' ', key('epistemic', 'what the model’s own uncertainty (epistemic) adds'), ' ', key('future', 'what is expected next; dotted: its middle half'), ' ', key('limit', 'limit'), ' ',
      key('clipped', 'clipped by the guard: ring as it came, dot as it was used')),
    view.charts);
  const observed = model.features.filter(({name}) => stream.last?.[name]), others = model.features.filter(({name}) => !stream.last?.[name]);
  figures = [...observed, ...others].map(({name}, k) => makeFigure(name, k));
  view.charts.append(...figures.slice(0, observed.length).map((figure) => figure.element));
  if (others.length) view.charts.append(make('details', {class: 'unobserved'}, make('summary', {}, `${counted(others.length, 'feature')} not observed so far`), make('div', {class: 'charts'}, ...figures.slice(observed.length).map((figure) => figure.element))));
  for (const figure of figures) {
    visible.observe(figure.element);
    resized.observe(figure.plot);
  }
}

function clear() {
  visible.disconnect();
  resized.disconnect();
  figures.forEach((figure) => figure.fan.destroy());
  figures = [];
  view = null;
  section.replaceChildren();
}

// Shows a stream, or nothing.
export function show(wanted) {
  if (wanted === id && (view || !wanted)) return;
  if (view) clear();
  id = wanted;
  section.hidden = !id;
  if (!id) return;
  if (!streams.has(id) || !model) {
    section.replaceChildren(make('p', {class: 'back'}, make('a', {href: '#/'}, '← All streams')), make('h1', {id: 'detail-title', tabindex: -1}, id), make('p', {class: 'note'}, model ? 'The server has no stream of this name.' : 'Waiting for the server …'));
    return;
  }
  build();
  drawFacts();
}

export const focusTitle = () => element('detail-title')?.focus({preventScroll: true});

// Other colours, or another model: charts are made anew.
export function redrawAll() {
  figures.forEach((figure) => figure.fan.destroy());
  refresh();
}

export function start() {
  listen((what) => {
    if (!id) return;
    if (!view || (what.streams && !streams.has(id))) {
      if (what.streams) {
        const wanted = id;
        show(null);
        show(wanted);
      }
      return;
    }
    if (what.stream === id || what.streams || what.rules) refreshSoon();
    if (what.stream === id || what.alarm !== undefined || what.streams) drawFacts();
  });
  setInterval(() => { if (view && !document.hidden) drawFacts(); }, 1000);
  document.addEventListener('visibilitychange', () => { if (!document.hidden) refreshSoon(); });
}
