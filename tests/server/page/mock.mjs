// A server for the page that needs no model: invented streams behind the real interface. It can be
// told to stall, to drop its connections, to repeat events and to forget them, which the real one
// does only on a bad day. node mock.mjs PAGE_FOLDER UPLOT_FOLDER [STREAMS] [EVENTS_A_SECOND] [PORT]
import {createServer} from 'node:http';
import {readFile} from 'node:fs/promises';
import {extname, join} from 'node:path';

const [pageFolder, uplotFolder, count = 24, rate = 4, wantedPort = 0] = process.argv.slice(2);
const features = [{name: 'HR', mean: 82, deviation: 14}, {name: 'MAP', mean: 78, deviation: 9}, {name: 'SpO2', mean: 96, deviation: 2}, {name: 'Resp', mean: 17, deviation: 4}];
const model = {
  name: 'ward', fingerprint: '0123456789abcdef', features: [...features, {name: 'Lactate', mean: 1.5, deviation: 0.8}], statics: ['age'], time: {kind: 'unix', unit: 's', seconds: 1}, duration: {unit: 'min', seconds: 60},
  horizon: 60, guard: 'edgr', level: 0.9, version: '1.0.0', research: 'Research software, not a medical device',
};
const rules = [
  {name: 'low pressure', kind: 'crosses', feature: 'MAP', below: 65, within: 30, probability: 0.3, priority: 'high', pending: 0, recovering: 0, streams: '*'},
  {name: 'fast heart', kind: 'crosses', feature: 'HR', above: 120, within: 30, probability: 0.3, priority: 'medium', pending: 0, recovering: 0, streams: '*'},
  {name: 'unexpected', kind: 'outside', level: 0.99, priority: 'low', pending: 0, recovering: 0, streams: '*'},
];
const unit = (text) => features.find(({name}) => name === text) ?? {mean: 1.5, deviation: 0.8};
const now = () => Date.now() / 1000;

// Numbers that are the same in every run.
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

class Stream {
  constructor(k) {
    // The last one has a name that must stay a name.
    this.id = k + 1 === Number(count) ? '<img src=x onerror=alert(1)>/%,&#' : `bed ${String(k + 1).padStart(2, '0')}`;
    this.random = generator(k + 1);
    this.drift = k % 7 === 0 ? -2.4 : 0;  // some lose pressure
    this.seen = [];
    this.level = Object.fromEntries(features.map(({name, mean, deviation}) => [name, mean + deviation * (this.random() - 0.5)]));
    this.first = now() - 5400;
    for (let t = this.first; t < now() - 20 * this.random(); t += 40 + 160 * this.random()) this.observe(t, t);
  }
  observe(time, received) {
    const values = {};
    for (const {name, deviation} of features) {
      if (this.random() < 0.35) continue;
      const pull = name === 'MAP' ? this.drift : name === 'HR' ? -0.8 * this.drift : 0;
      this.level[name] += 0.12 * deviation * (this.random() - 0.5) + 0.012 * deviation * pull + 0.04 * (unit(name).mean + 6 * pull - this.level[name]) * this.random();
      const wrong = this.random() < 0.02, value = this.level[name] + 0.3 * deviation * (this.random() - 0.5) + (wrong ? 6 * deviation : 0);
      values[name] = Number(value.toFixed(1));
      const used = wrong ? this.level[name] + deviation : value;
      this.seen.push({feature: name, time, value: values[name], used: wrong ? used : values[name], clipped: wrong, corrected: false, level: this.level[name]});
    }
    if (this.seen.length > 600) this.seen.splice(0, this.seen.length - 600);
    this.time = time;
    this.received = received;
    return values;
  }
  at(name, t) {
    const {deviation, mean} = unit(name), before = this.seen.filter((o) => o.feature === name && o.time < t), last = before[before.length - 1];
    const gap = last ? t - last.time : 1e5, epistemic = deviation * (0.1 + 0.5 * (1 - Math.exp(-gap / 1500))), aleatoric = deviation * 0.2;
    const level = last ? last.level + (mean - last.level) * (1 - Math.exp(-gap / 5000)) + deviation * gap / 1800 * 0.4 * (name === 'MAP' ? this.drift : 0) : mean, predictive = Math.hypot(epistemic, aleatoric);
    return {mean: level, aleatoric, epistemic, predictive, lower: level - 1.7 * predictive, upper: level + 1.7 * predictive, quantiles: {0.25: level - 0.68 * predictive, 0.75: level + 0.68 * predictive}};
  }
  beyond(name, side, limit, t) {
    const {mean, predictive} = this.at(name, t), z = (limit - mean) / predictive;
    const below = 1 / (1 + Math.exp(-1.702 * z));
    return side === 'below' ? below : 1 - below;
  }
  crossing(name, side, limit, within) {
    let probability = 0, time = this.time;
    for (let k = 1; k <= 16; ++k) {
      const t = this.time + 60 * within * k / 16, p = this.beyond(name, side, limit, t);
      if (p > probability) [probability, time] = [p, t];
    }
    return {feature: name, [side]: limit, within, probability, time};
  }
  why() {
    const {probability} = this.crossing('MAP', 'below', 65, 30);
    return {feature: 'MAP', rule: 'low pressure', text: `P(MAP < 65 within 30 min) = ${probability.toFixed(2)}`, probability};
  }
  told() {
    const last = {}, why = this.why();
    for (const {feature, time, value} of this.seen) last[feature] = {time, value};
    const alarm = alarms.get(this.id);
    const rank = alarm?.state === 'firing' ? {high: 3, medium: 2, low: 1}[alarm.priority] - (alarm.acknowledged ? 0.5 : 0) : 0;
    return {id: this.id, labels: {}, events: this.seen.length, first: this.first, time: this.time, received: this.received, age: now() - this.received, urgency: why.probability + rank, last, alarms: alarm ? [alarm] : [], fault: null, why};
  }
  trajectory(from, to, points, wanted) {
    const seen = this.seen.filter((o) => o.time >= from && o.time <= to && wanted.includes(o.feature));
    const times = [...new Set([...Array.from({length: points}, (_, k) => from + (to - from) * k / (points - 1)), ...seen.map((o) => o.time)])].sort((a, b) => a - b);
    const told = {stream: this.id, level: 0.9, last: this.time, times, features: {}, observations: {}};
    for (const name of wanted) {
      const band = times.map((t) => this.at(name, t));
      told.features[name] = Object.fromEntries(['mean', 'lower', 'upper', 'aleatoric', 'epistemic'].map((key) => [key, band.map((b) => b[key])]));
      told.observations[name] = seen.filter((o) => o.feature === name).map(({time, value, used, clipped, corrected}) => ({time, value, used, clipped, corrected}));
    }
    return told;
  }
}

