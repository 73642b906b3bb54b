// Controls, keys, and the start. A part of the script of `edict explore`'s page.
function listenToControls() {
  element('search').addEventListener('input', () => { listRows(); if (rows.length && !rows.includes(state.row)) open(rows[0]); });
  for (const id of ['sort', 'filter']) element(id).addEventListener('change', () => { listRows(); if (rows.length) { list.scrollTop = 0; open(rows[0]); } });
  list.addEventListener('scroll', drawList);
  element('previous').addEventListener('click', () => move(-1));
  element('next').addEventListener('click', () => move(1));
  element('feature-search').addEventListener('input', layOut);
  element('feature-order').addEventListener('change', layOut);
  element('view').addEventListener('change', () => { state.view = element('view').value; hideTip(); describe(); redraw(); });
  element('zoom-in').addEventListener('click', () => zoom(0.5));
  element('zoom-out').addEventListener('click', () => zoom(2));
  element('earlier').addEventListener('click', () => pan(-0.5));
  element('later').addEventListener('click', () => pan(0.5));
  element('reset').addEventListener('click', () => setRange(...series.span));
  element('feature-choice').addEventListener('toggle', fillFeatureBoxes);
  element('all-features').addEventListener('click', () => { state.chosen = null; layOut(); });
  element('no-features').addEventListener('click', () => { state.chosen = new Set(); layOut(); });
  element('table-view').addEventListener('toggle', () => { if (element('table-view').open) fillTable(); });
  element('surprising-search').addEventListener('input', fillSurprising);
  new ResizeObserver(() => { drawList(); if (series) redraw(); }).observe(element('charts'));
  addEventListener('beforeprint', () => figures().forEach(drawIfStale));
  addEventListener('hashchange', () => { const row = linkedRow(); if (row >= 0 && row !== state.row) open(row); });
  addEventListener('keydown', (event) => {
    const typing = event.target.matches('input, select, textarea');
    if (event.key === 'Escape') {
      if (typing && event.target.value && event.target.type === 'search') return;  // which empties the field
      if (typing) event.target.blur();
      hideTip();
      return;
    }
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const inSearch = event.target.id === 'search';
    if (typing && !(inSearch && ['ArrowDown', 'ArrowUp'].includes(event.key))) return;
    const page = Math.max(1, Math.floor(list.clientHeight / rowHeight) - 1), inList = event.target === list;
    const does = {
      '/': () => { element('search').focus(); element('search').select(); },
      f: () => { element('feature-search').focus(); element('feature-search').select(); },
      ArrowDown: () => move(1), ArrowUp: () => move(-1), j: () => move(1), k: () => move(-1),
      '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), 0: () => setRange(...series.span),
      ...(event.shiftKey ? {ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25)} : {}),
      ...(inList ? {Home: () => move(-rows.length), End: () => move(rows.length), PageDown: () => move(page), PageUp: () => move(-page)} : {}),
    }[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  });
}

function linkedRow() {
  const linked = location.hash.match(/^#id=(.*)$/);
  return linked ? index.ids.indexOf(decodeURIComponent(linked[1])) : -1;
}

async function start() {
  if (typeof DecompressionStream === 'undefined') throw new Error('this browser cannot unpack the data; use one of 2023 or later');
  index = JSON.parse(new TextDecoder().decode(await inflated(element('index').textContent)));
  makeSorts();
  makeFilters();
  introduce();
  listRows();
  listenToControls();
  const linked = linkedRow();
  await open(linked >= 0 ? linked : rows[0]);
  fillSurprising();
  document.documentElement.dataset.ready = 'true';
}
start().catch((error) => {
  element('trouble').hidden = false;
  element('trouble').textContent = `This page could not be opened: ${error.message}`;
  console.error(error);
});
