// The chart of one feature: what was expected, what was observed, and the fan of what comes next.
// uPlot holds scales, axes, bands and the cursor; observations and limits are drawn on top of it.
/* global uPlot */
import {durationOnAxis, isCalendar, moment, tick, toAxis} from './clock.js';
import {colours, inner} from './colours.js';
import {short} from './words.js';

// Columns of the data that uPlot is given; all share x.
const columns = ['x', 'upper', 'noiseUpper', 'q75', 'mean', 'q25', 'noiseLower', 'lower'];

// One ascending x for the past (a trajectory until the last observation) and the future (a
// distribution ahead of it). Between both the band jumps: before the last observation it is what was
// expected, after it what is known.
export function joined(trajectory, distribution, feature) {
  const data = Object.fromEntries([...columns, 'aleatoric', 'epistemic'].map((name) => [name, []]));
  const push = (x, at, q25, q75) => {
    const {mean, lower, upper, aleatoric, epistemic} = at, known = mean !== null && lower !== null && upper !== null;
    data.x.push(x);
    data.mean.push(mean);
    data.upper.push(upper);
    data.lower.push(lower);
    data.noiseUpper.push(known ? inner(mean, upper, aleatoric, epistemic) : null);
    data.noiseLower.push(known ? inner(mean, lower, aleatoric, epistemic) : null);
    data.q25.push(q25);
    data.q75.push(q75);
    data.aleatoric.push(aleatoric);
    data.epistemic.push(epistemic);
  };
  const band = trajectory.features[feature];
  trajectory.times.forEach((t, k) => {
    if (t > trajectory.last) return;
    push(toAxis(t), {mean: band.mean[k], lower: band.lower[k], upper: band.upper[k], aleatoric: band.aleatoric[k], epistemic: band.epistemic[k]}, null, null);
  });
  for (const {time, features} of distribution?.at ?? []) {
    const at = features[feature], before = data.x[data.x.length - 1], x = toAxis(time);
    if (!at) continue;
    // A hair after the last observation: uPlot wants x to ascend.
    push(before !== undefined && x <= before ? before + durationOnAxis(1e-6) : x, at, at.quantiles['0.25'], at.quantiles['0.75']);
  }
  data.last = toAxis(trajectory.last);
  data.seen = (trajectory.observations[feature] ?? []).map((o) => ({...o, x: toAxis(o.time)}));
  return data;
}

// The heights to show: bands and what was used, raw values and limits where they are near.
function heights(data, limits, from, to) {
  let low = Infinity, high = -Infinity;
  const take = (value) => {
    if (value === null || value === undefined || !Number.isFinite(value)) return;
    low = Math.min(low, value);
    high = Math.max(high, value);
  };
  data.x.forEach((x, k) => {
    if (x < from || x > to) return;
    take(data.lower[k]);
    take(data.upper[k]);
  });
  const seen = data.seen.filter(({x}) => x >= from && x <= to);
  if (low > high) seen.forEach(({used}) => take(used));
  if (low > high) return [0, 1];
  const size = Math.max(high - low, Math.abs(high) * 1e-6, 1e-12), bounds = [low - 0.7 * size, high + 0.7 * size];
  const near = (value) => { if (value > bounds[0] && value < bounds[1]) take(value); };
  seen.forEach(({value, used}) => { near(value); near(used); });
  limits.forEach(({limit}) => near(limit));
  const room = 0.05 * (high - low || 1);
  return [low - room, high + room];
}

export class Fan {
  // `told` is called with a sentence about the moment under the cursor.
  constructor(plot, feature, told) {
    this.plot = plot;
    this.feature = feature;
    this.told = told;
    this.chart = null;
    this.data = null;
    this.limits = [];
    this.place = null;  // of the cursor among x, when keys lead it
    plot.addEventListener('keydown', (event) => this.step(event));
    plot.addEventListener('blur', () => { this.place = null; });
  }

