// What is shown, and the list of series. A part of the script of `edict explore`'s page.
// ---- state ----

let index;            // columns of the list
let rows = [];        // those that are listed, in their order
let series = null;    // the one that is shown
const state = {row: -1, range: null, view: 'forecast', chosen: null, cursor: null};
const trained = ['trained on', 'chose the model (validation)', 'test series, not seen in training', 'new to the model'];
const trainedShort = ['train', 'validation', 'test', 'new'];
const surprisingZ = 3;

const range = () => state.range || series.span;
// The digits of time that matter for a series as a whole.
const spanStep = () => (series.span[1] - series.span[0]) / 1000;
const isForecast = (time) => meta.distribution && state.view === 'forecast' && time >= series.cut;
// What the guard made of an observation that the present view gives to the model; else undefined.
const usedInstead = (feature, i) => (isForecast(feature.time[i]) ? undefined : feature.used.get(i));
// What was expected of an observation in the present view.
function expected(feature, i) {
  if (!feature.given) return null;
  const later = feature.later && isForecast(feature.time[i]) && i >= feature.later.from;
  const from = later ? feature.later : feature.given, k = later ? i - feature.later.from : i;
  const told = {z: from.z[k]};
  if (from.deviation) {
    told.mean = feature.value[i] - told.z * from.deviation[k];
    told.aleatoric = from.deviation[k] * Math.sqrt(from.share[k]);
    told.epistemic = from.deviation[k] * Math.sqrt(1 - from.share[k]);
  }
  return told;
}
// A curve of the present view: given until the cut, and from there on as chosen.
function inView(curves, names) {
  if (state.view === 'given' || !curves.forecast.x.length) return curves.given;
  const joined = {x: []};
  for (const name of names) joined[name] = [];
  const take = (curve, wanted) => curve.x.forEach((x, k) => {
    if (!wanted(x)) return;
    joined.x.push(x);
    for (const name of names) joined[name].push(curve[name][k]);
  });
  take(curves.given, (x) => x < series.cut);
  take(curves.forecast, () => true);
  return joined;
}

// ---- the list ----

const list = element('list'), rowHeight = 46;
const spacer = make('div', {class: 'spacer', role: 'presentation'});
list.append(spacer);

const sorts = [];
function makeSorts() {
  const add = (name, key, told) => sorts.push({name, key, told});
  if (meta.distribution) {
    add('most surprising', (i) => -index.surprise[i], (i) => `p ${rare(index.surprise[i])}`);
    add('largest |z|', (i) => -(index.z[i] ?? Infinity), (i) => `|z| ${short(index.z[i] ?? Infinity, 3)}`);
    add('mean log score', (i) => -(index.score[i] ?? Infinity), (i) => short(index.score[i] ?? NaN, 3));
  }
  add('length', (i) => -index.observations[i], (i) => counted(index.observations[i], 'value'));
  if (meta.labels.length) add('class', (i) => index.label[i] < 0 ? Infinity : index.label[i], (i) => index.label[i] < 0 ? '–' : meta.labels[index.label[i]]);
  meta.classes.forEach((name, c) => {
    if (meta.classes.length > 2 || c === 1) add(`risk of ${name}`, (i) => -index.probability[c][i], (i) => `${short(100 * index.probability[c][i], 3)} %`);
  });
  add('id', null, (i) => counted(index.observations[i], 'value'));
  add('order in the data', (i) => i, (i) => counted(index.observations[i], 'value'));
  element('sort').append(...sorts.map((sort, k) => make('option', {value: k}, sort.name)));
}

const filters = [{name: 'all', keeps: () => true}];
function makeFilters() {
  trainedShort.forEach((name, part) => {
    if (index.part.includes(part)) filters.push({name: `${name} series`, keeps: (i) => index.part[i] === part});
  });
  if (meta.held.whole && meta.held.whole < index.ids.length) filters.push({name: 'with bands', keeps: (i) => index.held[i] === 2});
  meta.labels.slice(0, 30).forEach((name, label) => filters.push({name: `class ${name}`, keeps: (i) => index.label[i] === label}));
  element('filter').append(...filters.map((filter, k) => make('option', {value: k}, filter.name)));
}

function listRows() {
  const wanted = element('search').value.trim().toLowerCase();
  const sort = sorts[Number(element('sort').value)], {keeps} = filters[Number(element('filter').value)];
  rows = [];
  for (let i = 0; i < index.ids.length; ++i)
    if (keeps(i) && (!wanted || index.ids[i].toLowerCase().includes(wanted))) rows.push(i);
  const order = new Intl.Collator('en', {numeric: true});
  if (sort.key) {
    const key = index.ids.map((_, i) => sort.key(i));
    rows.sort((a, b) => key[a] - key[b] || a - b);
  } else {
    rows.sort((a, b) => order.compare(index.ids[a], index.ids[b]) || a - b);
  }
  spacer.style.height = `${rows.length * rowHeight}px`;
  element('found').textContent = rows.length === index.ids.length ? counted(rows.length, 'series', 'series')
    : `${rows.length.toLocaleString('en')} of ${counted(index.ids.length, 'series', 'series')}`;
  showRow();
}

// Only the rows that can be seen exist.
function drawList() {
  const first = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 4);
  const last = Math.min(rows.length, Math.ceil((list.scrollTop + list.clientHeight) / rowHeight) + 4);
  const sort = sorts[Number(element('sort').value)], drawn = [];
  for (let k = first; k < last; ++k) {
    const i = rows[k], label = index.label[i] < 0 ? [] : [`class ${meta.labels[index.label[i]]}`];
    drawn.push(make('div', {
      role: 'option', id: `row-${i}`, class: `row held-${index.held[i]}`, style: `top:${k * rowHeight}px`,
      'aria-selected': String(i === state.row), 'aria-posinset': k + 1, 'aria-setsize': rows.length, onclick: () => open(i),
    }, make('span', {class: 'row-id', title: index.ids[i]}, index.ids[i]), make('span', {class: 'row-told'}, sort.told(i)),
    make('span', {class: 'row-about'}, [...label, trainedShort[index.part[i]]].join(' · '))));
  }
  spacer.replaceChildren(...drawn);
  const active = rows.indexOf(state.row) >= 0 ? `row-${state.row}` : '';
  if (active) list.setAttribute('aria-activedescendant', active);
  else list.removeAttribute('aria-activedescendant');
}

function showRow() {
  const k = rows.indexOf(state.row), top = k * rowHeight;
  if (k >= 0 && (top < list.scrollTop || top + rowHeight > list.scrollTop + list.clientHeight))
    list.scrollTop = top - list.clientHeight / 2 + rowHeight / 2;
  drawList();
}

function move(by) {
  if (!rows.length) return;
  const k = rows.indexOf(state.row);
  open(rows[k < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, k + by))]);
}
