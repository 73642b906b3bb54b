'use strict';
// The report's page: legends that hide a method, and the browser of single series, whose charts are
// drawn already and only shown from here.
(() => {
  const short = (value) => Number(value.toPrecision(3)).toString();

  // ---- legends ----
  for (const button of document.querySelectorAll('.legend button')) {
    button.addEventListener('click', () => {
      const shown = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', shown);
      for (const part of button.closest('figure').querySelectorAll('svg .' + button.dataset.method))
        part.classList.toggle('off', !shown);
    });
  }

  // ---- browser ----
  const browser = document.getElementById('browser');
  if (!browser) return;
  const lists = [...browser.querySelectorAll('.series-list')], view = browser.querySelector('.view');
  const pick = browser.querySelector('select'), readout = browser.querySelector('.readout');
  const state = {model: 0, series: 0, mode: 'forecast'};

  // From places in a chart to the units of its axes, which it carries.
  function axes(chart) {
    const area = chart.querySelector('svg').viewBox.baseVal;
    const [left, right] = chart.dataset.x.split(' ').map(Number), [bottom, top] = chart.dataset.y.split(' ').map(Number);
    return {
      x: (at) => left + (at - area.x) / area.width * (right - left),
      y: (at) => top - (at - area.y) / area.height * (top - bottom),
    };
  }

  // What is drawn where the pointer is: the mean, its interval, and from the small chart that
  // follows, the deviations.
  function tell(chart, event) {
    const area = chart.querySelector('svg').viewBox.baseVal, box = chart.getBoundingClientRect();
    const at = Math.min(Math.max((event.clientX - box.left) / box.width * chart.viewBox.baseVal.width, area.x), area.x + area.width);
    // Of a line at the pointer; of a band its upper and its lower edge, there and back.
    const values = (from, name) => {
      const points = [...from.querySelector(name).points], found = [];
      for (let i = 1; i < points.length; ++i) {
        const a = points[i - 1], b = points[i];
        if (a.x !== b.x && (a.x - at) * (b.x - at) <= 0)
          found.push(short(axes(from).y(a.y + (b.y - a.y) * (at - a.x) / (b.x - a.x))));
      }
      return found;
    };
    const [mean] = values(chart, '.mean'), edges = values(chart, '.epistemic'), deviations = chart.nextElementSibling;
    readout.textContent = `${chart.getAttribute('aria-label')} at ${short(axes(chart).x(at))}: ${mean}, `
      + `${lists[state.model].dataset.level} % within [${edges.at(-1)}, ${edges[0]}], `
      + `aleatoric ± ${values(deviations, '.spread-aleatoric')[0]}, epistemic ± ${values(deviations, '.spread-epistemic')[0]}`;
  }

  function draw() {
    [...lists[state.model].children].forEach((button, i) => {
      button.setAttribute('aria-selected', i === state.series);
      button.tabIndex = i === state.series ? 0 : -1;
    });
    readout.textContent = '';
    view.innerHTML = document.querySelector(`[data-view="${state.model}-${state.series}-${state.mode}"]`).textContent;
    for (const line of view.querySelectorAll('polyline.mean')) {
      const chart = line.closest('svg.chart');
      chart.addEventListener('pointermove', (event) => tell(chart, event));
    }
  }

  function choose(index) {
    const list = lists[state.model], count = list.children.length;
    state.series = (index + count) % count;
    draw();
    const button = list.children[state.series];
    button.focus({preventScroll: true});
    // The list scrolls, the page stays where it is.
    list.scrollTop = button.offsetTop - list.offsetTop - list.clientHeight / 2;
    list.scrollLeft = button.offsetLeft - list.offsetLeft - list.clientWidth / 2;
  }

  function show(model) {
    Object.assign(state, {model, series: 0});
    lists.forEach((list, i) => { list.hidden = i !== model; });
    browser.querySelector('.noise-level').textContent = lists[model].dataset.noiseLevel;
    draw();
  }

  pick.addEventListener('change', () => show(Number(pick.value)));
  for (const radio of browser.querySelectorAll('input[name=mode]'))
    radio.addEventListener('change', () => { state.mode = radio.value; draw(); });
  for (const list of lists) {
    [...list.children].forEach((button, i) => button.addEventListener('click', () => choose(i)));
    list.addEventListener('keydown', (event) => {
      const step = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[event.key];
      const to = step ? state.series + step : event.key === 'Home' ? 0 : event.key === 'End' ? -1 : null;
      if (to === null) return;
      event.preventDefault();
      choose(to);
    });
  }
  show(0);
})();
