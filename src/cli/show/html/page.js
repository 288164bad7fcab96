'use strict';
// The page can be read without this: it adds the zoom, the keys of the timeline, and the buttons.
(() => {
  const chart = document.getElementById('chart');
  const plot = chart.querySelector('.plot');
  const axis = chart.querySelector('.axis');
  const grid = plot.querySelector('.grid');
  const status = document.getElementById('status');
  const end = Number(chart.dataset.end);
  const svg = 'http://www.w3.org/2000/svg';
  const most = 400000;
  let zoom = 1;

  for (const hidden of document.querySelectorAll('[data-script]')) hidden.hidden = false;

  const span = (ms) => {
    if (ms < 1000) return ms + 'ms';
    if (ms < 60000) return (Math.floor(ms / 10) / 100).toFixed(2) + 's';
    const pad = (n) => String(n).padStart(2, '0');
    if (ms < 3600000) return Math.floor(ms / 60000) + 'm ' + pad(Math.floor(ms / 1000) % 60) + 's';
    return Math.floor(ms / 3600000) + 'h ' + pad(Math.floor(ms / 60000) % 60) + 'm';
  };

  const names = () => chart.querySelector('.corner').offsetWidth;
  const base = () => chart.clientWidth - names();

  // Marks at round moments, about one in 120 pixels.
  const drawTicks = (width) => {
    const rough = Math.max(1, end * 120 / width);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
    axis.replaceChildren();
    grid.replaceChildren();
    if (end / step > 5000) return;
    for (let at = 0; at < end - step / 2; at += step) {
      const x = 100 * at / end + '%';
      const text = document.createElementNS(svg, 'text');
      text.setAttribute('x', x);
      text.setAttribute('dx', '4');
      text.setAttribute('y', '16');
      text.textContent = span(at);
      axis.append(text);
      const line = document.createElementNS(svg, 'line');
      line.setAttribute('x1', x);
      line.setAttribute('x2', x);
      line.setAttribute('y1', '0');
      line.setAttribute('y2', '100%');
      grid.append(line);
    }
  };

  // What is at this distance from the plot's left edge as it is seen stays there.
  const setZoom = (next, from = base() / 2) => {
    const before = base() * zoom;
    const moment = (chart.scrollLeft + from) / before;
    zoom = Math.min(Math.max(1, next), Math.max(1, most / base()));
    if (zoom === 1) chart.style.removeProperty('--wide');
    else chart.style.setProperty('--wide', Math.round(base() * zoom) + 'px');
    chart.scrollLeft = moment * base() * zoom - from;
    drawTicks(base() * zoom);
  };

  // The name of a bar stays in sight while any of the bar is.
  const bars = [...plot.querySelectorAll('a.section svg')].map((bar) => ({
    from: parseFloat(bar.getAttribute('x')) / 100,
    until: (parseFloat(bar.getAttribute('x')) + parseFloat(bar.getAttribute('width'))) / 100,
    text: bar.querySelector('text'),
    at: 6,
  }));
  let due = false;
  chart.addEventListener('scroll', () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      const wide = base() * zoom;
      const left = chart.scrollLeft;
      for (const bar of bars) {
        const at = left < bar.until * wide ? Math.max(0, left - bar.from * wide) + 6 : 6;
        if (at !== bar.at) bar.text.setAttribute('x', bar.at = at);
      }
    });
  });

  for (const button of document.querySelectorAll('[data-zoom]')) {
    button.addEventListener('click', () => {
      const how = button.dataset.zoom;
      setZoom(how === 'fit' ? 1 : how === 'in' ? zoom * 2 : zoom / 2);
    });
  }
  chart.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const from = event.clientX - chart.getBoundingClientRect().left - names();
    setZoom(zoom * Math.exp(-event.deltaY / 200), Math.max(0, from));
  }, { passive: false });
  addEventListener('resize', () => setZoom(zoom));

  // Dragging moves the view.
  let drag = null;
  chart.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || event.pointerType === 'touch' || event.target.closest('.names')) return;
    drag = { x: event.clientX, y: event.clientY, left: chart.scrollLeft, top: chart.scrollTop, moved: false };
  });
  addEventListener('pointermove', (event) => {
    if (!drag) return;
    const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
    drag.moved ||= Math.abs(x) + Math.abs(y) > 4;
    if (!drag.moved) return;
    chart.scrollLeft = drag.left - x;
    chart.scrollTop = drag.top - y;
  });
  addEventListener('pointerup', () => setTimeout(() => { drag = null; }));
  chart.addEventListener('click', (event) => { if (drag?.moved) event.preventDefault(); }, true);
  chart.addEventListener('dragstart', (event) => event.preventDefault());

  // Who is pointed at says what it is.
  const say = (event) => {
    const title = event.target.closest?.('.plot a')?.querySelector('title');
    if (title) status.textContent = title.textContent.replace('\n', ' · ');
  };
  chart.addEventListener('pointerover', say);
  chart.addEventListener('focusin', say);

  const bands = [...plot.querySelectorAll('.band')]
    .map((band) => [...band.querySelectorAll('a')]).filter((links) => links.length);
  const place = (link) => {
    const band = bands.findIndex((links) => links.includes(link));
    return [band, band < 0 ? -1 : bands[band].indexOf(link)];
  };
  const nearest = (links, at) => links.reduce((best, link) =>
    Math.abs(link.dataset.at - at) < Math.abs(best.dataset.at - at) ? link : best);
  chart.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '+' || event.key === '=') setZoom(zoom * 2);
    else if (event.key === '-') setZoom(zoom / 2);
    else if (event.key === '0') setZoom(1);
    else if (event.key.startsWith('Arrow') && bands.length) {
      const link = document.activeElement;
      const [band, at] = place(link);
      const next = band < 0 ? bands[0][0] : {
        ArrowRight: () => bands[band][at + 1],
        ArrowLeft: () => bands[band][at - 1],
        ArrowDown: () => bands[band + 1] && nearest(bands[band + 1], link.dataset.at),
        ArrowUp: () => bands[band - 1] && nearest(bands[band - 1], link.dataset.at),
      }[event.key]();
      if (next) {
        next.focus({ preventScroll: true });
        next.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      }
    } else return;
    event.preventDefault();
  });

  for (const button of document.querySelectorAll('[data-all]')) {
    button.addEventListener('click', () => {
      const open = button.dataset.all === 'open';
      for (const it of document.querySelectorAll('.track, .track .item')) if (it.tagName === 'DETAILS') it.open = open;
    });
  }

  // A link to something within what is closed opens it, and all around it.
  const show = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let it = target.closest('details'); it; it = it.parentElement.closest('details')) it.open = true;
    (target.closest('.item') ?? target).scrollIntoView({ block: 'start' });
  };
  addEventListener('hashchange', show);
  document.addEventListener('click', (event) => {
    const href = event.target.closest?.('a')?.getAttribute('href');
    if (href === location.hash) show();
  });
  show();
  drawTicks(base());
})();
