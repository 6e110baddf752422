const value = (row, column) => {
  const cell = row.cells[column];
  return cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.textContent;
};
const compare = (a, b) => typeof a === 'number' ? a - b
  : a.localeCompare(b, 'en', { numeric: true });
function sort(heading) {
  const table = heading.closest('table'), column = heading.cellIndex;
  const before = heading.getAttribute('aria-sort');
  const first = heading.classList.contains('n') ? 'descending' : 'ascending';
  const other = { ascending: 'descending', descending: 'ascending' };
  const now = before ? other[before] : first, sign = now === 'ascending' ? 1 : -1;
  for (const th of heading.parentNode.cells) th.removeAttribute('aria-sort');
  heading.setAttribute('aria-sort', now);
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => sign * compare(value(a, column), value(b, column)));
  table.tBodies[0].append(...rows);
}
for (const button of document.querySelectorAll('th button'))
  button.addEventListener('click', () => sort(button.parentNode));

/* A button per table that saves it as CSV, in the order of the moment. */
const quoted = text => /[",\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
const shown = cell => cell.dataset.v !== undefined && !cell.classList.contains('bar')
  ? (cell.textContent === '' || cell.textContent === '-' ? '' : cell.dataset.v)
  : cell.textContent.trim();
function save(table) {
  const used = [...table.rows[0].cells].map((_, k) => !table.tBodies[0].rows[0]?.cells[k]?.classList.contains('bar'));
  const lines = [...table.rows].map(row => [...row.cells].filter((_, k) => used[k])
    .map(cell => quoted(cell.tagName === 'TH' ? cell.innerText.replace(/\s+/g, ' ').trim() : shown(cell))).join(','));
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([lines.join('\n') + '\n'], { type: 'text/csv' }));
  link.download = 'roofs-table.csv';
  link.click();
}
for (const table of document.querySelectorAll('table')) {
  const button = document.createElement('button');
  button.className = 'export';
  button.textContent = 'Save as CSV';
  button.addEventListener('click', () => save(table));
  table.closest('.scroll').before(button);
}

/* Paper has no clicks: folded parts are printed open. */
addEventListener('beforeprint', () => {
  for (const part of document.querySelectorAll('details')) part.open = true;
});
