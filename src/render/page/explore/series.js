// A series that was chosen: its facts and its figures. A part of the script of `edict explore`'s page.
let opening = 0;
async function open(row, then) {
  const turn = ++opening;
  const held = index.held[row];
  const opened = held ? readSeries((await openedBlock(index.block[row]))[index.place[row]]) : {times: [], cut: Infinity, features: [], probability: null, span: [0, 1]};
  if (turn !== opening) return;  // another was asked for meanwhile
  Object.assign(state, {row, range: null, cursor: null});
  series = opened;
  hideTip();
  element('name').textContent = `Series ${index.ids[row]}`;
  element('facts').textContent = facts(row).join(' · ');
  const missing = element('missing');
  missing.hidden = held === 2;
  missing.textContent = held === 1 ? `Its bands were left out to keep this page below ${meta.megabytes} MB. For a page with them: edict explore … --series ${index.ids[row]}`
    : `Only listed here, to keep this page below ${meta.megabytes} MB. To see it: edict explore … --series ${index.ids[row]}`;
  history.replaceState(null, '', '#id=' + encodeURIComponent(index.ids[row]));
  showRow();
  layOut();
  if (then) then();
}

// When the class of a series is predicted.
function classMoment(row) {
  const time = index.classTime[row];
  return time === null || !series.times.length ? 'at the end' : `at ${writtenTime(time, spanStep())}`;
}

function facts(row) {
  const told = [];
  if (index.label[row] >= 0) told.push(`class ${meta.labels[index.label[row]]}`);
  told.push(trained[index.part[row]]);
  const times = series.times;
  told.push(`${counted(index.observations[row], 'observation')} at ${counted(index.events[row], 'time')}`
    + (times.length ? `, ${writtenTime(times[0], spanStep())} to ${writtenTime(times[times.length - 1], spanStep())}` : ''));
  if (meta.distribution && index.observations[row]) told.push(`least expected observation p ${rare(index.surprise[row])}, largest |z| ${short(index.z[row] ?? Infinity, 3)}, mean log score ${short(index.score[row] ?? NaN, 3)}`);
  if (meta.classes.length) {
    const p = meta.classes.map((name, c) => [index.probability[c][row], name]);
    const shown = p.length === 2 ? [p[1]] : p.sort((a, b) => b[0] - a[0]).slice(0, 3);
    told.push(shown.map(([share, name]) => `P(${name}) ${short(100 * share, 3)} %`).join(', ') + ` ${classMoment(row)}, given all observations`);
  }
  return told;
}

// Which features are drawn, in their order.
function shownFeatures() {
  const wanted = element('feature-search').value.toLowerCase().split(',').map((w) => w.trim()).filter(Boolean);
  const keeps = (f) => (!state.chosen || state.chosen.has(f.index))
    && (!wanted.length || wanted.some((w) => meta.features[f.index].toLowerCase().includes(w)));
  const order = element('feature-order').value, shown = series.features.filter(keeps);
  const key = {surprise: (f) => -f.largest, observed: (f) => -f.value.length, data: (f) => f.index}[order];
  return shown.sort((a, b) => key(a) - key(b) || a.index - b.index);
}

const visible = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    entry.target.seen = entry.isIntersecting;
    if (entry.isIntersecting) drawIfStale(entry.target);
  }
}, {rootMargin: '300px'});

// New figures for the series, empty until they come into sight.
function layOut() {
  const figures = [];
  if (series.probability) figures.push(figureFor('probability', 'Class probability', 'given what was seen until then; after the cut, what was seen before it, unless everything is given'));
  for (const feature of shownFeatures()) {
    const clipped = feature.used.size ? `, ${feature.used.size} clipped` : '';
    figures.push(figureFor(feature, meta.features[feature.index],
      counted(feature.value.length, 'observation') + (feature.given && feature.value.length ? `, largest |z| ${short(feature.largest, 3)}` : '') + clipped));
  }
  visible.disconnect();
  element('charts').replaceChildren(...figures);
  if (!figures.length && index.held[state.row])
    element('charts').append(make('p', {class: 'note'}, series.features.length ? 'No feature matches.' : 'Nothing was observed.'));
  figures.forEach((figure) => visible.observe(figure));
  describe();
  fillFeatureBoxes();
  redraw();
}

function figureFor(what, name, about) {
  const plot = make('div', {class: 'plot', tabindex: 0, role: 'img'});
  const figure = make('figure', {class: 'small'}, make('figcaption', {}, make('span', {class: 'feature-name'}, name), ' ', make('span', {class: 'note'}, about)), plot);
  Object.assign(figure, {what, plot, stale: true, seen: false});
  plot.setAttribute('aria-label', `${name}: ${about}`);
  listen(figure);
  return figure;
}

const figures = () => [...element('charts').querySelectorAll('figure')];

function redraw() {
  const [from, to] = range(), step = (to - from) / 200;
  element('range').textContent = series.times.length ? `${writtenTime(from, step)} to ${writtenTime(to, step)}` : '';
  element('reset').disabled = !state.range;
  for (const figure of figures()) {
    figure.stale = true;
    if (figure.seen) drawIfStale(figure);
  }
  if (element('table-view').open) fillTable();
}

function drawIfStale(figure) {
  if (!figure.stale) return;
  figure.stale = false;
  if (figure.what === 'probability') drawProbability(figure);
  else drawFeature(figure);
  drawCursor(figure);
}
