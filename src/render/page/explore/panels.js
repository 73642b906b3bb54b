// Features to choose, tables, and what the page says of itself. A part of the script of `edict explore`'s page.
// ---- choosing features ----

function fillFeatureBoxes() {
  const shown = series.features.filter((f) => !state.chosen || state.chosen.has(f.index)).length;
  element('feature-count').textContent = `(${shown} of the ${series.features.length} in this series; ${counted(meta.features.length, 'feature')} in all)`;
  if (!element('feature-choice').open) return;
  const wanted = element('feature-search').value.toLowerCase().split(',').map((w) => w.trim()).filter(Boolean);
  const here = new Map(series.features.map((f) => [f.index, f.value.length]));
  element('feature-boxes').replaceChildren(...meta.features.map((name, j) => [name, j])
    .filter(([name]) => !wanted.length || wanted.some((w) => name.toLowerCase().includes(w)))
    .map(([name, j]) => make('label', {class: here.has(j) ? 'here' : 'absent'},
      make('input', {type: 'checkbox', checked: !state.chosen || state.chosen.has(j), onchange: (event) => choose(j, event.target.checked)}),
      ` ${name} `, make('span', {class: 'note'}, here.has(j) ? String(here.get(j)) : 'not observed'))));
}

function choose(feature, chosen) {
  if (!state.chosen) state.chosen = new Set(meta.features.keys());
  if (chosen) state.chosen.add(feature);
  else state.chosen.delete(feature);
  if (state.chosen.size === meta.features.length) state.chosen = null;
  layOut();
}

// ---- tables ----

function tableOf(caption, heads, lines) {
  return make('table', {}, make('caption', {}, caption),
    make('thead', {}, make('tr', {}, ...heads.map((head) => make('th', {scope: 'col', class: head.text ? 'text' : null, title: head.about}, head.name)))),
    make('tbody', {}, ...lines));
}

const mostLines = 1000;
function fillTable() {
  const [from, to] = range(), found = [];
  for (const feature of shownFeatures())
    for (let i = 0; i < feature.time.length; ++i)
      if (feature.time[i] >= from && feature.time[i] <= to) found.push([feature, i]);
  found.sort(([a, i], [b, k]) => a.time[i] - b.time[k] || a.index - b.index);
  const heads = [{name: 'time'}, {name: 'feature', text: true}, {name: 'observed'}, {name: 'expected'}, {name: 'aleatoric ±'}, {name: 'epistemic ±'}, {name: 'z'}, {name: 'the model', text: true}];
  const lines = found.slice(0, mostLines).map(([feature, i]) => {
    const told = expected(feature, i) || {}, used = usedInstead(feature, i);
    const cells = [shortEventTime(feature.event[i]), meta.features[feature.index], exact(feature.value[i]), short(told.mean), short(told.aleatoric, 3), short(told.epistemic, 3),
      told.z === undefined ? '–' : signed(told.z), isForecast(feature.time[i]) ? 'was not given it' : used === undefined ? 'was given it' : `was given ${short(used, 5)}`];
    return make('tr', {}, ...cells.map((cell, c) => make('td', {class: heads[c].text ? 'text' : null}, cell)));
  });
  const caption = found.length > mostLines ? `The first ${mostLines} of ${counted(found.length, 'observation')}; zoom in or choose features for others.` : counted(found.length, 'observation');
  element('table').replaceChildren(make('div', {class: 'scroll'}, tableOf(caption, heads, lines)));
}

// Leads to one of the most surprising observations.
function lead(one) {
  element('feature-search').value = '';
  if (state.chosen && !state.chosen.has(one.feature)) state.chosen = null;
  open(one.series, () => {
    const figure = figures().find((f) => f.what.index === one.feature);
    if (!figure) {
      element('series').scrollIntoView({block: 'start'});
      return;
    }
    figure.scrollIntoView({block: 'center'});
    drawIfStale(figure);
    figure.plot.focus({preventScroll: true});
    const i = figure.what.event.indexOf(one.event);
    if (i >= 0) tell(figure, figure.what.time[i], i);
  });
}

