// What the page knows of the streams and their alarms: fetched once, kept true by events.
import {getAlarms, getRules, getStream, getStreams} from './api.js';

const pageSize = 500;
export const priorities = ['high', 'medium', 'low'];
// Mark, word and colour say the same thing, each to those who miss the others.
export const marks = {high: '***', medium: '**', low: '*'};

// By id: what GET /v1/streams tells, `stale` where its chart is behind, and `news`, which counts what
// happened to it.
export const streams = new Map();
export const alarms = new Map();   // by id; those that are not normal
export let rules = [];
let fetched = false;  // whether all streams are known

const listeners = new Set();
// Called with {streams: true} when some came or went, {stream: id} for one, {alarm} for an alarm.
export const listen = (listener) => listeners.add(listener);
const changed = (what) => listeners.forEach((listener) => listener(what));

export const nameOf = (stream) => stream.labels?.name || stream.id;

function put(stream) {
  delete stream.alarms;
  const known = streams.get(stream.id);
  if (known) Object.assign(known, stream, {stale: true, news: known.news + 1});
  else streams.set(stream.id, {...stream, stale: true, news: 1});
}

function putAlarm(alarm) {
  if (alarm.state === 'normal') alarms.delete(alarm.id);
  else alarms.set(alarm.id, alarm);
}

// Everything anew: at the start, and when events were missed.
export async function fetchAll() {
  const found = new Set();
  for (let offset = 0; ;) {
    const answer = await getStreams(offset, pageSize);
    for (const stream of answer.streams) {
      put(stream);
      found.add(stream.id);
    }
    offset += answer.streams.length;
    if (!answer.streams.length || offset >= answer.total) break;
  }
  for (const id of [...streams.keys()]) if (!found.has(id)) streams.delete(id);
  const [nowAlarms, nowRules] = await Promise.all([getAlarms(), getRules()]);
  alarms.clear();
  nowAlarms.forEach(putAlarm);
  rules = nowRules;
  fetched = true;
  changed({streams: true});
  changed({alarm: null});
}

const wanted = new Set();  // ids that were heard of and are being fetched
async function meet(id) {
  if (wanted.has(id)) return;
  wanted.add(id);
  try {
    put(await getStream(id));
    changed({streams: true});
  } catch { /* gone already, or the connection is lost and everything will be fetched anew */ }
  wanted.delete(id);
}

// One event of the server.
export async function take(name, data) {
  if (name === 'stream') {
    const stream = streams.get(data.stream);
    if (!stream) return fetched ? meet(data.stream) : undefined;
    stream.received = data.received;
    stream.urgency = data.urgency;
    if (data.why !== undefined) stream.why = data.why;
    stream.last ??= {};
    if (!data.replayed || data.time >= stream.time) {
      for (const [feature, value] of Object.entries(data.values)) stream.last[feature] = {time: data.time, value};
      stream.time = data.time;
    }
    stream.stale = true;
    ++stream.news;
    changed({stream: data.stream, replayed: data.replayed});
  } else if (name === 'alarm') {
    const before = alarms.get(data.id);
    putAlarm(data);
    changed({alarm: data, before});
  } else if (name === 'gone') {
    streams.delete(data.stream);
    for (const alarm of [...alarms.values()]) if (alarm.stream === data.stream) alarms.delete(alarm.id);
    changed({streams: true});
    changed({alarm: null});
  } else if (name === 'rules') {
    rules = await getRules();
    changed({rules: true});
  } else if (name === 'reset') {
    await fetchAll();
  }
}

const rank = (alarm) => priorities.indexOf(alarm.priority);
// Firing and not acknowledged first, then by priority, then the newest.
export const byImportance = (a, b) => (b.state === 'firing') - (a.state === 'firing')
  || Boolean(a.acknowledged) - Boolean(b.acknowledged) || rank(a) - rank(b) || b.since - a.since;

// Those of one stream, the most important first.
export const alarmsOf = (id) => [...alarms.values()].filter((alarm) => alarm.stream === id).sort(byImportance);

// The most important alarm that fires, of each stream that has one.
export function loudest() {
  const found = new Map();
  for (const alarm of alarms.values()) {
    if (alarm.state !== 'firing') continue;
    const other = found.get(alarm.stream);
    if (!other || byImportance(alarm, other) < 0) found.set(alarm.stream, alarm);
  }
  return found;
}

const patterns = new Map();
function matches(pattern, id) {
  if (!pattern || pattern === '*') return true;
  if (!patterns.has(pattern)) {
    const escaped = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('\\?', '.'));
    patterns.set(pattern, new RegExp(`^${escaped.join('.*')}$`, 's'));
  }
  return patterns.get(pattern).test(id);
}
// The limits that rules set for a feature of a stream: {feature, side, limit, rule}.
export function limitsOf(id, feature) {
  return rules.filter((rule) => rule.kind === 'crosses' && rule.feature === feature && matches(rule.streams, id))
    .map((rule) => ({feature, side: rule.below === undefined || rule.below === null ? 'above' : 'below', limit: rule.below ?? rule.above, rule}));
}
