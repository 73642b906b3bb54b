// What the pointer is on, and the range of time that is shown. A part of the script of `edict explore`'s page.
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
