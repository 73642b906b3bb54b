// Numbers, times and probabilities as people say them. Nothing here knows the page.

const missing = '–';

// A number to a few digits, with a true minus sign.
export const short = (value, digits = 4) => (Number.isFinite(value) ? String(Number(value.toPrecision(digits))).replace('-', '−') : missing);
const grouped = new Intl.NumberFormat('en');
export const number = (count) => (count < 1000 ? String(count) : grouped.format(count));
export const counted = (count, one, many = one + 's') => `${number(count)} ${count === 1 ? one : many}`;

const units = [[86400, 'day'], [3600, 'hour'], [60, 'minute'], [1, 'second']];

// A length of time: "45 seconds", "2 minutes", "1 hour 20 minutes".
export function lasting(seconds) {
  const rounded = seconds < 60 ? Math.round(seconds) : seconds < 3600 ? 60 * Math.round(seconds / 60) : seconds;
  const k = Math.max(0, units.findIndex(([size]) => rounded >= size)), [size, name] = rounded < 1 ? units[3] : units[k];
  const whole = Math.floor(rounded / size), said = counted(whole, name), next = units[k + 1];
  if (!next || size < 3600 || whole >= 10) return said;
  const rest = Math.floor((rounded - whole * size) / next[0]);
  return rest ? `${said} ${counted(rest, next[1])}` : said;
}

// How long ago, in words that do not change with every frame.
export function ago(seconds) {
  if (!Number.isFinite(seconds)) return 'never';
  if (seconds < -1.5) return `${lasting(-seconds)} ahead of this clock`;
  return seconds < 1.5 ? 'just now' : `${lasting(seconds)} ago`;
}

// A formula does not break before what it equals.
export const unbroken = (text) => text.replaceAll(' = ', '\u00a0=\u00a0');

// Probabilities are told to two digits, and never as certain.
export function probability(p) {
  if (!Number.isFinite(p)) return missing;
  return p < 0.005 ? '< 0.01' : p > 0.995 ? '> 0.99' : p.toFixed(2);
}
const percent = (p) => (p < 0.005 ? 'less than 1 percent' : p > 0.995 ? 'more than 99 percent' : `${Math.round(100 * p)} percent`);

// P(MAP < 65 within 30 min) = 0.37, and the same for ears.
export function crossing({feature, side, limit, within, probability: p}) {
  const equals = probability(p);
  return `P(${feature} ${side === 'below' ? '<' : '>'} ${short(limit, 6)} within ${within}) ${/^[<>]/.test(equals) ? equals : '= ' + equals}`;
}
export function spokenCrossing({feature, side, limit, within, probability: p}) {
  return `${feature} ${side} ${short(limit, 6)} within ${within}: ${percent(p)}`;
}
