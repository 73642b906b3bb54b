// The colours of style.css for what is drawn on canvas; read once for each scheme.
let read = null;

export function colours() {
  if (!read) {
    const style = getComputedStyle(document.documentElement);
    read = Object.fromEntries(['ink', 'soft', 'page', 'panel', 'grid', 'mean', 'aleatoric', 'epistemic', 'dot', 'alarm', 'future', 'limit']
      .map((name) => [name, style.getPropertyValue('--' + name).trim()]));
  }
  return read;
}

// Calls `redraw` when the person, or the evening, changes the scheme.
export function onScheme(redraw) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    read = null;
    redraw();
  });
}

// Half-widths of the two bands at one moment: all of the interval, and what of it is noise of the
// data. Variances add, deviations do not, hence the root of the share.
export function inner(mean, edge, aleatoric, epistemic) {
  const whole = aleatoric * aleatoric + epistemic * epistemic;
  return mean + (edge - mean) * (whole > 0 ? Math.sqrt(aleatoric * aleatoric / whole) : 1);
}
