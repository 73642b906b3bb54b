// The charts of a series. A part of the script of `edict explore`'s page.
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
