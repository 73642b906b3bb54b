// Server-sent events read by fetch, which can carry a token. Knows when the server falls silent,
// comes back by itself, and asks for what was missed.
import {authorization, signIn} from './api.js';

// The server says something at least this often, if only a comment; the rest is for slow networks.
const silence = 35000;
const longestPause = 20000;

// `on` has: event(name, data), live(), lost(why, secondsUntilNextTry). Returns a function that ends it.
export function follow(on) {
  let last = null, failures = 0, ended = false, controller, timer;

  // Fields of one event until an empty line; ids that were seen already are repetitions.
  function take(lines) {
    let name = 'message', id = null;
    const data = [];
    for (const line of lines) {
      const colon = line.indexOf(':'), field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (field === 'event') name = value;
      else if (field === 'data') data.push(value);
      else if (field === 'id') id = value;
    }
    if (!data.length) return;
    const told = JSON.parse(data.join('\n'));
    if (name === 'hello') {
      // Without a past, what counts comes after this; a server that counts lower has forgotten ours.
      const forgotten = last !== null && told.id < last;
      if (last === null || forgotten) last = told.id;
      on.event(name, told);
      if (forgotten) on.event('reset', {});
      return;
    }
    if (id !== null) {
      if (name !== 'reset' && last !== null && Number(id) <= last) return;
      last = Number(id);
    }
    on.event(name, told);
  }

  async function read() {
    controller = new AbortController();
    const quiet = () => {
      clearTimeout(timer);
      timer = setTimeout(() => controller.abort(new Error('it fell silent')), silence);
    };
    quiet();
    const headers = {Accept: 'text/event-stream', ...authorization(), ...(last === null ? {} : {'Last-Event-ID': last})};
    const answer = await fetch('/v1/events', {headers, cache: 'no-store', signal: controller.signal});
    if (answer.status === 401) await signIn('The events are closed without it.');
    if (!answer.ok) throw new Error(`it answers ${answer.status}`);
    failures = 0;
    on.live(last !== null);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '', lines = [];
    for (;;) {
      const {done, value} = await reader.read();
      if (done) throw new Error('it closed the connection');
      quiet();
      const parts = (rest + value).split(/\r?\n/);
      rest = parts.pop();
      for (const line of parts) {
        if (line !== '') lines.push(line);
        else if (lines.length) {
          take(lines);
          lines = [];
        }
      }
    }
  }

  async function keepReading() {
    while (!ended) {
      let why;
      try {
        await read();
      } catch (error) {
        why = error instanceof TypeError ? 'it cannot be reached' : error.message;
      }
      clearTimeout(timer);
      if (ended) return;
      const pause = Math.min(longestPause, 500 * 2 ** failures++) * (0.75 + Math.random() / 2);
      on.lost(why, pause / 1000);
      await new Promise((resolve) => {
        timer = setTimeout(resolve, pause);
        addEventListener('online', resolve, {once: true});
      });
    }
  }

  keepReading();
  return () => {
    ended = true;
    clearTimeout(timer);
    controller?.abort();
  };
}