function fillSurprising() {
  const wanted = element('surprising-search').value.trim().toLowerCase();
  const found = index.surprising.filter((one) => !wanted || index.ids[one.series].toLowerCase().includes(wanted) || meta.features[one.feature].toLowerCase().includes(wanted));
  const heads = [{name: 'series', text: true}, {name: 'feature', text: true}, {name: 'time'}, {name: 'observed'}, {name: 'expected'}, {name: 'aleatoric ±'}, {name: 'epistemic ±'},
    {name: 'z', about: 'predictive deviations from what was expected'}, {name: 'p', about: 'how often something at least as far off is to be expected'}, {name: 'log score', about: '−log of the density, in nats'}, {name: 'series is', text: true}];
  const lines = found.map((one) => {
    const cells = [make('a', {href: '#id=' + encodeURIComponent(index.ids[one.series]), onclick: (event) => { event.preventDefault(); lead(one); }}, index.ids[one.series]),
      meta.features[one.feature], one.written ?? short(one.time, 6), exact(one.value), short(one.mean ?? NaN), short(one.aleatoric ?? NaN, 3), short(one.epistemic ?? NaN, 3),
      signed(one.z ?? Infinity), rare(one.surprise), short(one.logScore ?? NaN, 3), trainedShort[index.part[one.series]]];
    return make('tr', {}, ...cells.map((cell, c) => make('td', {class: heads[c].text ? 'text' : null}, cell)));
  });
  element('surprising-table').replaceChildren(tableOf(counted(found.length, 'observation'), heads, lines));
}

// ---- what the page says of itself ----

function describe() {
  const clipped = series.features.some((f) => f.used.size);
  const key = (colour, text) => make('span', {class: 'item'}, make('span', {class: 'key', style: `background:var(--${colour})`}), text);
  const dot = (kind, text) => {
    const sign = make('span', {class: 'sign'});
    sign.innerHTML = `<svg viewBox="0 0 12 12" aria-hidden="true">${kind === 'surprising' ? '<circle class="surprising" cx="6" cy="6" r="4.8"/><circle class="seen" cx="6" cy="6" r="2.4"/>' : `<circle class="${kind}" cx="6" cy="6" r="3"/>`}</svg>`;
    return make('span', {class: 'item'}, sign, text);
  };
  const parts = [];
  if (series.whole) parts.push(key('aleatoric', 'noise of the data (aleatoric)'), key('epistemic', 'uncertainty of the model (epistemic)'));
  parts.push(dot('seen', 'given to the model'));
  if (meta.distribution && state.view === 'forecast' && series.span[1] > series.cut)
    parts.push(dot('hidden', 'not given'), make('span', {class: 'item'}, make('span', {class: 'key after-key'}), 'after the cut: only forecast'));
  if (meta.distribution) parts.push(dot('surprising', `|z| above ${surprisingZ}`));
  if (clipped) parts.push(dot('raw', 'clipped by the guard'), dot('used', 'what was taken instead'));
  if (series.probability) meta.classes.slice(0, 9).forEach((name, c) => parts.push(key(`m${c}`, `P(${name})`)));
  element('legend').replaceChildren(...parts);
}

function introduce() {
  document.querySelector('h1').textContent = meta.title;
  const told = [`${counted(index.ids.length, 'series', 'series')}, ${counted(meta.features.length, 'feature')}`];
  if (meta.distribution) told.push(`bands hold ${short(100 * meta.level)} %`, `cut at ${meta.writtenCut}: what comes after it the model has only to forecast, unless “everything given” is chosen`);
  if (meta.guard) told.push(`guard ${meta.guard.kind}, ${meta.guard.eta} ${meta.guard.kind === 'edgr' ? meta.guard.sigma + ' ' : ''}deviations`);
  element('about').textContent = told.join(' · ') + '.';
  const {whole, observations, name} = meta.held;
  if (observations || name) {
    element('left-out').hidden = false;
    element('left-out').textContent = `To stay below ${meta.megabytes} MB, ${whole.toLocaleString('en')} series, the most surprising, have `
      + (meta.distribution ? 'bands' : 'class probabilities over time') + `; ${observations.toLocaleString('en')} have their observations alone`
      + (name ? `, and ${name.toLocaleString('en')} are only listed.` : '.');
  }
  element('view-field').hidden = !meta.distribution;
  element('surprising').hidden = !index.surprising.length;
  element('surprising-about').textContent = 'The observations that the model expected least, given everything before them: the 100 first of all, and those of each feature; search for a feature to see its own. '
    + 'z counts predictive deviations, p tells how often something at least as far off is to be expected, the log score is −log of the density, in nats and in the data’s units.';
}
