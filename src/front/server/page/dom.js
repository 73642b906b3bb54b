// Elements of the page, and what is said to those who do not see it.

export const element = (id) => document.getElementById(id);

// An element with attributes and children; text stays text.
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// Sets text only where it differs, so that nothing is laid out or read aloud again without need.
export function tell(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

// The same thing for eyes and for ears.
export const spoken = (seen, heard) => [make('span', {'aria-hidden': 'true'}, seen), make('span', {class: 'hidden-text'}, heard)];

export const say = (text) => tell(element('say'), text);
export const call = (text) => tell(element('call'), text);

// Calls `draw` once before the next frame, however often it is asked for.
export function onceAFrame(draw) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  };
}
