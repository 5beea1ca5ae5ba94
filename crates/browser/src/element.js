// Finds elements and waits for them inside a document, in an isolated world that the page cannot
// see.
// Evaluated once per document; world.rs calls the functions defined here.
(() => {
  if (Object.hasOwn(globalThis, 'helmdeck')) return;

  // Names are cut after this many characters.
  const LONG = 200;
  // Without mutations, the page is checked again after this many milliseconds.
  const PULSE = 100;
  // The number of elements listed to describe a page.
  const SURVEY = 10;

  // Reads a property through the prototype. A form's own properties are shadowed by its fields:
  // `form.id` is the field with that name if there is one.
  const get = (node, name) => Reflect.get(Object.getPrototypeOf(node), name, node);
  const call = (node, name, ...rest) => get(node, name).call(node, ...rest);
  const attribute = (element, name) => call(element, 'getAttribute', name);
  const kind = (element) => get(element, 'tagName');
  const said = (element) => get(element, 'innerText') ?? get(element, 'textContent') ?? '';

  const tidy = (text) => (text ?? '').replace(/[\s\u200b]+/g, ' ').trim();
  const folded = (text) => tidy(text).toLowerCase();
  const cut = (text, most = LONG) => (text.length > most ? `${text.slice(0, most)}…` : text);
  const bare = (text) => (text ?? '').replace(/[\s\u200b]+/g, '').toLowerCase();

  // The document and every open shadow root in it.
  function* roots(root = document) {
    yield root;
    for (const element of call(root, 'querySelectorAll', '*')) {
      const inner = get(element, 'shadowRoot');
      if (inner) yield* roots(inner);
    }
  }

  const above = (element) =>
    get(element, 'assignedSlot') ?? get(element, 'parentElement') ?? get(call(element, 'getRootNode'), 'host') ?? null;

  function within(inner, outer) {
    for (let node = inner; node; node = above(node)) if (node === outer) return true;
    return false;
  }

  function box(element) {
    if (getComputedStyle(element).display !== 'contents') return call(element, 'getBoundingClientRect');
    const range = call(document, 'createRange');
    range.selectNodeContents(element);
    return range.getBoundingClientRect();
  }

  function visible(element) {
    if (!get(element, 'isConnected') || !call(element, 'checkVisibility', { visibilityProperty: true })) {
      if (getComputedStyle(element).display !== 'contents') return false;
    }
    const { width, height } = box(element);
    return width > 0 && height > 0;
  }

  // Implicit roles of elements.
  const IMPLICIT = {
    article: 'article',
    banner: 'header',
    blockquote: 'blockquote',
    button: 'button,summary,input[type=button],input[type=submit],input[type=reset],input[type=image]',
    cell: 'td',
    checkbox: 'input[type=checkbox]',
    code: 'code',
    columnheader: 'th:not([scope=row])',
    combobox: 'select:not([multiple]):not([size]),input[list]',
    complementary: 'aside',
    contentinfo: 'footer',
    definition: 'dd',
    dialog: 'dialog',
    emphasis: 'em',
    figure: 'figure',
    form: 'form',
    group: 'fieldset,details,optgroup',
    heading: 'h1,h2,h3,h4,h5,h6',
    img: 'img:not([alt=""]),svg',
    link: 'a[href],area[href]',
    list: 'ul,ol,menu',
    listbox: 'select[multiple],select[size]',
    listitem: 'li',
    main: 'main',
    meter: 'meter',
    navigation: 'nav',
    option: 'option',
    paragraph: 'p',
    progressbar: 'progress',
    radio: 'input[type=radio]',
    region: 'section[aria-label],section[aria-labelledby],section[title]',
    row: 'tr',
    rowgroup: 'tbody,thead,tfoot',
    rowheader: 'th[scope=row]',
    search: 'search',
    searchbox: 'input[type=search]:not([list])',
    separator: 'hr',
    slider: 'input[type=range]',
    spinbutton: 'input[type=number]',
    status: 'output',
    strong: 'strong',
    table: 'table',
    term: 'dt',
    textbox:
      'textarea,input:not([type]):not([list]),input[type=text]:not([list]),input[type=email]:not([list]),' +
      'input[type=tel]:not([list]),input[type=url]:not([list]),input[type=password],' +
      '[contenteditable=""],[contenteditable=true],[contenteditable=plaintext-only]',
    time: 'time',
  };
  // Elements that can be used.
  const INTERACTIVE =
    'a[href],button,input:not([type=hidden]),select,textarea,summary,[role=button],[role=link],' +
    '[role=checkbox],[role=radio],[role=tab],[role=menuitem],[role=option],[role=switch],' +
    '[role=textbox],[role=combobox],[contenteditable=""],[contenteditable=true],[onclick]';
  // Roles that are named by their content.
  const FROM_CONTENT =
    /^(button|cell|checkbox|columnheader|gridcell|heading|link|menuitem|menuitemcheckbox|menuitemradio|option|radio|row|rowheader|switch|tab|tooltip|treeitem|listitem|paragraph|term|definition|status|alert)$/;

  const explicit = (element) => tidy(attribute(element, 'role')).toLowerCase().split(' ')[0];

  function role(element) {
    const own = explicit(element);
    if (own) return own === 'image' ? 'img' : own;
    for (const [role, css] of Object.entries(IMPLICIT)) if (call(element, 'matches', css)) return role;
    return '';
  }

  // The accessible text of an element, without its own labels.
  function spoken(node) {
    if (get(node, 'nodeType') === Node.TEXT_NODE) return node.data;
    if (get(node, 'nodeType') !== Node.ELEMENT_NODE) return '';
    if (/^(script|style|noscript|template)$/i.test(kind(node))) return '';
    if (attribute(node, 'aria-hidden') === 'true' || !call(node, 'checkVisibility')) {
      if (getComputedStyle(node).display !== 'contents') return '';
    }
    const label = attribute(node, 'aria-label') || (kind(node) === 'IMG' && attribute(node, 'alt'));
    if (label) return ` ${label} `;
    return content(node);
  }

  function content(element) {
    const inner = kind(element) === 'SLOT' ? element.assignedNodes({ flatten: true }) : [];
    const nodes = inner.length ? inner : get(get(element, 'shadowRoot') ?? element, 'childNodes');
    const text = [...nodes].map(spoken).join('');
    return getComputedStyle(element).display === 'inline' ? text : ` ${text} `;
  }

  function name(element) {
    const root = call(element, 'getRootNode');
    const ids = tidy(attribute(element, 'aria-labelledby')).split(' ').filter(Boolean);
    const labelled = ids.map((id) => get(root, 'getElementById')?.call(root, id)).filter(Boolean);
    const labelling = labelled.map((it) => attribute(it, 'aria-label') || get(it, 'textContent'));
    if (labelling.length) return tidy(labelling.join(' '));
    const own = tidy(attribute(element, 'aria-label'));
    if (own) return own;
    if (kind(element) === 'INPUT' && /^(button|submit|reset)$/.test(element.type)) {
      const usual = { submit: 'Submit', reset: 'Reset' }[element.type];
      return tidy(element.value) || usual || tidy(attribute(element, 'title'));
    }
    const labels = tidy([...(get(element, 'labels') ?? [])].map((label) => content(label)).join(' '));
    if (labels) return labels;
    if (get(element, 'alt')) return tidy(get(element, 'alt'));
    const heads = { FIELDSET: 'legend', TABLE: 'caption', FIGURE: 'figcaption', svg: 'title' };
    const head = heads[kind(element)] && call(element, 'querySelector', `:scope > ${heads[kind(element)]}`);
    if (head) return tidy(head.textContent);
    if (FROM_CONTENT.test(role(element))) {
      const text = tidy(content(element));
      if (text) return text;
    }
    return tidy(attribute(element, 'title')) || tidy(attribute(element, 'placeholder'));
  }

  // Describes an element in a sentence.
  function called(element) {
    return cut(name(element) || tidy(said(element)));
  }

  function tag(element) {
    const [id, names] = [attribute(element, 'id'), attribute(element, 'class')];
    const own = id ? ` id="${cut(id, 40)}"` : '';
    return `<${kind(element).toLowerCase()}${own}${names ? ` class="${cut(tidy(names), 60)}"` : ''}>`;
  }

  class Unreadable extends Error {}

  function byCss(css) {
    const found = [];
    try {
      found.push(...call(document, 'querySelectorAll', css));
    } catch (error) {
      throw new Unreadable(error.message);
    }
    if (found.some(visible)) return found;
    for (const root of roots()) if (root !== document) found.push(...call(root, 'querySelectorAll', css));
    return found;
  }

  // The smallest elements that contain the text.
  function byText({ text, exact }) {
    const [wanted, thin] = [exact ? tidy(text) : folded(text), bare(text)];
    const says = (words) => (exact ? tidy(words) === wanted : folded(words).includes(wanted));
    const search = (element) => {
      if (/^(script|style|noscript|template|head)$/i.test(kind(element))) return [];
      if (kind(element) === 'INPUT') {
        return /^(button|submit|reset)$/.test(element.type) && says(element.value) ? [element] : [];
      }
      if (!bare(get(element, 'textContent')).includes(thin)) return [];
      const inner = [...get(element, 'children')].flatMap(search);
      if (inner.some(visible)) return inner;
      return says(said(element)) ? [element, ...inner] : inner;
    };
    const buttons = (root) => [...call(root, 'querySelectorAll', 'input')].flatMap(search);
    const found = [];
    for (const root of roots()) {
      found.push(...[...get(root, 'children')].flatMap(search), ...buttons(root));
    }
    return found;
  }

  function byRole({ role: wanted, name: called }) {
    const css = IMPLICIT[wanted];
    const found = [];
    for (const root of roots()) {
      for (const element of call(root, 'querySelectorAll', css ? `[role],${css}` : '[role]')) {
        if (role(element) === wanted) found.push(element);
      }
    }
    if (called == null) return found;
    const text = folded(called);
    const named = found.map((element) => [element, folded(name(element))]);
    const exact = named.filter(([, its]) => its === text);
    const partly = named.filter(([, its]) => its !== text && its.includes(text));
    const all = [...exact, ...partly].map(([element]) => element);
    return all;
  }

  function all(selector) {
    if (selector.css != null) return byCss(selector.css);
    if (selector.text != null) return byText(selector);
    if (selector.ref != null) return [helmdeck.its.byRef(selector.ref)].filter(Boolean);
    return byRole(selector);
  }

  function pick(selector) {
    const found = all(selector);
    return found.find(visible) ?? found[0] ?? null;
  }

  // The control that a label is for.
  const control = (element) => (kind(element) === 'LABEL' && element.control) || element;

  function hitAt(x, y) {
    let hit = call(document, 'elementFromPoint', x, y);
    for (let root; hit && (root = get(hit, 'shadowRoot')); ) {
      const inner = root.elementFromPoint(x, y);
      if (!inner || inner === hit) break;
      hit = inner;
    }
    return hit;
  }

  // Whether a click at `hit` still reaches the element.
  function reaches(hit, element) {
    if (within(hit, element)) return true;
    if ([...(get(element, 'labels') ?? [])].some((label) => within(hit, label))) return true;
    const label = call(hit, 'closest', 'label');
    if (label?.control && within(label.control, element)) return true;
    if (!within(element, hit)) return false;
    return getComputedStyle(element).pointerEvents === 'none' || call(hit, 'matches', 'a,button,label,summary,[role]');
  }

  // The first point of an element that is in view, and what covers it.
  function target(element) {
    const boxless = getComputedStyle(element).display === 'contents';
    const rects = boxless ? [box(element)] : [...call(element, 'getClientRects')];
    let covered = null;
    for (const rect of rects.slice(0, 5)) {
      const [left, top] = [Math.max(rect.left, 0), Math.max(rect.top, 0)];
      const [right, bottom] = [Math.min(rect.right, innerWidth), Math.min(rect.bottom, innerHeight)];
      if (right - left < 0.5 || bottom - top < 0.5) continue;
      const [x, y] = [(left + right) / 2, (top + bottom) / 2];
      const hit = hitAt(x, y);
      if (hit && reaches(hit, element)) return { x, y };
      covered ??= hit ? `is covered by ${tag(hit)}` : 'is covered by something';
    }
    return { covered };
  }

  const same = (a, b) => a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;

  // The next paint; a hidden page has none.
  const frame = () =>
    new Promise((done) => {
      const timer = setTimeout(done, get(document, 'hidden') ? 20 : PULSE);
      requestAnimationFrame(() => (clearTimeout(timer), done()));
    });

  // The next time that something may have changed.
  const change = (most) =>
    new Promise((done) => {
      const over = () => (observer.disconnect(), clearTimeout(timer), done());
      const observer = new MutationObserver(over);
      const timer = setTimeout(over, Math.max(0, Math.min(most, PULSE)));
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    });

  const ALIGN = ['center', 'end', 'start', 'nearest'];

  const scroll = (element, align) =>
    call(element, 'scrollIntoView', { block: align, inline: align, behavior: 'instant' });

  // Why the element cannot be used now; null if it can.
  async function obstacle(element, want, turn) {
    if (want === 'attached') return null;
    if (!visible(element)) return 'is not visible';
    if (want === 'visible') return null;
    if (call(element, 'matches', ':disabled') || call(element, 'closest', '[aria-disabled=true]')) return 'is disabled';
    const before = box(element);
    let spot = target(element);
    if (!('x' in spot)) scroll(element, ALIGN[turn % 4]);
    // A point in the viewport of an iframe may be outside the viewport of the page.
    else if (window !== window.top) scroll(element, 'nearest');
    // Typed text also reaches moving elements.
    if (want === 'enabled') return null;
    const held = box(element);
    await frame();
    if (!get(element, 'isConnected')) return 'was removed';
    if (!same(held, box(element))) return 'is moving';
    spot = target(element);
    if ('x' in spot) return null;
    return spot.covered ?? (same(before, held) ? 'is out of view and cannot be scrolled to' : 'is out of view');
  }

  const VALUES = /^(date|time|datetime-local|month|week|color|range)$/;
  const TEXTS = /^(text|search|url|tel|email|password|number|date|time|datetime-local|month|week|color|range)$/;

  const changed = (element) => {
    element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    element.dispatchEvent(new Event('change', { bubbles: true }));
  };

  // Prepares a field for text: focused, with the text to replace selected.
  function fill(element, { text, append }) {
    const field = control(element);
    const editable = get(field, 'isContentEditable');
    if (kind(field) === 'INPUT') {
      if (!TEXTS.test(field.type)) return { refused: `is not a text field but an input of type ${field.type}` };
    } else if (kind(field) !== 'TEXTAREA' && !editable) {
      if (kind(field) === 'SELECT') return { refused: 'is a list of options; use browser_select' };
      const css = 'input:not([type=hidden]),textarea,[contenteditable=true],[contenteditable=""]';
      const inner = call(field, 'querySelector', css);
      if (inner) return fill(inner, { text, append });
      return { refused: 'is not a text field' };
    }
    if (get(field, 'disabled')) return { why: 'is disabled' };
    if (get(field, 'readOnly')) return { why: 'is read only' };
    call(field, 'focus');
    if (kind(field) === 'INPUT' && VALUES.test(field.type)) {
      field.value = text.trim();
      if (field.value !== text.trim() && field.type !== 'range') {
        return { refused: `does not accept this value: it is an input of type ${field.type}` };
      }
      changed(field);
      return { insert: false };
    }
    if (editable) {
      const range = call(document, 'createRange');
      range.selectNodeContents(field);
      if (append) range.collapse(false);
      const root = call(field, 'getRootNode');
      const selection = get(root, 'getSelection')?.call(root) ?? getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
    } else if (append) {
      const end = field.value.length;
      try {
        field.setSelectionRange(end, end);
      } catch {
        // Number and email inputs do not let scripts set the caret; End moves it.
        return { insert: true, end: true };
      }
    } else {
      field.select();
    }
    if (!text && !append) {
      call(document, 'execCommand', 'delete');
      return { insert: false };
    }
    return { insert: true };
  }

  function choose(element, { values }) {
    const list = control(element);
    if (kind(list) !== 'SELECT') return { refused: 'is not a list of options; click it instead' };
    const options = [...list.options];
    const chosen = new Set();
    for (const value of values) {
      const fits = [
        (option) => option.value === value,
        (option) => tidy(option.label) === tidy(value),
        (option) => folded(option.label) === folded(value),
      ];
      const option = fits.map((fit) => options.find(fit)).find(Boolean);
      if (!option) {
        const there = options.slice(0, 20).map((option) => JSON.stringify(tidy(option.label)));
        return { why: `has no option ${JSON.stringify(value)}; its options are: ${there.join(', ') || 'none'}` };
      }
      if (option.disabled) return { why: `has the option ${JSON.stringify(value)}, which is disabled` };
      chosen.add(option);
    }
    if (chosen.size > 1 && !list.multiple) return { refused: 'takes one option only' };
    list.focus();
    for (const option of options) option.selected = chosen.has(option);
    changed(list);
    return { values: [...list.selectedOptions].map((option) => option.value) };
  }

  function file(element, { count }) {
    let field = control(element);
    if (!call(field, 'matches', 'input[type=file]')) {
      const inner = call(field, 'querySelector', 'input[type=file]');
      field = inner ?? call(field, 'closest', 'label')?.control ?? field;
    }
    if (!call(field, 'matches', 'input[type=file]')) return { refused: 'is not a file field' };
    if (count > 1 && !field.multiple) return { refused: 'takes one file only' };
    helmdeck.kept = field;
    return {};
  }

  // The style that draws text as dots.
  const DOTS = '-webkit-text-security';
  const isConcealed = (element) => getComputedStyle(element).getPropertyValue(DOTS) !== 'none';

  // Draws the text of a field as dots until the field is empty.
  function conceal(element) {
    const field = control(element);
    if (!call(field, 'matches', 'input,textarea')) return { refused: 'is not a field' };
    const style = get(field, 'style');
    const draw = () => {
      const drawn = style.getPropertyValue(DOTS) === 'disc' && style.getPropertyPriority(DOTS) === 'important';
      if (!drawn) style.setProperty(DOTS, 'disc', 'important');
    };
    const watcher = new MutationObserver(draw);
    let held = field.value !== '';
    const typed = () => {
      if (field.value !== '' || !held) return void (held ||= field.value !== '');
      watcher.disconnect();
      call(field, 'removeEventListener', 'input', typed);
      style.removeProperty(DOTS);
    };
    draw();
    // Pages may write their styles again.
    watcher.observe(field, { attributes: true, attributeFilter: ['style'] });
    call(field, 'addEventListener', 'input', typed);
    // A document without an address has that of its creator; one without an origin belongs to no site.
    const site = globalThis.origin;
    const own = site !== 'null' && location.origin === site;
    return { content: own ? location.href : site === 'null' ? '' : `${site}/` };
  }

  const DOING = {
    nothing: () => ({}),
    show: (element) => (scroll(element, 'nearest'), {}),
    keep: (element) => ((helmdeck.kept = element), {}),
    text: (element) => ({ content: said(element) }),
    html: (element) => ({ content: get(element, 'outerHTML') }),
    focus: (element) => (call(control(element), 'focus'), {}),
    fill,
    choose,
    file,
    conceal,
  };

  function ready(element, ask) {
    const spot = ask.want === 'usable' ? target(element) : {};
    const rect = box(element);
    const { x, y } = 'x' in spot ? spot : { x: rect.x + rect.width / 2, y: rect.y + rect.height / 2 };
    const downloads = !!call(element, 'closest', 'a[download]');
    return {
      state: 'ready', tag: kind(element).toLowerCase(), name: called(element), x, y,
      box: { x: rect.x, y: rect.y, width: rect.width, height: rect.height },
      hidden: get(document, 'hidden'), downloads, focus: call(document, 'hasFocus'),
    };
  }

  // Waits until the element can be used and runs the operation, or reports what prevents it.
  async function until(ask, given) {
    const end = performance.now() + ask.ms;
    let seen = { state: 'missing' };
    for (let turn = 0; ; turn += 1) {
      let element;
      try {
        element = given ?? pick(ask.selector);
      } catch (error) {
        if (error instanceof Unreadable) return { state: 'unreadable', why: error.message };
        throw error;
      }
      if (given && !get(given, 'isConnected')) return { state: 'stale' };
      if (given && get(given, 'ownerDocument') !== document) return { state: 'elsewhere' };
      seen = { state: 'missing' };
      if (element) {
        const why = await obstacle(element, ask.want, turn);
        const done = why ? { why } : DOING[ask.doing](element, ask);
        if (done.refused) return { state: 'blocked', final: true, element: tag(element), why: done.refused };
        if (!done.why) return { ...ready(element, ask), ...done };
        seen = { state: 'blocked', element: tag(element), why: done.why, hidden: get(document, 'hidden') };
      } else if (!ask.stay || ask.selector.ref != null) {
        return seen;
      }
      const left = end - performance.now();
      if (left <= 0) return seen;
      if (element) await frame();
      else await change(left);
    }
  }

  // Waits until an element or text is visible, or no longer visible.
  async function seen({ selectors, gone, ms }) {
    const end = performance.now() + ms;
    for (;;) {
      let holds;
      try {
        holds = selectors.map((selector) => all(selector).some(visible));
      } catch (error) {
        if (error instanceof Unreadable) return { state: 'unreadable', why: error.message };
        throw error;
      }
      const left = end - performance.now();
      if (left <= 0 || holds.every((it) => it !== gone)) return { state: 'ready', holds };
      await change(left);
    }
  }

  // Describes what the page shows instead of the wanted element.
  function survey(selector) {
    const wanted = folded(selector.text ?? selector.name ?? selector.css ?? '');
    const words = wanted.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 1);
    const found = [];
    for (const root of roots()) {
      for (const element of call(root, 'querySelectorAll', `${INTERACTIVE},h1,h2`)) {
        if (found.length >= 1000) break;
        if (!visible(element)) continue;
        const [its, title] = [role(element) || kind(element).toLowerCase(), called(element)];
        const names = [title, attribute(element, 'id'), attribute(element, 'name')];
        const text = names.map(folded).join(' ');
        const score = words.filter((word) => text.includes(word)).length * 2 + (its === selector.role);
        found.push({ score, line: `${its} ${JSON.stringify(cut(title, 60))}` });
      }
    }
    found.sort((a, b) => b.score - a.score);
    const lines = [...new Set(found.map((it) => it.line))];
    const [elements, more] = [lines.slice(0, SURVEY), lines.length > SURVEY];
    return { url: location.href, title: get(document, 'title'), elements, more };
  }

  // The position of the viewport on the page and, in a window, on the screen. A window has the same
  // border on the left, right and bottom; its toolbars are at the top.
  function view() {
    const scale = devicePixelRatio;
    const border = (outerWidth - innerWidth * scale) / 2;
    const corner = { x: screenX + border, y: screenY + outerHeight - innerHeight * scale - border };
    return { scrolled: { x: scrollX, y: scrollY }, corner, scale };
  }

  const its = { get, call, attribute, kind, said, tidy, cut, above, within, box, role, name, hitAt, reaches, isConcealed, DOING };
  globalThis.helmdeck = { until, seen, survey, view, kept: null, its };
})();
