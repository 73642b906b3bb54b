// The server's clock, and times and durations of the model as people read them.
import {lasting, short} from './words.js';

let offset = 0;  // server's seconds minus this machine's, whose clock may be wrong
const here = () => (performance.timeOrigin + performance.now()) / 1000;

export const setServerTime = (now) => { offset = now - here(); };
export const serverTime = () => here() + offset;

// What the model's times are; GET /v1/model says it.
let time = {kind: 'number', unit: '', seconds: null}, duration = {unit: '', seconds: null};
export function setTimes(model) {
  time = model.time;
  duration = model.duration;
}

export const isCalendar = () => time.kind === 'unix';
// Unix time as uPlot counts it, in seconds; plain numbers as they are.
export const toAxis = (t) => (isCalendar() ? t * time.seconds : t);
// A duration of the model in the axis's unit.
export const durationOnAxis = (d) => (isCalendar() ? d * duration.seconds : d);

// "30 min", as it stands in a formula.
export const written = (d) => `${short(d, 3)}${duration.unit ? ' ' + duration.unit : ''}`;
// "30 minutes", as it is said.
export const said = (d) => (duration.seconds ? lasting(d * duration.seconds) : written(d));

const clock = new Intl.DateTimeFormat(undefined, {hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23'});
const date = new Intl.DateTimeFormat(undefined, {month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23'});
// A moment on the axis.
export function moment(x) {
  if (!isCalendar()) return `${short(x, 6)}${time.unit ? ' ' + time.unit : ''}`;
  const then = new Date(1000 * x);
  return Math.abs(x - serverTime()) < 43200 ? clock.format(then) : date.format(then);
}
const coarse = new Intl.DateTimeFormat(undefined, {hour: '2-digit', minute: '2-digit', hourCycle: 'h23'});
const day = new Intl.DateTimeFormat(undefined, {month: 'short', day: 'numeric'});
// The same at a tick of the axis, to what a step of this length needs.
export function tick(x, step) {
  if (!isCalendar()) return short(x, 6);
  return (step >= 86400 ? day : step >= 60 ? coarse : clock).format(new Date(1000 * x));
}
export const wallClock = (unix) => (Math.abs(unix - serverTime()) < 43200 ? clock : date).format(new Date(1000 * unix));

// Durations that a slider stops at, from a hundredth of the model's horizon to all of it, round in
// the unit that people count such lengths in.
export function niceDurations(horizon) {
  const seconds = duration.seconds;
  const steps = seconds ? [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000].map((s) => s / seconds)
    : Array.from({length: 24}, (_, k) => [1, 2, 5][k % 3] * 10 ** (Math.floor(k / 3) - 3));
  const kept = steps.filter((d) => d >= horizon / 100 && d <= horizon);
  return kept.length ? kept : [horizon];
}
