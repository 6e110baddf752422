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
