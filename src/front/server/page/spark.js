// The small chart of a card: both bands, what is expected, observations and limits, on a canvas.
import {colours, inner} from './colours.js';

const finite = (...values) => values.filter((value) => value !== null && Number.isFinite(value));

// The heights that it shows: bands and observations, and a limit where it is not far off.
function heights(band, seen, limits) {
  let low = Infinity, high = -Infinity;
  const take = (value) => {
    if (value === null || !Number.isFinite(value)) return;
    low = Math.min(low, value);
    high = Math.max(high, value);
  };
  band.lower.forEach(take);
  band.upper.forEach(take);
  if (low > high) seen.forEach(({value}) => take(value));
  if (low > high) return [0, 1];
  const size = Math.max(high - low, Math.abs(high) * 1e-6, 1e-12), bounds = [low - size / 2, high + size / 2];
  for (const {value} of seen) if (value > bounds[0] && value < bounds[1]) take(value);
  for (const {limit} of limits) if (limit > bounds[0] && limit < bounds[1]) take(limit);
  const room = 0.06 * (high - low || 1);
  return [low - room, high + room];
}

export function drawSpark(canvas, width, height, trajectory, feature, limits) {
  const ratio = Math.min(2, devicePixelRatio || 1);
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext('2d'), colour = colours();
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const band = trajectory?.features[feature], {times, last} = trajectory ?? {};
  if (!band || times.length < 2) return;
  const seen = trajectory.observations[feature] ?? [];
  const from = times[0], to = times[times.length - 1], [low, high] = heights(band, seen, limits);
  const x = (t) => (t - from) / (to - from) * width, y = (v) => (high - v) / (high - low) * height;

  context.fillStyle = colour.future;
  context.fillRect(x(last), 0, width - x(last), height);
  const whole = [...times.keys()].filter((k) => finite(band.mean[k], band.lower[k], band.upper[k]).length === 3);
  const area = (fill, upper, lower) => {
    if (!whole.length) return;
    context.beginPath();
    whole.forEach((k, i) => (i ? context.lineTo(x(times[k]), y(upper(k))) : context.moveTo(x(times[k]), y(upper(k)))));
    for (let i = whole.length - 1; i >= 0; --i) context.lineTo(x(times[whole[i]]), y(lower(whole[i])));
    context.fillStyle = fill;
    context.fill();
  };
  const noise = (edge) => (k) => inner(band.mean[k], edge[k], band.aleatoric[k], band.epistemic[k]);
  area(colour.epistemic, (k) => band.upper[k], (k) => band.lower[k]);
  area(colour.aleatoric, noise(band.upper), noise(band.lower));

  context.strokeStyle = colour.limit;
  context.setLineDash([4, 3]);
  context.beginPath();
  for (const {limit} of limits) if (limit > low && limit < high) {
    context.moveTo(0, y(limit));
    context.lineTo(width, y(limit));
  }
  context.stroke();
  context.setLineDash([]);

  context.strokeStyle = colour.mean;
  context.lineWidth = 1.4;
  context.beginPath();
  whole.forEach((k, i) => (i ? context.lineTo(x(times[k]), y(band.mean[k])) : context.moveTo(x(times[k]), y(band.mean[k]))));
  context.stroke();
  context.lineWidth = 1;

  for (const {time, value, clipped} of seen) {
    if (time < from) continue;
    context.beginPath();
    context.arc(x(time), Math.max(2, Math.min(height - 2, y(value))), clipped ? 2.6 : 1.7, 0, 7);
    if (clipped) {
      context.strokeStyle = colour.alarm;
      context.stroke();
    } else {
      context.fillStyle = colour.dot;
      context.fill();
    }
  }
}