// ---- events ----

const clients = new Set(), kept = [];
let number = 1000, stalled = false, repeat = false;
function send(name, data) {
  const event = {id: ++number, text: `id: ${number}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`};
  kept.push(event);
  if (kept.length > 5000) kept.shift();
  if (stalled) return;
  for (const client of clients) client.write(repeat ? event.text + event.text : event.text);
}

const alarms = new Map();  // by stream
let alarmNumber = 0;
function judge(stream) {
  const {probability, text} = stream.why(), alarm = alarms.get(stream.id), clipped = stream.seen[stream.seen.length - 1]?.clipped;
  if (!alarm && (probability > 0.3 || clipped)) {
    const rule = probability > 0.3 ? rules[0] : rules[2];
    const begun = {id: ++alarmNumber, stream: stream.id, rule: rule.name, kind: rule.kind, feature: rule.feature ?? stream.seen[stream.seen.length - 1].feature, priority: rule.priority, state: 'firing', since: now(), text: probability > 0.3 ? text : 'outside what was expected at 99 %', probability, value: null, acknowledged: null};
    alarms.set(stream.id, begun);
    send('alarm', begun);
  } else if (alarm && alarm.rule === 'low pressure' && probability < 0.2) {
    alarms.delete(stream.id);
    send('alarm', {...alarm, state: 'normal'});
  }
}

const streams = Array.from({length: Number(count)}, (_, k) => new Stream(k)), byId = new Map(streams.map((stream) => [stream.id, stream]));
streams.forEach(judge);
function tick() {
  const stream = streams[Math.floor(Math.random() * streams.length)], t = now();
  const values = stream.observe(t, t);
  judge(stream);
  const {urgency, why} = stream.told();
  send('stream', {stream: stream.id, time: t, received: t, values, urgency, why, replayed: false});
}
const perTick = Math.max(1, Math.ceil(Number(rate) / 50));
if (Number(rate) > 0) setInterval(() => { for (let k = 0; k < perTick; ++k) tick(); }, 1000 * perTick / Number(rate));
setInterval(() => { if (!stalled) clients.forEach((client) => client.write(': \n\n')); }, 5000);

// ---- answers ----

const types = {'.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml', '.txt': 'text/plain'};
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'";
const renamed = {'uplot.js': 'dist/uPlot.iife.min.js', 'uplot.css': 'dist/uPlot.min.css', 'uplot-license.txt': 'LICENSE'};
const body = (request) => new Promise((resolve) => {
  let text = '';
  request.on('data', (part) => { text += part; });
  request.on('end', () => resolve(text ? JSON.parse(text) : {}));
});

