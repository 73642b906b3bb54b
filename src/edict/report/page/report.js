'use strict';
// The report's page: legends that hide a method, and the browser of single series. Data come from
// the JSON element #browse-data.
(() => {
  const svg = (name, attributes, text) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const short = (value) => Number(value.toPrecision(3)).toString();

  // ---- legends ----
  for (const button of document.querySelectorAll('.legend button')) {
    button.addEventListener('click', () => {
      const shown = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', shown);
      for (const part of button.closest('figure').querySelectorAll('svg .' + button.dataset.method))
        part.classList.toggle('off', !shown);
    });
  }

  // ---- charts of the browser ----
  const ticks = (low, high, count) => {
    const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((nice) => nice * power >= raw) * power;
    const result = [];
    for (let at = Math.ceil(low / step) * step; at <= high + 1e-9 * step; at += step)
      result.push(Math.abs(at) < 1e-9 * step ? 0 : Number(at.toPrecision(12)));
    return result;
  };
  let charts = 0;
  class Chart {
    constructor(title, x, y, xLabel, yLabel, height) {
      Object.assign(this, {x, y, width: 440, height, left: 54, right: 12, top: 26, bottom: 40});
      this.root = svg('svg', {class: 'chart', viewBox: `0 0 ${this.width} ${height}`, role: 'img', 'aria-label': title});
      const id = `browsed${charts++}`;
      const clip = svg('clipPath', {id});
      clip.append(svg('rect', {x: this.left, y: this.top, width: this.width - this.left - this.right,
        height: height - this.top - this.bottom}));
      this.root.append(clip);
      for (const t of ticks(...x, 7)) {
        this.root.append(svg('line', {class: 'grid', x1: this.px(t), x2: this.px(t), y1: this.top, y2: height - this.bottom}));
        this.root.append(svg('text', {class: 'tick', x: this.px(t), y: height - this.bottom + 14, 'text-anchor': 'middle'}, t));
      }
      for (const t of ticks(...y, 5)) {
        this.root.append(svg('line', {class: 'grid', x1: this.left, x2: this.width - this.right, y1: this.py(t), y2: this.py(t)}));
        this.root.append(svg('text', {class: 'tick', x: this.left - 6, y: this.py(t) + 4, 'text-anchor': 'end'}, t));
      }
      this.root.append(svg('text', {class: 'label', x: (this.left + this.width - this.right) / 2, y: height - 8, 'text-anchor': 'middle'}, xLabel));
      this.root.append(svg('text', {class: 'label', transform: `translate(14 ${(this.top + height - this.bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle'}, yLabel));
      this.root.append(svg('text', {class: 'title', x: this.left, y: 16}, title));
      this.body = svg('g', {'clip-path': `url(#${id})`});
      this.root.append(this.body);
    }
    px(x) { return this.left + (x - this.x[0]) / (this.x[1] - this.x[0]) * (this.width - this.left - this.right); }
    py(y) {
      const at = this.height - this.bottom - (y - this.y[0]) / (this.y[1] - this.y[0]) * (this.height - this.top - this.bottom);
      return Math.min(Math.max(at, -this.height), 2 * this.height);
    }
    path(points) { return points.map(([x, y]) => `${this.px(x).toFixed(1)},${this.py(y).toFixed(1)}`).join(' '); }
    line(points, css) { this.body.append(svg('polyline', {class: css, points: this.path(points)})); }
    band(lower, upper, css) { this.body.append(svg('polygon', {class: css, points: this.path(upper.concat(lower.slice().reverse()))})); }
    dot(x, y, css, tip, radius = 3) {
      const inside = Math.min(Math.max(y, this.y[0]), this.y[1]);
      const out = inside !== y;  // drawn at the edge as a triangle that points to where it is
      const cx = this.px(x), cy = this.py(inside), up = y > inside ? 1 : -1;
      const mark = out ? svg('path', {class: css, d: `M${cx - 4},${cy + up * 8}L${cx + 4},${cy + up * 8}L${cx},${cy + up * 1}Z`})
        : svg('circle', {class: css, cx, cy, r: radius});
      mark.append(svg('title', {}, tip));
      this.body.append(mark);
    }
    vertical(x, css) { this.body.append(svg('line', {class: css, x1: this.px(x), x2: this.px(x), y1: this.top, y2: this.height - this.bottom})); }
  }

  const holder = document.getElementById('browse-data');
  const browser = document.getElementById('browser');
  if (!holder || !browser) return;
  const sets = JSON.parse(holder.textContent);
  const list = browser.querySelector('.series-list'), view = browser.querySelector('.view');
  const pick = browser.querySelector('select'), readout = browser.querySelector('.readout');
  const state = {set: 0, series: 0, mode: 'forecast'};

  const pairs = (times, values) => times.map((t, i) => [t, values[i]]);

  function featureCharts(set, series, mode) {
    const result = [];
    const time = set.time_unit ? `time (${set.time_unit})` : 'time';
    const range = [series.times[0], series.times[series.times.length - 1]];
    series.features.forEach((feature, j) => {
      const drawn = series[mode].features[j];
      const lower = drawn.mean.map((m, t) => m - drawn.half[t]), upper = drawn.mean.map((m, t) => m + drawn.half[t]);
      // What would remain of the band if the model knew everything.
      const inner = drawn.half.map((h, t) => h * drawn.aleatoric[t] / Math.hypot(drawn.aleatoric[t], drawn.epistemic[t]));
      const clean = feature.seen.concat(feature.later).map((o) => o[1]);
      // Under noise the picture keeps to the clean values and the middle of the bands.
      const reach = mode === 'forecast' ? lower.concat(upper, clean)
        : drawn.mean.concat(clean, drawn.clips.map((c) => c[2]));
      let low = Math.min(...reach), high = Math.max(...reach);
      const margin = (mode === 'forecast' ? 0.05 : 0.35) * (high - low || 1);
      const chart = new Chart(feature.name, range, [low - margin, high + margin], time, feature.name, 240);
      const t = series.times;
      chart.band(pairs(t, lower), pairs(t, upper), 'epistemic');
      chart.band(pairs(t, drawn.mean.map((m, i) => m - inner[i])), pairs(t, drawn.mean.map((m, i) => m + inner[i])), 'aleatoric');
      chart.line(pairs(t, drawn.mean), 'mean');
      if (mode === 'forecast') {
        if (set.t_cut < range[1]) chart.vertical(set.t_cut, 'cut');
        for (const [x, y] of feature.seen) chart.dot(x, y, 'seen', `observed ${short(y)} at ${short(x)}`);
        for (const [x, y] of feature.later) chart.dot(x, y, 'hidden', `came true: ${short(y)} at ${short(x)}`, 2.6);
      } else {
        const clipped = new Set(drawn.clips.map((c) => c[0]));
        for (const [x, y] of feature.noisy) if (!clipped.has(x)) chart.dot(x, y, 'seen', `observed ${short(y)} at ${short(x)}`);
        for (const [x, raw, used, sigmas] of drawn.clips) {
          const tip = `observed ${short(raw)} at ${short(x)}, ${short(sigmas)} deviations off; taken as ${short(used)}`;
          chart.line([[x, raw], [x, used]], 'clip');
          chart.dot(x, raw, 'raw', tip);
          chart.dot(x, used, 'used', tip, 2.4);
        }
      }
      chart.root.addEventListener('pointermove', (event) => {
        const box = chart.root.getBoundingClientRect();
        const at = range[0] + ((event.clientX - box.left) / box.width * chart.width - chart.left)
          / (chart.width - chart.left - chart.right) * (range[1] - range[0]);
        const k = Math.min(t.length - 1, Math.max(0, Math.round((at - range[0]) / (range[1] - range[0]) * (t.length - 1))));
        readout.textContent = `${feature.name} at ${short(t[k])}: ${short(drawn.mean[k])}, ${100 * set.level} % within `
          + `[${short(lower[k])}, ${short(upper[k])}], aleatoric ± ${short(drawn.aleatoric[k])}, epistemic ± ${short(drawn.epistemic[k])}`;
      });
      result.push(chart.root);
      const top = Math.max(...drawn.aleatoric, ...drawn.epistemic) || 1;
      const doubt = new Chart(`${feature.name}: where the doubt comes from`, range, [0, 1.05 * top], time, 'deviation', 160);
      doubt.line(pairs(t, drawn.aleatoric), 'spread-aleatoric');
      doubt.line(pairs(t, drawn.epistemic), 'spread-epistemic');
      result.push(doubt.root);
    });
    if (series[mode].probability) {
      const chart = new Chart('class probability, given what was seen until then', range, [0, 1], time, 'probability', 200);
      series[mode].probability.forEach((values, k) => chart.line(pairs(series.times, values), `line m${k % 9}`));
      result.push(chart.root);
    }
    return result;
  }

  function draw() {
    const set = sets[state.set], series = set.series[state.series];
    for (const [i, button] of [...list.children].entries()) {
      const chosen = i === state.series;
      button.setAttribute('aria-selected', chosen);
      button.tabIndex = chosen ? 0 : -1;
    }
    readout.textContent = '';
    const heading = document.createElement('h3');
    heading.textContent = `Series ${series.id}` + (series.label === null ? '' : `, class ${series.label}`);
    const figures = document.createElement('div');
    figures.className = 'figures';
    figures.append(...featureCharts(set, series, state.mode));
    const parts = [heading];
    if (series[state.mode].probability) {
      const key = document.createElement('p');
      key.append('Class probability: ');
      set.classes.forEach((name, k) => {
        const swatch = document.createElement('span');
        swatch.className = 'swatch';
        swatch.style.background = `var(--m${k % 9})`;
        key.append(swatch, `class ${name}  `);
      });
      parts.push(key);
    }
    const clips = series[state.mode].features.reduce((sum, f) => sum + f.clips.length, 0);
    if (state.mode === 'noisy') {
      const note = document.createElement('p');
      note.textContent = `EDGR clipped ${clips} observations of these features.`;
      parts.push(note);
    }
    view.replaceChildren(...parts, figures);
  }

  function choose(index) {
    const count = sets[state.set].series.length;
    state.series = (index + count) % count;
    draw();
    const button = list.children[state.series];
    button.focus({preventScroll: true});
    // The list scrolls, the page stays where it is.
    list.scrollTop = button.offsetTop - list.offsetTop - list.clientHeight / 2;
    list.scrollLeft = button.offsetLeft - list.offsetLeft - list.clientWidth / 2;
  }

  function fill() {
    list.replaceChildren(...sets[state.set].series.map((series, i) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.setAttribute('role', 'option');
      const id = document.createElement('span'), label = document.createElement('span');
      id.textContent = series.id;
      label.textContent = series.label === null ? '' : `class ${series.label}`;
      button.append(id, label);
      button.addEventListener('click', () => choose(i));
      return button;
    }));
    for (const name of browser.querySelectorAll('.noise-level')) name.textContent = sets[state.set].noise_level;
    state.series = 0;
    draw();
  }

  sets.forEach((set, i) => pick.append(new Option(`${set.dataset}: ${set.method}`, i)));
  pick.addEventListener('change', () => { state.set = Number(pick.value); fill(); });
  for (const radio of browser.querySelectorAll('input[name=mode]'))
    radio.addEventListener('change', () => { state.mode = radio.value; draw(); });
  list.addEventListener('keydown', (event) => {
    const step = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[event.key];
    const to = step ? state.series + step : event.key === 'Home' ? 0 : event.key === 'End' ? -1 : null;
    if (to === null) return;
    event.preventDefault();
    choose(to);
  });
  if (sets.length > 0) fill();
})();
