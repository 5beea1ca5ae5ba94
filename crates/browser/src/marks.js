// Tells for snapshots what no description of the document has: which element has the focus, which
// checkboxes are neither checked nor unchecked, which fields are invalid, and which tables have lines.
// Evaluated after elements.js, in the same isolated world.
(() => {
  if (Object.hasOwn(helmdeck, 'marks')) return;
  const { get, call, kind } = helmdeck.its;

  // At most this many elements have a mark, and this many cells of a table are looked at.
  const [MOST, CELLS] = [1000, 60];
  const TEXT = /^(text|search|tel|url|email|password|number)$/;
  const shadowRoot = Function.prototype.call.bind(
    Object.getOwnPropertyDescriptor(Element.prototype, 'shadowRoot').get,
  );

  // The document and every open shadow root in it.
  function roots() {
    const found = [document];
    for (let at = 0; at < found.length; at += 1) {
      for (const element of call(found[at], 'querySelectorAll', '*')) {
        const inner = shadowRoot(element);
        if (inner) found.push(inner);
      }
    }
    return found;
  }

  function focused() {
    let element = get(document, 'activeElement');
    if (!element || /^(HTML|BODY|FRAME|IFRAME)$/.test(kind(element))) return null;
    for (let root; (root = shadowRoot(element)) && root.activeElement; ) element = root.activeElement;
    return element;
  }

  // A required field that nobody has written in is not wrong yet.
  function isWrong(field) {
    const text = kind(field) === 'TEXTAREA' || (kind(field) === 'INPUT' && TEXT.test(field.type));
    return !text || field.value !== '';
  }

  // Whether a table looks like one, by its lines and colours. As in Chromium.
  function isRuled(table) {
    const [SIDES, CLEAR] = [['Top', 'Bottom', 'Left', 'Right'], 'rgba(0, 0, 0, 0)'];
    const rows = [...get(table, 'rows')].map((row) => [...get(row, 'cells')]);
    const cells = rows.flat().slice(0, CELLS).filter((cell) => get(cell, 'offsetWidth') && get(cell, 'offsetHeight'));
    if (cells.length < 2) return false;
    const own = getComputedStyle(table);
    const spaced = own.borderCollapse === 'separate' && own.borderSpacing.split(' ').every((it) => Number.parseFloat(it) > 0);
    const lines = cells.map((cell) => {
      const style = getComputedStyle(cell);
      const has = SIDES.map((side) => Number.parseFloat(style[`border${side}Width`]) > 0);
      const fill = style.backgroundColor;
      const coloured = spaced && fill !== own.backgroundColor && fill !== CLEAR;
      return [...has, (has[0] && has[1]) || (has[2] && has[3]), coloured];
    });
    const half = Math.floor(cells.length / 2);
    if (lines[0].some((_, at) => lines.filter((line) => line[at]).length >= half)) return true;
    // Every other row has another colour.
    const fills = rows.slice(0, 5).map((row) => getComputedStyle(get(row[0] ?? table, 'parentElement') ?? table).backgroundColor);
    return fills.length > 2 && new Set(fills).size === 2 && fills.every((fill, at) => at === 0 || fill !== fills[at - 1]);
  }

  // Pairs of a word and an element, one after the other.
  function marks() {
    const list = [];
    const mark = (word, element) => list.length < MOST * 2 && list.push(word, element);
    const active = focused();
    // A closed shadow root, which no script can look into, may have what is focused.
    const closed = active && !shadowRoot(active) && (active.tabIndex < 0 || kind(active).includes('-'));
    if (active) mark(closed ? 'focused within' : 'focused', active);
    for (const root of roots()) {
      const all = (css) => call(root, 'querySelectorAll', css);
      for (const box of all('input[type=checkbox]:indeterminate')) mark('indeterminate', box);
      for (const field of all('input:invalid,select:invalid,textarea:invalid')) if (isWrong(field)) mark('invalid', field);
      for (const table of all('table:not([role])')) {
        if (!get(table, 'tHead') && !get(table, 'caption') && !call(table, 'querySelector', 'th') && isRuled(table)) mark('ruled', table);
      }
    }
    return list;
  }

  Object.assign(helmdeck, { marks });
})();