  show(data, limits, range) {
    Object.assign(this, {data, limits, range});
    const values = columns.map((name) => data[name]);
    if (!this.chart) this.make(values);
    else this.chart.batch(() => {
      this.chart.setData(values, false);
      this.scale();
    });
    if (this.place !== null) this.pointAt(this.nearest(this.pointed));
  }

  scale() {
    const [from, to] = this.range, [low, high] = heights(this.data, this.limits, from, to);
    this.chart.setScale('x', {min: from, max: to});
    this.chart.setScale('y', {min: low, max: high});
  }

  make(values) {
    const colour = colours(), line = (name, stroke, width, dash) => ({label: name, stroke, width, dash, points: {show: false}, spanGaps: true});
    const axis = {stroke: colour.soft, grid: {stroke: colour.grid, width: 1}, ticks: {show: false}, font: '11px system-ui, sans-serif'};
    const options = {
      width: this.plot.clientWidth, height: this.plot.clientHeight, legend: {show: false},
      scales: {x: {time: isCalendar(), auto: false}, y: {auto: false}},
      padding: [6, 10, 0, 0],
      axes: [{...axis, size: 24, space: 70, values: (_, ticks, __, ___, step) => ticks.map((x) => tick(x, step))}, {...axis, size: 48, space: 28, values: (_, ticks) => ticks.map((v) => short(v, 6))}],
      series: [{}, line('upper', 'transparent', 0), line('noise, upper', 'transparent', 0), line('75 %', colour.mean, 0.8, [2, 3]), line('expected', colour.mean, 1.6),
        line('25 %', colour.mean, 0.8, [2, 3]), line('noise, lower', 'transparent', 0), line('lower', 'transparent', 0)],
      bands: [{series: [1, 7], fill: colour.epistemic}, {series: [2, 6], fill: colour.aleatoric}],
      cursor: {sync: {key: 'streams'}, drag: {x: false, y: false}, y: false, points: {show: false}},
      hooks: {drawClear: [(u) => this.shadeFuture(u)], draw: [(u) => this.drawOver(u)], setCursor: [(u) => this.tellAt(u.cursor.idx)]},
    };
    this.chart = new uPlot(options, values, this.plot);
    this.scale();
    this.chart.root.setAttribute('aria-hidden', 'true');
  }

  resize() {
    if (this.chart && this.plot.clientWidth) this.chart.setSize({width: this.plot.clientWidth, height: this.plot.clientHeight});
  }

  // A chart keeps its colours; another scheme needs another chart.
  destroy() {
    this.chart?.destroy();
    this.chart = null;
  }

  shadeFuture(u) {
    const {left, top, width, height} = u.bbox, x = Math.max(left, u.valToPos(this.data.last, 'x', true));
    if (x >= left + width) return;
    u.ctx.fillStyle = colours().future;
    u.ctx.fillRect(x, top, left + width - x, height);
  }