const sockets = new Set();
const server = createServer(async (request, response) => {
  const {pathname, search} = new URL(request.url, 'http://x'), asked = {};
  for (const pair of search.slice(1).split('&').filter(Boolean)) {
    const [name, value = ''] = pair.split('=');
    asked[name] = value.split(',').map(decodeURIComponent);
  }
  const json = (value, status = 200) => response.writeHead(status, {'Content-Type': status < 400 ? 'application/json' : 'application/problem+json'}).end(JSON.stringify(value));
  if (pathname === '/mock') {
    const wish = await body(request);
    if (wish.stall !== undefined) stalled = wish.stall;
    if (wish.repeat !== undefined) repeat = wish.repeat;
    if (wish.alarm) {
      const raised = {id: ++alarmNumber, stream: streams[1].id, rule: 'low pressure', kind: 'crosses', feature: 'MAP', priority: 'high', state: 'firing', since: now(), text: 'P(MAP < 65 within 30 min) = 0.71', probability: 0.71, value: null, acknowledged: null};
      alarms.set(raised.stream, raised);
      send('alarm', raised);
    }
    if (wish.tick) for (let k = 0; k < wish.tick; ++k) tick();
    if (wish.forget) { kept.length = 0; number -= 900; }
    json({clients: clients.size});
    if (wish.drop) for (const client of clients) client.destroy();
    return;
  }
  if (stalled) return;
  if (pathname === '/' || pathname.startsWith('/page/')) {
    const name = pathname === '/' ? 'index.html' : pathname.slice(6);
    try {
      const text = await readFile(renamed[name] ? join(uplotFolder, renamed[name]) : join(pageFolder, name));
      response.writeHead(200, {'Content-Type': types[extname(name)], 'Content-Security-Policy': policy}).end(text);
    } catch {
      response.writeHead(404).end();
    }
    return;
  }
  if (pathname === '/v1/model') return json(model);
  if (pathname === '/v1/rules') return json({rules});
  if (pathname === '/v1/alarms') return json({alarms: [...alarms.values()]});
  if (pathname === '/v1/streams') {
    const offset = Number(asked.offset ?? 0), limit = Number(asked.limit ?? 100);
    return json({total: streams.length, streams: streams.slice(offset, offset + limit).map((stream) => stream.told())});
  }
  if (pathname === '/v1/trajectories') return json({trajectories: asked.streams.flatMap((id) => (byId.has(id) ? [{...byId.get(id).trajectory(byId.get(id).time - 2700, byId.get(id).time + 1800, Number(asked.points), ['MAP']), feature: 'MAP'}] : []))});
  if (pathname === '/v1/events') {
    response.writeHead(200, {'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store'});
    const since = request.headers['last-event-id'];
    response.write(`event: hello\ndata: ${JSON.stringify({id: number, model: model.fingerprint, now: now()})}\n\n`);
    if (since !== undefined) for (const event of kept) if (event.id > Number(since)) response.write(event.text);
    clients.add(response);
    response.on('close', () => clients.delete(response));
    return;
  }
  const alarm = pathname.match(/^\/v1\/alarms\/(\d+)\/acknowledge$/);
  if (alarm) {
    const found = [...alarms.values()].find(({id}) => id === Number(alarm[1])), {by, reason} = await body(request);
    if (!found) return json({title: 'not found', status: 404, detail: 'there is no such alarm'}, 404);
    found.acknowledged = {by, reason, at: now()};
    send('alarm', found);
    return json(found);
  }
  const [, id, what] = pathname.match(/^\/v1\/streams\/([^/]+)(?:\/(\w+))?$/) ?? [], stream = id && byId.get(decodeURIComponent(id));
  if (!stream) return json({title: 'not found', status: 404, detail: 'there is no such stream'}, 404);
  const names = asked.features ?? features.map(({name}) => name);
  if (!what) return json(stream.told());
  if (what === 'trajectory') return json(stream.trajectory(Number(asked.from ?? stream.time - 2700), Number(asked.to ?? stream.time + 1800), Number(asked.points), names));
  const at = asked.ahead.map(Number).map((ahead) => ({time: stream.time + 60 * ahead, ahead, features: Object.fromEntries(names.map((name) => [name, stream.at(name, stream.time + 60 * ahead + 1e-3)]))}));
  const crossing = ['below', 'above'].flatMap((side) => (asked[side] ?? []).map((text) => stream.crossing(text.split(':')[0], side, Number(text.split(':')[1]), Number(asked.within))));
  return json({stream: stream.id, level: 0.9, since: stream.time, at, crossing});
});
server.on('connection', (socket) => {
  sockets.add(socket);
  socket.on('close', () => sockets.delete(socket));
});
server.listen(Number(wantedPort), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`));
process.on('SIGTERM', () => process.exit(0));
// Ends with whoever started it.
process.stdin.on('end', () => process.exit(0)).resume();
