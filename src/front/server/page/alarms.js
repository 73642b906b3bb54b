// The list of alarms, their acknowledgement, and what is called out when one begins.
import {acknowledge} from './api.js';
import {serverTime, wallClock} from './clock.js';
import {call, element, make, onceAFrame, say, tell} from './dom.js';
import {alarms, byImportance, listen, marks, nameOf, streams, take} from './streams.js';
import {ago, counted, unbroken} from './words.js';

const mostShown = 50;
const spokenState = {firing: 'fires', pending: 'is pending', recovering: 'recovers', normal: 'is over'};
const streamName = (alarm) => (streams.has(alarm.stream) ? nameOf(streams.get(alarm.stream)) : alarm.stream);

export const badge = (alarm) => make('span', {class: `badge ${alarm.priority}${alarm.acknowledged || alarm.state !== 'firing' ? ' quiet' : ''}`}, `${marks[alarm.priority]} ${alarm.priority}`);

// One line of a list of alarms; the stream is named where the list holds several.
export function alarmItem(alarm, withStream) {
  const seen = alarm.acknowledged;
  const state = seen ? `seen by ${seen.by}: ${seen.reason}` : alarm.state === 'firing' ? `since ${wallClock(alarm.since)}` : alarm.state;
  return make('li', {class: `alarm ${alarm.priority} ${alarm.state}${seen ? ' seen' : ''}`, 'data-alarm': alarm.id}, badge(alarm),
    make('span', {class: 'alarm-text'}, withStream ? make('a', {href: '#/stream/' + encodeURIComponent(alarm.stream)}, streamName(alarm)) : null, withStream ? ' ' : null,
      make('span', {class: 'alarm-rule'}, alarm.rule), ' ', make('span', {class: 'alarm-said'}, unbroken(alarm.text))),
    make('span', {class: 'note alarm-state'}, state),
    seen || alarm.state !== 'firing' ? null : make('button', {type: 'button', onclick: () => ask(alarm), 'aria-label': `Acknowledge ${alarm.rule} of ${streamName(alarm)}`}, 'Acknowledge'));
}

// Replaces the items of a list without taking the focus from the one somebody is at.
export function fillList(list, items) {
  const at = document.activeElement?.closest?.('[data-alarm]'), id = list.contains(at) ? at.dataset.alarm : null;
  list.replaceChildren(...items);
  if (id !== null) list.querySelector(`[data-alarm="${id}"] button, [data-alarm="${id}"] a`)?.focus();
}

const draw = onceAFrame(() => {
  const shown = [...alarms.values()].filter((alarm) => alarm.state !== 'pending').sort(byImportance);
  fillList(element('alarm-list'), shown.slice(0, mostShown).map((alarm) => alarmItem(alarm, true)));
  const open = shown.filter((alarm) => alarm.state === 'firing' && !alarm.acknowledged).length;
  tell(element('alarms-title'), open ? `Alarms (${open})` : 'Alarms');
  tell(element('no-alarms'), shown.length > mostShown ? `and ${counted(shown.length - mostShown, 'other')}` : shown.length ? '' : 'None at present.');
  element('alarm-count').hidden = !open;
  tell(element('alarm-count'), counted(open, 'alarm'));
  document.title = `${open ? `(${open}) ` : ''}edict live`;
});

// Who and why, before an alarm counts as seen.
const whoName = 'edict-who';
function ask(alarm) {
  const dialog = element('acknowledge'), problem = make('p', {class: 'problem', role: 'alert'});
  const by = make('input', {id: 'by', required: true, maxlength: 100, autocomplete: 'name', value: localStorage.getItem(whoName) ?? ''});
  const reason = make('input', {id: 'reason', required: true, maxlength: 300, autocomplete: 'off'});
  const send = async (event) => {
    event.preventDefault();
    try {
      const answer = await acknowledge(alarm.id, by.value.trim(), reason.value.trim());
      localStorage.setItem(whoName, by.value.trim());
      dialog.close();
      take('alarm', answer);
    } catch (error) {
      tell(problem, `Not acknowledged: ${error.message}`);
    }
  };
  dialog.replaceChildren(make('form', {onsubmit: send}, make('h2', {id: 'acknowledge-title'}, 'Acknowledge an alarm'),
    make('p', {}, badge(alarm), ` ${streamName(alarm)}, ${alarm.rule}: ${alarm.text}`),
    make('label', {class: 'field'}, 'Your name', by), make('label', {class: 'field'}, 'Reason', reason), problem,
    make('div', {class: 'buttons'}, make('button', {type: 'submit', class: 'main'}, 'Acknowledge'), make('button', {type: 'button', onclick: () => dialog.close()}, 'Not now'))));
  dialog.showModal();
  (by.value ? reason : by).focus();
}

// What begins is called out; the most important at once, the rest when there is a pause.
function announce(alarm, before) {
  if (!alarm || alarm.state !== 'firing' || before?.state === 'firing') return;
  const text = `${alarm.priority} alarm, ${streamName(alarm)}, ${alarm.rule} ${spokenState.firing}: ${alarm.text}, ${ago(serverTime() - alarm.since)}`;
  (alarm.priority === 'high' ? call : say)(text);
}

export function start() {
  listen((what) => {
    if (what.alarm === undefined) return;
    announce(what.alarm, what.before);
    draw();
  });
}
