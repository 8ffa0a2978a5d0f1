
(() => {
  'use strict';
  const $ = (id) => document.getElementById(id);
  const controls = $('controls');
  const index = $('index');

  // ---- filters and order: of the rows of the index, and of the findings that they lead to ----
  const rows = index ? [...index.tBodies[0].rows].map((row) => {
    const finding = $(row.querySelector('a').getAttribute('href').slice(1));
    return { row, finding, data: row.dataset, text: row.textContent.toLowerCase() };
  }) : [];

  const choices = ['severity', 'kind', 'file', 'owner'];

  function filter() {
    const words = $('by-text').value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = choices.map((name) => [name, $('by-' + name).value]).filter(([, value]) => value);
    let shown = 0;
    for (const r of rows) {
      const fits = chosen.every(([name, value]) => (name === 'file' ? [r.data.file] : r.data[name].split(' ')).includes(value)) && words.every((w) => r.text.includes(w));
      if (r.row.hidden === fits) {
        r.row.hidden = !fits;
        r.finding.hidden = !fits;
      }
      shown += fits;
    }
    $('shown').value = (shown === rows.length ? '' : shown + ' of ') + rows.length + ' places';
  }

  const orders = {
    rank: (a, b) => a.data.rank - b.data.rank,
    file: (a, b) => a.data.file.localeCompare(b.data.file) || a.data.rank - b.data.rank,
    kind: (a, b) => a.data.kind.localeCompare(b.data.kind) || a.data.rank - b.data.rank,
    count: (a, b) => b.data.count - a.data.count || a.data.rank - b.data.rank,
  };

  function sort() {
    rows.sort(orders[$('sort').value]);
    index.tBodies[0].append(...rows.map((r) => r.row));
    rows[0].finding.parentNode.append(...rows.map((r) => r.finding));
  }

  function reset() {
    for (const name of choices)
      $('by-' + name).value = '';
    $('by-text').value = '';
    $('sort').value = 'rank';
    filter();
    sort();
  }

  // ---- moving from finding to finding ----
  function step(by) {
    const seen = rows.filter((r) => !r.row.hidden).map((r) => r.finding);
    const now = seen.indexOf(document.activeElement && document.activeElement.closest('article'));
    const next = seen[now < 0 ? (by > 0 ? 0 : seen.length - 1) : Math.min(Math.max(now + by, 0), seen.length - 1)];
    if (next) {
      next.focus({ preventScroll: true });
      next.scrollIntoView({ block: 'start' });
    }
  }

  function key(e) {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
    if (e.ctrlKey || e.altKey || e.metaKey)
      return;
    if (controls && e.key === 'Escape') {
      reset();
    } else if (controls && !typing && e.key === '/') {
      e.preventDefault();
      $('all').open = true;
      $('by-text').focus();
    } else if (!typing && (e.key === 'j' || e.key === 'k')) {
      step(e.key === 'j' ? 1 : -1);
    }
  }

  if (rows.length)
    document.addEventListener('keydown', key);
  if (controls && rows.length) {
    controls.hidden = false;
    controls.addEventListener('input', filter);
    $('sort').addEventListener('change', sort);
    controls.addEventListener('submit', (e) => e.preventDefault());
    $('reset').addEventListener('click', reset);
    filter();
  }

  // ---- timelines: the event under the mouse, or chosen by the arrow keys, in words ----
  function tell(time, mark) {
    for (const on of time.querySelectorAll('.ev.on'))
      on.classList.remove('on');
    if (!mark)
      return;
    mark.classList.add('on');
    time.nextElementSibling.textContent = mark.querySelector('title').textContent;
  }

  function reveal(time, mark) {
    const box = mark.getBoundingClientRect(), view = time.getBoundingClientRect();
    if (box.left < view.left || box.right > view.right)
      time.scrollLeft += box.left - view.left - view.width / 2;
  }

  for (const time of document.querySelectorAll('.time')) {
    time.addEventListener('mouseover', (e) => {
      const mark = e.target.closest('.ev');
      if (mark)
        tell(time, mark);
    });
    time.addEventListener('keydown', (e) => {
      if (e.key !== 'ArrowRight' && e.key !== 'ArrowLeft')
        return;
      const marks = [...time.querySelectorAll('.ev')];
      const now = marks.findIndex((m) => m.classList.contains('on'));
      const next = marks[Math.min(Math.max(now + (e.key === 'ArrowRight' ? 1 : -1), 0), marks.length - 1)];
      e.preventDefault();
      tell(time, next);
      reveal(time, next);
    });
  }

  // ---- commands to copy ----
  for (const box of document.querySelectorAll('.copy')) {
    const button = document.createElement('button');
    const text = box.querySelector('pre');
    button.type = 'button';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(text.textContent);
      } catch {
        getSelection().selectAllChildren(text);
        document.execCommand('copy');
      }
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
    box.append(button);
  }

  // ---- a link into a finding that is hidden shows it ----
  addEventListener('hashchange', () => {
    const target = location.hash.startsWith('#bug-') ? $(location.hash.slice(1)) : null;
    if (target && target.closest('[hidden]')) {
      reset();
      target.scrollIntoView();
    }
  });
})();