  drawOver(u) {
    const {ctx} = u, {left, top, width, height} = u.bbox, colour = colours(), pixel = devicePixelRatio || 1;
    const x = (v) => u.valToPos(v, 'x', true), y = (v) => u.valToPos(v, 'y', true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    ctx.lineWidth = pixel;
    ctx.setLineDash([6 * pixel, 4 * pixel]);
    ctx.textAlign = 'left';
    ctx.textBaseline = 'alphabetic';
    ctx.font = `${11 * pixel}px system-ui, sans-serif`;
    for (const {limit, side} of this.limits) {
      const at = y(limit);
      if (at < top || at > top + height) continue;
      ctx.strokeStyle = ctx.fillStyle = colour.limit;
      ctx.beginPath();
      ctx.moveTo(left, at);
      ctx.lineTo(left + width, at);
      ctx.stroke();
      // On the far side of its line, unless that is beyond the edge.
      const under = side === 'below' ? at + 14 * pixel < top + height : at - 16 * pixel < top;
      ctx.fillText(`${side === 'below' ? '<' : '>'} ${short(limit, 6)}`, left + 4 * pixel, under ? at + 12 * pixel : at - 4 * pixel);
    }
    ctx.strokeStyle = colour.soft;
    ctx.setLineDash([4 * pixel, 4 * pixel]);
    ctx.beginPath();
    ctx.moveTo(x(this.data.last), top);
    ctx.lineTo(x(this.data.last), top + height);
    ctx.stroke();
    ctx.setLineDash([]);
    const radius = (this.data.seen.length > 150 ? 2 : 2.8) * pixel;
    const dot = (px, value, size, filled, kind) => {
      const py = y(value), above = py < top, below = py > top + height;
      ctx.beginPath();
      // What lies beyond the edge is a triangle there.
      if (above || below) {
        const edge = above ? top + 1 : top + height - 1, tip = (above ? 7 : -7) * pixel;
        ctx.moveTo(px - 4 * pixel, edge + tip);
        ctx.lineTo(px + 4 * pixel, edge + tip);
        ctx.lineTo(px, edge);
        ctx.closePath();
      } else {
        ctx.arc(px, py, size, 0, 7);
      }
      ctx[filled ? 'fillStyle' : 'strokeStyle'] = kind;
      if (filled) ctx.fill();
      else ctx.stroke();
    };
    for (const {x: at, value, used, clipped} of this.data.seen) {
      const px = x(at);
      if (px < left - 5 || px > left + width + 5) continue;
      if (!clipped) {
        dot(px, value, radius, true, colour.dot);
        continue;
      }
      ctx.lineWidth = 1.4 * pixel;
      ctx.strokeStyle = colour.alarm;
      ctx.beginPath();
      ctx.moveTo(px, Math.max(top, Math.min(top + height, y(value))));
      ctx.lineTo(px, y(used));
      ctx.stroke();
      dot(px, value, radius + pixel, false, colour.alarm);
      dot(px, used, radius * 0.9, true, colour.alarm);
    }
    ctx.restore();
  }

  // ---- pointing ----

  nearest(x) {
    const {x: xs} = this.data;
    let best = 0;
    for (let k = 1; k < xs.length; ++k) if (Math.abs(xs[k] - x) < Math.abs(xs[best] - x)) best = k;
    return best;
  }

  pointAt(k) {
    this.place = k;
    this.pointed = this.data.x[k];
    this.chart.setCursor({left: this.chart.valToPos(this.data.x[k], 'x'), top: 0});
  }

  step(event) {
    if (!this.chart || event.altKey || event.ctrlKey || event.metaKey) return;
    const {x} = this.data, [from, to] = this.range;
    const inSight = x.map((_, k) => k).filter((k) => x[k] >= from && x[k] <= to);
    if (!inSight.length) return;
    const now = this.place === null ? this.nearest(this.data.last) : this.place;
    const wanted = {ArrowLeft: now - 1, ArrowRight: now + 1, PageUp: now - 10, PageDown: now + 10, Home: inSight[0], End: inSight[inSight.length - 1]}[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    this.pointAt(Math.max(inSight[0], Math.min(inSight[inSight.length - 1], wanted)));
  }

  tellAt(k) {
    if (k === null || k === undefined || !this.data || this.data.mean[k] === null || this.data.mean[k] === undefined) {
      this.told('');
      return;
    }
    const {x, mean, lower, upper, aleatoric, epistemic, seen} = this.data, here = seen.find((o) => o.x === x[k]);
    const observed = !here ? '' : here.clipped ? `, observed ${short(here.value)}, clipped to ${short(here.used)}` : `, observed ${short(here.value)}`;
    this.told(`${moment(x[k])}: expected ${short(mean[k])}, between ${short(lower[k])} and ${short(upper[k])}; noise ±${short(aleatoric[k], 2)}, model ±${short(epistemic[k], 2)}${observed}`);
  }
}

export const onAxis = (data, past, ahead) => [data.last - durationOnAxis(past), data.last + durationOnAxis(ahead)];
