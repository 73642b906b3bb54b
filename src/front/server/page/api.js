// The server's interface as functions. Where it wants a token, the page asks for one and keeps it
// for as long as the tab is open.
import {element, make} from './dom.js';

const tokenName = 'edict-token';
let token = sessionStorage.getItem(tokenName);
let asking = null;

export const authorization = () => (token ? {Authorization: `Bearer ${token}`} : {});

export class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

// Asks the person for a token; all who wait for it get the same answer.
export function signIn(why) {
  asking ??= new Promise((resolve) => {
    const dialog = element('sign-in'), input = make('input', {type: 'password', id: 'token', autocomplete: 'off', required: true});
    dialog.replaceChildren(make('form', {method: 'dialog'}, make('h2', {id: 'sign-in-title'}, 'This server needs a token'), make('p', {class: 'note'}, why),
      make('label', {class: 'field'}, 'Token', input), make('div', {class: 'buttons'}, make('button', {type: 'submit'}, 'Use it'))));
    dialog.addEventListener('close', () => {
      asking = null;
      if (input.value) {
        token = input.value.trim();
        sessionStorage.setItem(tokenName, token);
      }
      resolve();
    }, {once: true});
    dialog.showModal();
  });
  return asking;
}

async function problem(answer) {
  try {
    const told = await answer.json();
    return told.detail || told.title || answer.statusText;
  } catch {
    return answer.statusText || `status ${answer.status}`;
  }
}

// How long an answer may take before the server counts as silent.
const patience = 15000;

async function request(path, options = {}) {
  for (;;) {
    const used = token;
    const answer = await fetch(path, {cache: 'no-store', signal: AbortSignal.timeout(patience), ...options, headers: {...authorization(), ...options.headers}});
    if (answer.ok) return answer.status === 204 ? null : answer.json();
    if (answer.status !== 401) throw new Refused(answer.status, await problem(answer));
    if (used === token) await signIn(used ? 'The server does not know the one that was given.' : 'Who runs it can give you one.');
  }
}

const query = (values) => Object.entries(values).filter(([, value]) => value !== undefined && value !== null)
  .map(([name, value]) => `${name}=${[value].flat().map(encodeURIComponent).join(',')}`).join('&');
const stream = (id) => `/v1/streams/${encodeURIComponent(id)}`;

export const getModel = () => request('/v1/model');
export const getRules = async () => (await request('/v1/rules')).rules;
export const getAlarms = async () => (await request('/v1/alarms?state=firing,pending,recovering&limit=10000')).alarms;
export const getStream = (id) => request(stream(id));
export const getStreams = (offset, limit) => request(`/v1/streams?${query({sort: 'id', offset, limit})}`);
export const getTrajectory = (id, asked) => request(`${stream(id)}/trajectory?${query(asked)}`);
export const getDistribution = (id, asked) => request(`${stream(id)}/distribution?${query(asked)}`);
export const acknowledge = (id, by, reason) => request(`/v1/alarms/${id}/acknowledge`,
  {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({by, reason})});

// Of many streams at once, each with the one feature that deserves a small chart.
export const getTrajectories = async (ids, points) => (await request(`/v1/trajectories?${query({streams: ids, points})}`)).trajectories;
