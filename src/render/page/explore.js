'use strict';
// The page of `edict explore`: a list of series, the distribution of each feature over time, and the
// observations that surprised the model most. Numbers come packed (render/explore/packed_series.h says
// how) and are unpacked and drawn only for what is looked at.
(() => {
  const element = (id) => document.getElementById(id);
  const meta = JSON.parse(element('meta').textContent);

  // ---- text ----

  // A number to a few digits; nothing is told of what is not finite.
  const short = (value, digits = 4) => (Number.isFinite(value) ? String(Number(value.toPrecision(digits))) : '–').replace('-', '−');
  // A number as the data have it.
  const exact = (value) => String(value).replace('-', '−');
  const signed = (value) => (value > 0 ? '+' : '') + short(value, 3);
  const counted = (count, one, many = one + 's') => `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
  // A probability from −log₁₀ of it.
  function rare(surprise) {
    if (surprise > 306) return '< 1e−306';
    return surprise < 2.5 ? short(10 ** -surprise, 2) : `${(10 ** (Math.ceil(surprise) - surprise)).toFixed(0)}e−${Math.ceil(surprise)}`.replace(/^10e−(\d+)$/, (_, power) => `1e−${power - 1}`);
  }
  // Times on an axis: to the digits that a step of this length needs. Of dates the numbers count from
  // the series' own origin, in microseconds of its own clock.
  function writtenTime(time, step) {
    if (meta.calendar) return writtenDate(series.origin + time * meta.calendar, step * meta.calendar);
    const decimals = Math.min(12, Math.max(0, Math.ceil(-Math.log10(step))));
    return exact(Number(time.toFixed(decimals)));
  }
  const second = 1e6, minute = 60 * second, hour = 60 * minute, day = 24 * hour;
  function writtenDate(microseconds, step) {
    const text = new Date(microseconds / 1000).toISOString().replace('T', ' ');
    return text.slice(0, step >= day ? 10 : step >= minute ? 16 : step >= second ? 19 : 23);
  }
  // The time of an event, as the data write it.
  const eventTime = (e) => (series.written ? series.written[e] : exact(series.times[e]));
  // The same where there is little room.
  const shortEventTime = (e) => (series.written || eventTime(e).length < 10 ? eventTime(e) : short(series.times[e], 6));
  const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'})[c]);

  // An element with attributes and children; text stays text.
  function make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : value);
    }
    made.append(...children);
    return made;
  }

  // ---- unpacking ----

  class Reader {
    constructor(bytes) {
      this.bytes = bytes;
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      this.at = 0;
    }
    byte() { return this.bytes[this.at++]; }
    varint() {
      let value = 0, unit = 1, byte;
      do {
        byte = this.bytes[this.at++];
        value += (byte & 127) * unit;
        unit *= 128;
      } while (byte > 127);
      return value;
    }
    signed() {
      const folded = this.varint();
      return folded % 2 ? -(folded + 1) / 2 : folded / 2;
    }
    text() {
      const size = this.varint();
      return new TextDecoder().decode(this.bytes.subarray(this.at, this.at += size));
    }
    float64() { return this.view.getFloat64((this.at += 8) - 8, true); }
    list(count, next) {
      const values = new Float64Array(count);
      for (let i = 0; i < count; ++i) values[i] = next();
      return values;
    }
    // Whole numbers that were written as differences, each turned into what it stands for.
    deltas(count, meaning = (value) => value) {
      let sum = 0;
      return this.list(count, () => meaning(sum += this.signed()));
    }
    // Numbers that are the same bit by bit.
    exact(count) {
      const decimals = this.byte();
      if (decimals === 255) return this.list(count, () => this.float64());
      const power = Number('1e' + decimals);
      return this.deltas(count, (multiple) => multiple / power);
    }
  }

  async function inflated(text) {
    const packed = atob(text), bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; ++i) bytes[i] = packed.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  const hasExpectations = 1, hasBands = 2, hasProbabilities = 4, hasClips = 8, hasDates = 16;

  function readExpectations(reader, count, whole) {
    const steps = whole ? meta.steps.z : meta.steps.coarseZ;
    const z = reader.list(count, () => reader.signed() / steps);
    if (!whole) return {z};
    return {
      z,
      deviation: reader.deltas(count, (q) => 2 ** (q / meta.steps.log)),
      share: reader.deltas(count, (q) => q / meta.steps.share),
    };
  }

  function readBand(reader) {
    const count = reader.varint();
    if (count === 0) return {at: [], mean: [], half: [], deviation: [], share: []};
    const low = reader.float64(), high = reader.float64(), unit = (high - low) / meta.steps.band;
    const at = reader.deltas(count), mean = reader.deltas(count, (q) => low + q * unit);
    const half = reader.deltas(count, (q) => q * unit);
    const ratio = reader.deltas(count, (q) => 2 ** (q / meta.steps.log));
    return {at, mean, half, deviation: half.map((h, i) => h / ratio[i]), share: reader.deltas(count, (q) => q / meta.steps.share)};
  }

  function readCurve(reader) {
    const count = reader.varint();
    return {at: reader.deltas(count), p: reader.deltas(count, (q) => q / meta.steps.share)};
  }

  function readFeature(reader, what, times) {
    const feature = {index: reader.varint()}, count = reader.varint();
    let event = 0;
    feature.event = reader.list(count, () => event += reader.varint());
    feature.time = feature.event.map((e) => times[e]);
    feature.value = reader.exact(count);
    if (what & hasExpectations) {
      feature.given = readExpectations(reader, count, what & hasBands);
      if (what & hasBands) {
        const later = reader.varint();
        feature.later = {from: count - later, ...readExpectations(reader, later, true)};
      }
    }
    feature.used = new Map();
    if (what & hasClips) {
      const clips = reader.varint();
      for (let i = 0, place = 0; i < clips; ++i) feature.used.set(place += reader.varint(), reader.float64());
    }
    if (what & hasBands) feature.bands = {given: readBand(reader), forecast: readBand(reader)};
    feature.largest = feature.given ? feature.given.z.reduce((most, z) => Math.max(most, Math.abs(z)), 0) : 0;
    return feature;
  }

  function readSeries(bytes) {
    const reader = new Reader(bytes), times = reader.exact(reader.varint());
    const what = reader.byte(), cut = reader.float64(), features = [], dates = {};
    if (what & hasDates) {
      dates.origin = reader.float64();
      dates.written = reader.text().split('\n');
    }
    for (let count = reader.varint(); count > 0; --count) features.push(readFeature(reader, what, times));
    const read = {times, cut, features, ...dates, probability: null, whole: Boolean(what & hasBands)};
    if (what & (hasBands | hasProbabilities)) {
      const count = reader.varint();
      if (count > 0) {
        const first = reader.float64(), last = reader.float64();
        const grid = reader.deltas(count, (q) => first + (last - first) * q / meta.steps.grid);
        read.span = [first, last];
        const placed = (curve) => { curve.x = Array.from(curve.at, (k) => grid[k]); };
        for (const feature of features) if (feature.bands) Object.values(feature.bands).forEach(placed);
        if (what & hasProbabilities) {
          const curves = () => Array.from({length: reader.varint()}, () => readCurve(reader));
          read.probability = {given: curves(), forecast: curves()};
          Object.values(read.probability).flat().forEach(placed);
        }
      }
    }
    if (!read.span) {
      const first = times[0] ?? 0, last = times[times.length - 1] ?? 1;
      read.span = last > first ? [first, last] : [first - 1, first + 1];
    }
    return read;
  }

  // Blocks that were opened, the latest last.
  const blocks = new Map();
  async function openedBlock(number) {
    if (!blocks.has(number)) {
      blocks.set(number, inflated(element('block-' + number).textContent).then((bytes) => {
        const records = [];
        for (const reader = new Reader(bytes); reader.at < bytes.length;) {
          const size = reader.varint();
          records.push(bytes.subarray(reader.at, reader.at += size));
        }
        return records;
      }));
      if (blocks.size > 8) blocks.delete(blocks.keys().next().value);
    }
    return blocks.get(number);
  }

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

  // ---- a series ----

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

  // ---- drawing ----

  const margin = {left: 46, right: 8, top: 6, bottom: 20};

  function ticks(low, high, count) {
    const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((n) => n * power).find((s) => s >= raw) || raw, found = [];
    for (let k = Math.ceil(low / step); k * step <= high; ++k) found.push(k * step);
    return {step, found};
  }

  const dateSteps = [1, 2, 5, 15, 30].map((n) => n * second).concat([1, 2, 5, 15, 30].map((n) => n * minute),
    [1, 2, 3, 6, 12].map((n) => n * hour), [1, 2, 7, 14, 30, 90, 180, 365, 730, 3650].map((n) => n * day));
  // Along the axis of time: numbers, or whole hours and days. A tick at the start of a day, and the
  // first one, name the day.
  function timeTicks(from, to, count) {
    if (!meta.calendar) {
      const {step, found} = ticks(from, to, count);
      return found.map((t) => [t, writtenTime(t, step)]);
    }
    const raw = (to - from) * meta.calendar / count, step = dateSteps.find((s) => s >= raw) || raw;
    const start = series.origin + from * meta.calendar, found = [];
    for (let at = Math.ceil(start / step) * step; at <= series.origin + to * meta.calendar; at += step) {
      const text = writtenDate(at, step), dayStarts = at % day === 0 || !found.length;
      found.push([(at - series.origin) / meta.calendar, step >= day ? text : dayStarts ? text.slice(5, 16).replace(' 00:00', '') : text.slice(11)]);
    }
    return found;
  }

  // The frame of a chart: its scales and, as text, its axes. Everything inside is cut off at its edge.
  function frameOf(figure, low, high) {
    const width = Math.max(160, figure.plot.clientWidth), height = figure.plot.clientHeight || 170;
    const inner = {width: width - margin.left - margin.right, height: height - margin.top - margin.bottom};
    const [from, to] = range();
    if (!(high > low)) [low, high] = [low - 1, low + 1];
    const frame = {
      width, height, inner, from, to, low, high,
      x: (t) => (t - from) / (to - from) * inner.width,
      y: (v) => (high - v) / (high - low) * inner.height,
      t: (px) => from + (px - margin.left) / inner.width * (to - from),
    };
    const up = ticks(low, high, Math.max(2, inner.height / 32));
    let grid = '', text = '';
    for (const [t, written] of timeTicks(from, to, Math.max(2, inner.width / (meta.calendar ? 95 : 80)))) {
      const x = (margin.left + frame.x(t)).toFixed(1);
      grid += `M${x} ${margin.top}v${inner.height}`;
      text += `<text x="${x}" y="${height - 6}" text-anchor="middle">${escaped(written)}</text>`;
    }
    const decimals = Math.max(0, -Math.floor(Math.log10(up.step) + 1e-9));
    for (const v of up.found) {
      const y = margin.top + frame.y(v), large = Math.abs(v) >= 1e5 || decimals > 5;
      grid += `M${margin.left} ${y.toFixed(1)}h${inner.width}`;
      text += `<text x="${margin.left - 5}" y="${(y + 4).toFixed(1)}" text-anchor="end">${large ? short(v, 3) : v.toFixed(decimals).replace('-', '−')}</text>`;
    }
    frame.axes = `<path class="grid" d="${grid}"/><g class="tick">${text}</g>`;
    return frame;
  }

  function render(figure, frame, inside) {
    const cut = frame.x(series.cut), {width, height, inner} = frame;
    const after = isForecast(frame.to) && cut < inner.width
      ? `<rect class="after" x="${Math.max(0, cut).toFixed(1)}" y="0" width="${(inner.width - Math.max(0, cut)).toFixed(1)}" height="${inner.height}"/>` : '';
    const line = cut >= 0 && cut <= inner.width ? `<path class="cut" d="M${cut.toFixed(1)} 0v${inner.height}"/>` : '';
    figure.plot.innerHTML = `<svg class="chart" viewBox="0 0 ${width} ${height}" aria-hidden="true">${frame.axes}`
      + `<svg x="${margin.left}" y="${margin.top}" width="${inner.width}" height="${inner.height}">${after}${inside}${line}`
      + '<rect class="selection" y="0" height="100%" width="0" visibility="hidden"/><path class="cursor" visibility="hidden"/><circle class="here" r="5.5" visibility="hidden"/></svg></svg>';
    figure.frame = frame;
  }

  // A curve's places within the range, one more on either side.
  function within(x, [from, to]) {
    let first = 0, last = x.length;
    while (first + 1 < last && x[first + 1] < from) ++first;
    while (last > first + 1 && x[last - 2] > to) --last;
    return [first, last];
  }

  const point = (frame, x, y) => `${frame.x(x).toFixed(1)},${Math.max(-9999, Math.min(9999, frame.y(y))).toFixed(1)}`;

  function bandInside(frame, band) {
    const [first, last] = within(band.x, range());
    const edge = (scale) => {
      const upper = [], lower = [];
      for (let k = first; k < last; ++k) {
        const half = band.half[k] * scale(k);
        upper.push(point(frame, band.x[k], band.mean[k] + half));
        lower.push(point(frame, band.x[k], band.mean[k] - half));
      }
      return upper.concat(lower.reverse()).join(' ');
    };
    const mean = [];
    for (let k = first; k < last; ++k) mean.push(point(frame, band.x[k], band.mean[k]));
    return `<polygon class="epistemic" points="${edge(() => 1)}"/><polygon class="aleatoric" points="${edge((k) => Math.sqrt(band.share[k]))}"/>`
      + `<polyline class="mean" points="${mean.join(' ')}"/>`;
  }

  // The observations in sight. Of more than can be told apart, in each column of pixels the lowest,
  // the highest and the most surprising.
  function observationsInSight(feature, frame) {
    const {from, to} = frame, sight = [];
    for (let i = 0; i < feature.time.length; ++i) if (feature.time[i] >= from && feature.time[i] <= to) sight.push(i);
    if (sight.length <= 3 * frame.inner.width) return sight;
    const columns = new Map();
    const size = (i) => Math.abs(expected(feature, i)?.z ?? 0);
    for (const i of sight) {
      const x = Math.floor(frame.x(feature.time[i])), column = columns.get(x);
      if (!column) columns.set(x, [i, i, i]);
      else {
        if (feature.value[i] < feature.value[column[0]]) column[0] = i;
        if (feature.value[i] > feature.value[column[1]]) column[1] = i;
        if (size(i) > size(column[2])) column[2] = i;
      }
    }
    return [...new Set([...columns.values()].flat())];
  }

  // The heights that a chart shows: its band and its observations, but for those so far off that
  // they would press everything else flat; these become triangles at the edge.
  function heights(feature, band) {
    const [from, to] = range();
    let low = Infinity, high = -Infinity;
    if (band) {
      const [first, last] = within(band.x, [from, to]);
      for (let k = first; k < last; ++k) {
        low = Math.min(low, band.mean[k] - band.half[k]);
        high = Math.max(high, band.mean[k] + band.half[k]);
      }
    }
    const values = [];
    feature.time.forEach((t, i) => {
      if (t < from || t > to) return;
      values.push(feature.value[i]);
      const used = usedInstead(feature, i);
      if (used !== undefined) values.push(used);
    });
    values.sort((a, b) => a - b);
    if (!band && values.length) {
      low = values[Math.floor(values.length * 0.02)];
      high = values[Math.ceil(values.length * 0.98) - 1];
    }
    if (low > high) return [0, 1];
    const size = Math.max(high - low, Math.abs(high) * 1e-6), bounds = [low - size, high + size];
    for (const value of values) {
      if (value < bounds[0] || value > bounds[1]) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    const room = 0.05 * (high - low || 1);
    return [low - room, high + room];
  }

  function drawFeature(figure) {
    const feature = figure.what;
    const band = feature.bands ? inView(feature.bands, ['mean', 'half', 'deviation', 'share']) : null;
    const frame = frameOf(figure, ...heights(feature, band));
    let inside = band ? bandInside(frame, band) : '';
    const mark = (x, value, radius, kind) => {
      const y = frame.y(value), h = frame.inner.height;
      if (y < 0) return `<path class="${kind}" d="M${(x - 4).toFixed(1)} 8h8l-4 -7z"/>`;
      if (y > h) return `<path class="${kind}" d="M${(x - 4).toFixed(1)} ${h - 8}h8l-4 7z"/>`;
      return `<circle class="${kind}" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${radius}"/>`;
    };
    const sight = observationsInSight(feature, frame), radius = sight.length > 150 ? 2 : 2.8;
    for (const i of sight) {
      const x = frame.x(feature.time[i]), told = expected(feature, i);
      if (told && Math.abs(told.z) > surprisingZ) inside += mark(x, feature.value[i], 5.5, 'surprising');
      const used = usedInstead(feature, i);
      inside += mark(x, feature.value[i], radius, used !== undefined ? 'raw' : isForecast(feature.time[i]) ? 'hidden' : 'seen');
      if (used !== undefined) {
        const y = Math.max(0, Math.min(frame.inner.height, frame.y(feature.value[i])));
        inside += `<path class="clip" d="M${x.toFixed(1)} ${y.toFixed(1)}V${frame.y(used).toFixed(1)}"/>` + mark(x, used, 2.2, 'used');
      }
    }
    figure.band = band;
    render(figure, frame, inside);
  }

  function drawProbability(figure) {
    const {given, forecast} = series.probability;
    const frame = frameOf(figure, 0, 1);
    figure.curves = given.map((curve, c) => inView({given: curve, forecast: forecast[c] || {x: []}}, ['p']));
    const shown = figure.curves.map((curve, c) => {
      const points = Array.from(curve.x, (x, k) => point(frame, x, curve.p[k]));
      return `<polyline class="line m${c % 9}" points="${points.join(' ')}"/>`;
    });
    render(figure, frame, shown.join(''));
  }

  // ---- pointing and zooming ----

  // Straight between the places of a curve.
  function valueAt(curve, name, t) {
    const {x} = curve;
    if (!x.length || t < x[0] || t > x[x.length - 1]) return NaN;
    let k = 1;
    while (k < x.length - 1 && x[k] < t) ++k;
    if (x.length === 1) return curve[name][0];
    const share = x[k] > x[k - 1] ? (t - x[k - 1]) / (x[k] - x[k - 1]) : 1;
    return curve[name][k - 1] + share * (curve[name][k] - curve[name][k - 1]);
  }

  const tip = element('tip');
  function hideTip() {
    tip.hidden = true;
    state.cursor = null;
    figures().forEach(drawCursor);
  }

  function observationRows(feature, i) {
    const told = expected(feature, i), named = [['observed', exact(feature.value[i])]];
    const used = usedInstead(feature, i);
    if (used !== undefined) named.push(['taken as', short(used, 5)]);
    if (told && told.mean !== undefined)
      named.push(['expected', short(told.mean)], ['aleatoric', `± ${short(told.aleatoric, 3)}`], ['epistemic', `± ${short(told.epistemic, 3)}`]);
    if (told) named.push(['z', signed(told.z)]);
    named.push(['', isForecast(feature.time[i]) ? 'after the cut: not given to the model' : used !== undefined ? 'given, clipped by the guard' : 'given to the model']);
    return named;
  }

  function tipRows(figure, t, i) {
    if (figure.what === 'probability')
      return figure.curves.map((curve, c) => [`P(${meta.classes[c]})`, `${short(100 * valueAt(curve, 'p', t), 3)} %`]);
    if (i !== null) return observationRows(figure.what, i);
    const {band} = figure;
    if (!band) return [];
    const [mean, half, deviation, share] = ['mean', 'half', 'deviation', 'share'].map((name) => valueAt(band, name, t));
    if (!Number.isFinite(mean)) return [];
    return [['expected', short(mean)], [`${short(100 * meta.level)} % within`, `${short(mean - half)} to ${short(mean + half)}`],
      ['aleatoric', `± ${short(deviation * Math.sqrt(share), 3)}`], ['epistemic', `± ${short(deviation * Math.sqrt(1 - share), 3)}`],
      ['', isForecast(t) ? 'forecast from the cut' : 'given what came before']];
  }

  // Tells of an observation (i) or of the curve at a time, beside that place.
  function tell(figure, t, i) {
    const {frame} = figure;
    if (!frame) return;
    state.cursor = {t, figure, i};
    figures().forEach(drawCursor);
    const told = tipRows(figure, t, i);
    tip.hidden = !told.length;
    if (!told.length) return;
    const name = figure.what === 'probability' ? 'class probability' : meta.features[figure.what.index];
    tip.replaceChildren(make('strong', {}, `${name} at ${i === null ? writtenTime(t, (frame.to - frame.from) / frame.inner.width) : eventTime(figure.what.event[i])}`),
      make('dl', {}, ...told.flatMap(([key, value]) => (key ? [make('dt', {}, key), make('dd', {}, value)] : [make('dd', {class: 'whole'}, value)]))));
    const box = figure.plot.getBoundingClientRect(), x = box.left + margin.left + frame.x(t);
    const y = i === null ? box.top + 12 : box.top + margin.top + Math.max(0, Math.min(frame.inner.height, frame.y(figure.what.value[i])));
    const size = tip.getBoundingClientRect(), wide = document.documentElement.clientWidth;
    tip.style.left = `${Math.max(4, x + 14 + size.width > wide ? Math.min(x - 14 - size.width, wide - size.width - 4) : x + 14)}px`;
    tip.style.top = `${Math.max(4, Math.min(y - size.height / 2, innerHeight - size.height - 4))}px`;
  }

  function drawCursor(figure) {
    const line = figure.plot.querySelector('.cursor'), here = figure.plot.querySelector('.here'), {cursor} = state, {frame} = figure;
    if (!line || !frame) return;
    const x = cursor ? frame.x(cursor.t) : -1, shown = x >= 0 && x <= frame.inner.width;
    line.setAttribute('visibility', shown ? 'visible' : 'hidden');
    if (shown) line.setAttribute('d', `M${x.toFixed(1)} 0v${frame.inner.height}`);
    const marked = shown && cursor.figure === figure && cursor.i !== null;
    here.setAttribute('visibility', marked ? 'visible' : 'hidden');
    if (!marked) return;
    here.setAttribute('cx', x.toFixed(1));
    here.setAttribute('cy', Math.max(4, Math.min(frame.inner.height - 4, frame.y(figure.what.value[cursor.i]))).toFixed(1));
  }

  // The observation that is meant by a place in the chart, if one is near.
  function nearest(figure, px, py) {
    if (figure.what === 'probability') return null;
    const {frame, what: feature} = figure, reach = 14;
    let found = null, best = reach;
    for (let i = 0; i < feature.time.length; ++i) {
      const dx = margin.left + frame.x(feature.time[i]) - px;
      if (Math.abs(dx) > reach) continue;
      const y = Math.max(0, Math.min(frame.inner.height, frame.y(feature.value[i])));
      // Above and below the pointer counts less: time is what is pointed at.
      const distance = Math.hypot(dx, (margin.top + y - py) / 4);
      if (distance < best) [found, best] = [i, distance];
    }
    return found;
  }

  function setRange(from, to) {
    const [first, last] = series.span, whole = last - first;
    const length = Math.min(whole, Math.max(to - from, whole * 1e-5));
    from = Math.max(first, Math.min(last - length, (from + to - length) / 2));
    state.range = length >= whole * 0.9999 ? null : [from, from + length];
    hideTip();
    redraw();
  }
  function zoom(factor, around) {
    const [from, to] = range(), middle = around ?? (from + to) / 2;
    setRange(middle - (middle - from) * factor, middle + (to - middle) * factor);
  }
  function pan(share) {
    const [from, to] = range(), by = share * (to - from);
    setRange(from + by, to + by);
  }

  function listen(figure) {
    const {plot} = figure;
    let drag = null;
    const place = (event) => {
      const box = plot.getBoundingClientRect(), {frame} = figure;
      const px = Math.min(margin.left + frame.inner.width, Math.max(margin.left, event.clientX - box.left));
      return {px, py: event.clientY - box.top, t: frame.t(px)};
    };
    const select = (from, to) => {
      const area = plot.querySelector('.selection');
      area.setAttribute('visibility', 'visible');
      area.setAttribute('x', Math.min(from, to) - margin.left);
      area.setAttribute('width', Math.abs(to - from));
    };
    plot.addEventListener('pointermove', (event) => {
      if (!figure.frame) return;
      const at = place(event);
      if (drag && Math.abs(at.px - drag.px) > 5) {
        tip.hidden = true;
        if (drag.pans) {
          const by = drag.t - at.t;
          setRange(range()[0] + by, range()[1] + by);
        } else {
          select(drag.px, at.px);
        }
        return;
      }
      const i = nearest(figure, at.px, at.py);
      tell(figure, i === null ? at.t : figure.what.time[i], i);
    });
    plot.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || !figure.frame) return;
      drag = {...place(event), pans: event.shiftKey};
      plot.setPointerCapture(event.pointerId);
    });
    const end = (event) => {
      if (!drag) return;
      const from = drag, at = place(event);
      drag = null;
      if (event.type === 'pointerup' && !from.pans && Math.abs(at.px - from.px) > 5) setRange(Math.min(from.t, at.t), Math.max(from.t, at.t));
      else plot.querySelector('.selection').setAttribute('visibility', 'hidden');
    };
    plot.addEventListener('pointerup', end);
    plot.addEventListener('pointercancel', end);
    plot.addEventListener('pointerleave', () => { if (!drag) hideTip(); });
    plot.addEventListener('dblclick', () => setRange(...series.span));
    plot.addEventListener('wheel', (event) => {
      if (!event.ctrlKey || !figure.frame) return;
      event.preventDefault();
      zoom(Math.exp(event.deltaY / 300), place(event).t);
    }, {passive: false});
    plot.addEventListener('keydown', (event) => {
      const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (!step || event.shiftKey || figure.what === 'probability' || !figure.what.value.length) return;
      event.preventDefault();
      event.stopPropagation();
      const {cursor} = state, count = figure.what.value.length;
      const now = cursor && cursor.figure === figure && cursor.i !== null ? cursor.i + step : step > 0 ? 0 : count - 1;
      const i = Math.max(0, Math.min(count - 1, now)), t = figure.what.time[i], [from, to] = range();
      if (t < from || t > to) setRange(t - (to - from) / 2, t + (to - from) / 2);
      tell(figure, t, i);
    });
    plot.addEventListener('blur', hideTip);
  }

  // ---- choosing features ----

  function fillFeatureBoxes() {
    const shown = series.features.filter((f) => !state.chosen || state.chosen.has(f.index)).length;
    element('feature-count').textContent = `(${shown} of the ${series.features.length} in this series; ${counted(meta.features.length, 'feature')} in all)`;
    if (!element('feature-choice').open) return;
    const wanted = element('feature-search').value.toLowerCase().split(',').map((w) => w.trim()).filter(Boolean);
    const here = new Map(series.features.map((f) => [f.index, f.value.length]));
    element('feature-boxes').replaceChildren(...meta.features.map((name, j) => [name, j])
      .filter(([name]) => !wanted.length || wanted.some((w) => name.toLowerCase().includes(w)))
      .map(([name, j]) => make('label', {class: here.has(j) ? 'here' : 'absent'},
        make('input', {type: 'checkbox', checked: !state.chosen || state.chosen.has(j), onchange: (event) => choose(j, event.target.checked)}),
        ` ${name} `, make('span', {class: 'note'}, here.has(j) ? String(here.get(j)) : 'not observed'))));
  }

  function choose(feature, chosen) {
    if (!state.chosen) state.chosen = new Set(meta.features.keys());
    if (chosen) state.chosen.add(feature);
    else state.chosen.delete(feature);
    if (state.chosen.size === meta.features.length) state.chosen = null;
    layOut();
  }

  // ---- tables ----

  function tableOf(caption, heads, lines) {
    return make('table', {}, make('caption', {}, caption),
      make('thead', {}, make('tr', {}, ...heads.map((head) => make('th', {scope: 'col', class: head.text ? 'text' : null, title: head.about}, head.name)))),
      make('tbody', {}, ...lines));
  }

  const mostLines = 1000;
  function fillTable() {
    const [from, to] = range(), found = [];
    for (const feature of shownFeatures())
      for (let i = 0; i < feature.time.length; ++i)
        if (feature.time[i] >= from && feature.time[i] <= to) found.push([feature, i]);
    found.sort(([a, i], [b, k]) => a.time[i] - b.time[k] || a.index - b.index);
    const heads = [{name: 'time'}, {name: 'feature', text: true}, {name: 'observed'}, {name: 'expected'}, {name: 'aleatoric ±'}, {name: 'epistemic ±'}, {name: 'z'}, {name: 'the model', text: true}];
    const lines = found.slice(0, mostLines).map(([feature, i]) => {
      const told = expected(feature, i) || {}, used = usedInstead(feature, i);
      const cells = [shortEventTime(feature.event[i]), meta.features[feature.index], exact(feature.value[i]), short(told.mean), short(told.aleatoric, 3), short(told.epistemic, 3),
        told.z === undefined ? '–' : signed(told.z), isForecast(feature.time[i]) ? 'was not given it' : used === undefined ? 'was given it' : `was given ${short(used, 5)}`];
      return make('tr', {}, ...cells.map((cell, c) => make('td', {class: heads[c].text ? 'text' : null}, cell)));
    });
    const caption = found.length > mostLines ? `The first ${mostLines} of ${counted(found.length, 'observation')}; zoom in or choose features for others.` : counted(found.length, 'observation');
    element('table').replaceChildren(make('div', {class: 'scroll'}, tableOf(caption, heads, lines)));
  }

  // Leads to one of the most surprising observations.
  function lead(one) {
    element('feature-search').value = '';
    if (state.chosen && !state.chosen.has(one.feature)) state.chosen = null;
    open(one.series, () => {
      const figure = figures().find((f) => f.what.index === one.feature);
      if (!figure) {
        element('series').scrollIntoView({block: 'start'});
        return;
      }
      figure.scrollIntoView({block: 'center'});
      drawIfStale(figure);
      figure.plot.focus({preventScroll: true});
      const i = figure.what.event.indexOf(one.event);
      if (i >= 0) tell(figure, figure.what.time[i], i);
    });
  }

  function fillSurprising() {
    const wanted = element('surprising-search').value.trim().toLowerCase();
    const found = index.surprising.filter((one) => !wanted || index.ids[one.series].toLowerCase().includes(wanted) || meta.features[one.feature].toLowerCase().includes(wanted));
    const heads = [{name: 'series', text: true}, {name: 'feature', text: true}, {name: 'time'}, {name: 'observed'}, {name: 'expected'}, {name: 'aleatoric ±'}, {name: 'epistemic ±'},
      {name: 'z', about: 'predictive deviations from what was expected'}, {name: 'p', about: 'how often something at least as far off is to be expected'}, {name: 'log score', about: '−log of the density, in nats'}, {name: 'series is', text: true}];
    const lines = found.map((one) => {
      const cells = [make('a', {href: '#id=' + encodeURIComponent(index.ids[one.series]), onclick: (event) => { event.preventDefault(); lead(one); }}, index.ids[one.series]),
        meta.features[one.feature], one.written ?? short(one.time, 6), exact(one.value), short(one.mean ?? NaN), short(one.aleatoric ?? NaN, 3), short(one.epistemic ?? NaN, 3),
        signed(one.z ?? Infinity), rare(one.surprise), short(one.logScore ?? NaN, 3), trainedShort[index.part[one.series]]];
      return make('tr', {}, ...cells.map((cell, c) => make('td', {class: heads[c].text ? 'text' : null}, cell)));
    });
    element('surprising-table').replaceChildren(tableOf(counted(found.length, 'observation'), heads, lines));
  }

  // ---- what the page says of itself ----

  function describe() {
    const clipped = series.features.some((f) => f.used.size);
    const key = (colour, text) => make('span', {class: 'item'}, make('span', {class: 'key', style: `background:var(--${colour})`}), text);
    const dot = (kind, text) => {
      const sign = make('span', {class: 'sign'});
      sign.innerHTML = `<svg viewBox="0 0 12 12" aria-hidden="true">${kind === 'surprising' ? '<circle class="surprising" cx="6" cy="6" r="4.8"/><circle class="seen" cx="6" cy="6" r="2.4"/>' : `<circle class="${kind}" cx="6" cy="6" r="3"/>`}</svg>`;
      return make('span', {class: 'item'}, sign, text);
    };
    const parts = [];
    if (series.whole) parts.push(key('aleatoric', 'noise of the data (aleatoric)'), key('epistemic', 'uncertainty of the model (epistemic)'));
    parts.push(dot('seen', 'given to the model'));
    if (meta.distribution && state.view === 'forecast' && series.span[1] > series.cut)
      parts.push(dot('hidden', 'not given'), make('span', {class: 'item'}, make('span', {class: 'key after-key'}), 'after the cut: only forecast'));
    if (meta.distribution) parts.push(dot('surprising', `|z| above ${surprisingZ}`));
    if (clipped) parts.push(dot('raw', 'clipped by the guard'), dot('used', 'what was taken instead'));
    if (series.probability) meta.classes.slice(0, 9).forEach((name, c) => parts.push(key(`m${c}`, `P(${name})`)));
    element('legend').replaceChildren(...parts);
  }

  function introduce() {
    document.querySelector('h1').textContent = meta.title;
    const told = [`${counted(index.ids.length, 'series', 'series')}, ${counted(meta.features.length, 'feature')}`];
    if (meta.distribution) told.push(`bands hold ${short(100 * meta.level)} %`, `cut at ${meta.writtenCut}: what comes after it the model has only to forecast, unless “everything given” is chosen`);
    if (meta.guard) told.push(`guard ${meta.guard.kind}, ${meta.guard.eta} ${meta.guard.kind === 'edgr' ? meta.guard.sigma + ' ' : ''}deviations`);
    element('about').textContent = told.join(' · ') + '.';
    const {whole, observations, name} = meta.held;
    if (observations || name) {
      element('left-out').hidden = false;
      element('left-out').textContent = `To stay below ${meta.megabytes} MB, ${whole.toLocaleString('en')} series, the most surprising, have `
        + (meta.distribution ? 'bands' : 'class probabilities over time') + `; ${observations.toLocaleString('en')} have their observations alone`
        + (name ? `, and ${name.toLocaleString('en')} are only listed.` : '.');
    }
    element('view-field').hidden = !meta.distribution;
    element('surprising').hidden = !index.surprising.length;
    element('surprising-about').textContent = 'The observations that the model expected least, given everything before them: the 100 first of all, and those of each feature; search for a feature to see its own. '
      + 'z counts predictive deviations, p tells how often something at least as far off is to be expected, the log score is −log of the density, in nats and in the data’s units.';
  }

  // ---- controls ----

  function listenToControls() {
    element('search').addEventListener('input', () => { listRows(); if (rows.length && !rows.includes(state.row)) open(rows[0]); });
    for (const id of ['sort', 'filter']) element(id).addEventListener('change', () => { listRows(); if (rows.length) { list.scrollTop = 0; open(rows[0]); } });
    list.addEventListener('scroll', drawList);
    element('previous').addEventListener('click', () => move(-1));
    element('next').addEventListener('click', () => move(1));
    element('feature-search').addEventListener('input', layOut);
    element('feature-order').addEventListener('change', layOut);
    element('view').addEventListener('change', () => { state.view = element('view').value; hideTip(); describe(); redraw(); });
    element('zoom-in').addEventListener('click', () => zoom(0.5));
    element('zoom-out').addEventListener('click', () => zoom(2));
    element('earlier').addEventListener('click', () => pan(-0.5));
    element('later').addEventListener('click', () => pan(0.5));
    element('reset').addEventListener('click', () => setRange(...series.span));
    element('feature-choice').addEventListener('toggle', fillFeatureBoxes);
    element('all-features').addEventListener('click', () => { state.chosen = null; layOut(); });
    element('no-features').addEventListener('click', () => { state.chosen = new Set(); layOut(); });
    element('table-view').addEventListener('toggle', () => { if (element('table-view').open) fillTable(); });
    element('surprising-search').addEventListener('input', fillSurprising);
    new ResizeObserver(() => { drawList(); if (series) redraw(); }).observe(element('charts'));
    addEventListener('beforeprint', () => figures().forEach(drawIfStale));
    addEventListener('hashchange', () => { const row = linkedRow(); if (row >= 0 && row !== state.row) open(row); });
    addEventListener('keydown', (event) => {
      const typing = event.target.matches('input, select, textarea');
      if (event.key === 'Escape') {
        if (typing && event.target.value && event.target.type === 'search') return;  // which empties the field
        if (typing) event.target.blur();
        hideTip();
        return;
      }
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const inSearch = event.target.id === 'search';
      if (typing && !(inSearch && ['ArrowDown', 'ArrowUp'].includes(event.key))) return;
      const page = Math.max(1, Math.floor(list.clientHeight / rowHeight) - 1), inList = event.target === list;
      const does = {
        '/': () => { element('search').focus(); element('search').select(); },
        f: () => { element('feature-search').focus(); element('feature-search').select(); },
        ArrowDown: () => move(1), ArrowUp: () => move(-1), j: () => move(1), k: () => move(-1),
        '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), 0: () => setRange(...series.span),
        ...(event.shiftKey ? {ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25)} : {}),
        ...(inList ? {Home: () => move(-rows.length), End: () => move(rows.length), PageDown: () => move(page), PageUp: () => move(-page)} : {}),
      }[event.key];
      if (!does) return;
      event.preventDefault();
      does();
    });
  }

  function linkedRow() {
    const linked = location.hash.match(/^#id=(.*)$/);
    return linked ? index.ids.indexOf(decodeURIComponent(linked[1])) : -1;
  }

  async function start() {
    if (typeof DecompressionStream === 'undefined') throw new Error('this browser cannot unpack the data; use one of 2023 or later');
    index = JSON.parse(new TextDecoder().decode(await inflated(element('index').textContent)));
    makeSorts();
    makeFilters();
    introduce();
    listRows();
    listenToControls();
    const linked = linkedRow();
    await open(linked >= 0 ? linked : rows[0]);
    fillSurprising();
    document.documentElement.dataset.ready = 'true';
  }
  start().catch((error) => {
    element('trouble').hidden = false;
    element('trouble').textContent = `This page could not be opened: ${error.message}`;
    console.error(error);
  });
})();
