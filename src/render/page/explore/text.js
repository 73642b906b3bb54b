// Numbers, times and elements as text. A part of the script of `edict explore`'s page.
const element = (id) => document.getElementById(id);
const meta = JSON.parse(element('meta').textContent);

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
