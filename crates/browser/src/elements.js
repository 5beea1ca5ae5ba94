// Lists the elements of a document with role, name, value, states and place, and tells what is at a
// point. Evaluated after element.js, in the same isolated world. Pages have thousands of elements, so
// what is done for each of them is fast: roles by tag, and texts only where they are names.
(() => {
  if (Object.hasOwn(helmdeck, 'elements')) return;
  const { get, call, attribute, kind, said, tidy, cut, above, within, role, name, hitAt, reaches, isConcealed, DOING } = helmdeck.its;

  // The longest name and value.
  const [NAME, VALUE] = [300, 2000];
  // Larger texts are left to their parts, unless only they have what is wanted.
  const LONG_TEXT = 1000;
  // What is shown around a wanted part of a long text.
  const AROUND = 40;
  // Elements that are checked for being covered; the rest count as visible.
  const CHECKED = 600;
  const words = (text) => new Set(text.split(' '));
  const SKIPPED = words('SCRIPT STYLE NOSCRIPT TEMPLATE HEAD META LINK TITLE OPTION OPTGROUP BR WBR SOURCE TRACK');
  // Roles that say nothing about an element.
  const PLAIN = words(
    ' none presentation generic paragraph strong emphasis code time group rowgroup figure blockquote term ' +
      'definition separator insertion deletion superscript subscript mark document region form search',
  );
  const USABLE = words(
    'button link textbox searchbox checkbox radio switch combobox listbox option menuitem menuitemcheckbox ' +
      'menuitemradio tab treeitem slider spinbutton gridcell',
  );
  // Roles that are named by their text.
  const NAMED_BY_TEXT = words('heading cell columnheader rowheader listitem alert status tooltip');
  const FIELD = words('textbox searchbox combobox spinbutton slider listbox');

  // The page may have replaced these, or shadow them by the names of form fields.
  const plain = (method) => Function.prototype.call.bind(method);
  const getter = (prototype, property) => plain(Object.getOwnPropertyDescriptor(prototype, property).get);
  const tagName = getter(Element.prototype, 'tagName');
  const elementChildren = getter(Element.prototype, 'children');
  const fragmentChildren = getter(DocumentFragment.prototype, 'children');
  const shadowRoot = getter(Element.prototype, 'shadowRoot');
  const attributes = getter(Element.prototype, 'attributes');
  const firstElement = getter(Element.prototype, 'firstElementChild');
  const firstNode = getter(Node.prototype, 'firstChild');
  const nextNode = getter(Node.prototype, 'nextSibling');
  const nodeType = getter(Node.prototype, 'nodeType');
  const textContent = getter(Node.prototype, 'textContent');
  const isVisible = plain(Element.prototype.checkVisibility);
  const rectOf = plain(Element.prototype.getBoundingClientRect);
  const matches = plain(Element.prototype.matches);
  const hasAttribute = plain(Element.prototype.hasAttribute);
  const query = plain(Element.prototype.querySelector);
  const DRAWN = { visibilityProperty: true };
  const UNUSUAL = 'img,svg,[aria-label],[aria-labelledby],slot,input,select,textarea,[aria-hidden=true]';

  const box = (element) => {
    const rect = rectOf(element);
    return rect.width || rect.height ? rect : helmdeck.its.box(element);
  };

  // Implicit roles by tag; those that depend on more are left to `role`.
  const BY_TAG = new Map([
    ...Object.entries({
      DIV: '', SPAN: '', P: 'paragraph', B: '', I: '', LABEL: '', BUTTON: 'button', UL: 'list', OL: 'list', LI: 'listitem',
      TABLE: 'table', TBODY: 'rowgroup', THEAD: 'rowgroup', TFOOT: 'rowgroup', TR: 'row', TD: 'cell', FORM: 'form',
      H1: 'heading', H2: 'heading', H3: 'heading', H4: 'heading', H5: 'heading', H6: 'heading', TEXTAREA: 'textbox',
      MAIN: 'main', NAV: 'navigation', HEADER: 'banner', FOOTER: 'contentinfo', ASIDE: 'complementary',
      ARTICLE: 'article', STRONG: 'strong', EM: 'emphasis', CODE: 'code', TIME: 'time', HTML: '', BODY: '',
      DL: '', DT: 'term', DD: 'definition', U: '', S: '', SMALL: '', ABBR: '', CITE: '', SUP: '', SUB: '', SLOT: '',
      SUMMARY: 'button', DIALOG: 'dialog', FIELDSET: 'group', LEGEND: '', IFRAME: 'iframe', PROGRESS: 'progressbar',
    }),
  ]);
  const INPUTS = {
    button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox', radio: 'radio',
    range: 'slider', number: 'spinbutton',
  };
  const TEXTS = words('text email tel url search');
  function roleOf(element, own) {
    if (own.role != null || own.contenteditable != null) return role(element);
    const tag = tagName(element);
    const known = BY_TAG.get(tag);
    if (known != null) return known;
    if (tag === 'A') return hasAttribute(element, 'href') ? 'link' : '';
    if (tag === 'INPUT') {
      const type = element.type;
      if (TEXTS.has(type)) return hasAttribute(element, 'list') ? 'combobox' : type === 'search' ? 'searchbox' : 'textbox';
      return INPUTS[type] ?? (type === 'password' ? 'textbox' : '');
    }
    // Custom elements have no role by themselves.
    return tag.includes('-') ? '' : role(element);
  }

  // Refs are unique across documents: each document has another prefix.
  const prefix = `p${crypto.getRandomValues(new Uint32Array(1))[0].toString(36).slice(-4).padStart(4, '0')}`;
  const numbers = new WeakMap();
  const held = new Map();
  let last = 0;

  function reference(element) {
    let number = numbers.get(element);
    if (number == null) {
      number = ++last;
      numbers.set(element, number);
      held.set(`${prefix}.${number}`, new WeakRef(element));
      if (held.size > 20000) held.delete(held.keys().next().value);
    }
    return `${prefix}.${number}`;
  }

  helmdeck.its.byRef = (ref) => {
    const element = held.get(ref)?.deref();
    return element && get(element, 'isConnected') ? element : null;
  };

  function children(element, tag) {
    if (tag === 'SLOT') {
      const assigned = element.assignedElements({ flatten: true });
      if (assigned.length) return assigned;
    }
    const root = shadowRoot(element);
    return root ? fragmentChildren(root) : elementChildren(element);
  }

  function ownText(element) {
    for (let node = firstNode(shadowRoot(element) ?? element); node; node = nextNode(node)) {
      if (nodeType(node) === Node.TEXT_NODE && /\S/.test(node.data)) return true;
    }
    return false;
  }

  // The attributes of an element that matter here.
  const WATCHED = /^(role|contenteditable|tabindex|onclick|inert|title|alt|placeholder|aria-.*)$/;
  const NOTHING = {};
  function its(element) {
    const all = attributes(element);
    if (all.length === 0) return NOTHING;
    let found = NOTHING;
    for (const { name, value } of all) {
      if (!WATCHED.test(name)) continue;
      if (found === NOTHING) found = {};
      found[name] = value;
    }
    return found;
  }

  // The name of an element: its text, unless something else may name it.
  function called(element, role, own) {
    const simple = own === NOTHING || (own['aria-label'] == null && own['aria-labelledby'] == null && own.title == null && own.alt == null);
    const byText = NAMED_BY_TEXT.has(role) || role === 'button' || role === 'link';
    // A row is what its cells say.
    if (simple && role === 'row') return '';
    if (simple && byText && tagName(element) !== 'INPUT' && !shadowRoot(element)) {
      if (!firstElement(element)) return tidy(textContent(element));
      // What only contains elements is what they say.
      if (!USABLE.has(role) && role !== 'heading' && !ownText(element)) return '';
      if (!query(element, UNUSUAL)) return tidy(said(element));
    }
    return tidy(name(element));
  }

  function value(element, role) {
    const tag = tagName(element);
    if (tag === 'INPUT') {
      if (/^(password|hidden|file|checkbox|radio|button|submit|reset|image)$/.test(element.type)) return '';
      return element.value && isConcealed(element) ? '' : element.value;
    }
    if (tag === 'TEXTAREA') return element.value && isConcealed(element) ? '' : element.value;
    if (tag === 'SELECT') return [...element.selectedOptions].map((option) => tidy(option.label)).join(', ');
    if (tag === 'PROGRESS' || tag === 'METER') return String(element.value);
    const told = attribute(element, 'aria-valuetext') ?? attribute(element, 'aria-valuenow');
    if (told != null) return told;
    return FIELD.has(role) && get(element, 'isContentEditable') ? said(element) : '';
  }

  function states(element, focused, own = its(element), off = !!call(element, 'closest', '[aria-disabled=true],[inert]')) {
    const list = [];
    const tag = tagName(element);
    const add = (state, holds) => holds && list.push(state);
    const control = /^(INPUT|BUTTON|SELECT|TEXTAREA)$/.test(tag);
    const mixed = (control && element.indeterminate === true) || own['aria-checked'] === 'mixed';
    add('checked', !mixed && ((tag === 'INPUT' && element.checked === true) || own['aria-checked'] === 'true'));
    add('mixed', mixed);
    add('pressed', own['aria-pressed'] === 'true');
    add('disabled', off || (control && matches(element, ':disabled')));
    add('selected', own['aria-selected'] === 'true');
    add('focused', element === focused);
    add('required', (control && element.required === true) || own['aria-required'] === 'true');
    add('readonly', (control && element.readOnly === true) || own['aria-readonly'] === 'true');
    const details = tag === 'SUMMARY' && get(element, 'parentElement');
    const open = details && kind(details) === 'DETAILS' ? String(get(details, 'open')) : own['aria-expanded'];
    add('expanded', open === 'true');
    add('collapsed', open === 'false');
    add('invalid', own['aria-invalid'] != null && own['aria-invalid'] !== 'false');
    const password = tag === 'INPUT' && element.type === 'password';
    add('protected', password || (/^(INPUT|TEXTAREA)$/.test(tag) && element.value && isConcealed(element)));
    add('modal', own['aria-modal'] === 'true' || (tag === 'DIALOG' && matches(element, ':modal')));
    return list;
  }

  function focusedElement() {
    let focused = document.hasFocus() ? get(document, 'activeElement') : null;
    for (let root; focused && (root = get(focused, 'shadowRoot')) && root.activeElement; ) focused = root.activeElement;
    return focused;
  }

  // Whether the page shows the element as something to click, without saying so by a role.
  function clickable(element, own = its(element)) {
    if (own.onclick != null || (own.tabindex != null && !own.tabindex.startsWith('-'))) return true;
    if (getComputedStyle(element).cursor !== 'pointer') return false;
    const parent = above(element);
    return !parent || getComputedStyle(parent).cursor !== 'pointer';
  }

  function textBox(element) {
    const range = call(document, 'createRange');
    range.selectNodeContents(element);
    return range.getBoundingClientRect();
  }

  // Where an element is: visible, out of view, or covered by something else.
  function exposure(element, rect) {
    const [left, top] = [Math.max(rect.left, 0), Math.max(rect.top, 0)];
    const [right, bottom] = [Math.min(rect.right, innerWidth), Math.min(rect.bottom, innerHeight)];
    if (right - left < 1 || bottom - top < 1) return 'away';
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    const hit = hitAt(x, y);
    if (!hit || reaches(hit, element) || within(element, hit)) {
      // Scrolled out of a container: an ancestor is hit where the container ends.
      if (hit && hit !== element && within(element, hit) && !within(hit, element)) return clipped(element, x, y) ? 'away' : 'visible';
      return 'visible';
    }
    return clipped(element, x, y) ? 'away' : 'covered';
  }

  function clipped(element, x, y) {
    for (let node = above(element); node; node = above(node)) {
      const { overflowX, overflowY } = getComputedStyle(node);
      if (overflowX === 'visible' && overflowY === 'visible') continue;
      if (node === get(document, 'body') || node === get(document, 'documentElement')) continue;
      const rect = box(node);
      if (x < rect.left || x >= rect.right || y < rect.top || y >= rect.bottom) return true;
    }
    return false;
  }

  // The part of a text that is listed: its beginning, unless what is wanted comes later.
  function excerpt(text, wanted, most) {
    const at = wanted && text.length > most ? text.toLowerCase().indexOf(wanted) : -1;
    if (at < 0 || at + wanted.length <= most) return cut(text, most);
    const from = Math.max(0, at - AROUND);
    return `${from > 0 ? '…' : ''}${cut(text.slice(from), Math.max(most, wanted.length + 2 * AROUND))}`;
  }

  // Whether a long text has what is wanted, and no element in it has all of that.
  function isInnermost(element, tag, text, wanted) {
    const has = (it) => it.toLowerCase().includes(wanted);
    return wanted != null && has(text) && ![...children(element, tag)].some((inner) => has(tidy(said(inner))));
  }

  const isAway = (rect) => rect.bottom <= 0 || rect.right <= 0 || rect.top >= innerHeight || rect.left >= innerWidth;
  const round = (rect) => [rect.x, rect.y, rect.width, rect.height].map((it) => Math.round(it * 10) / 10);

  // With `shown`, a page in the background has none; with `inView`, those out of view are left out.
  // Of a long text, the part with `wanted`, a text in lower case, is listed.
  function elements({ most, shown, inView, wanted = null }) {
    const list = [];
    const focused = focusedElement();
    let [checked, truncated] = [0, false];
    const look = (element, rect) => {
      if (isAway(rect)) return 'away';
      return ++checked > CHECKED ? 'visible' : exposure(element, rect);
    };
    const add = (element, parent, role, name, value, states, rect) => {
      const texts = [excerpt(name, wanted, NAME), excerpt(value, wanted, VALUE)];
      list.push([reference(element), parent, role, ...texts, states, round(rect), look(element, rect)]);
      return list.length - 1;
    };
    const root = shown && get(document, 'hidden') ? null : get(document, 'documentElement');
    // Each with its parent in the list, whether its text is listed, and whether it is disabled.
    const left = root ? [[root, null, false, false]] : [];
    while (left.length) {
      const [element, parent, inText, inOff] = left.pop();
      const tag = tagName(element);
      if (SKIPPED.has(tag)) continue;
      const drawn = isVisible(element, DRAWN);
      if (!drawn && !isVisible(element) && getComputedStyle(element).display !== 'contents') continue;
      if (list.length >= most) {
        truncated = true;
        break;
      }
      const rect = drawn ? box(element) : null;
      if (inView && rect && isAway(rect)) {
        // What it contains may be elsewhere.
        const inner = children(element, tag);
        for (let index = inner.length - 1; index >= 0; index -= 1) left.push([inner[index], parent, inText, inOff]);
        continue;
      }
      const own = its(element);
      const off = inOff || own.inert != null || own['aria-disabled'] === 'true';
      const role = roleOf(element, own);
      const usable = USABLE.has(role);
      let [at, inside] = [parent, inText];
      if (rect && rect.width > 0 && rect.height > 0 && tag !== 'BODY' && tag !== 'HTML') {
        const plainRole = PLAIN.has(role);
        const click = plainRole && tag !== 'LABEL' && clickable(element, own);
        if (!plainRole || click || own['aria-label'] != null) {
          let name = called(element, role, own);
          if (name === '' && (click || usable || (role !== 'row' && ownText(element)))) name = tidy(said(element));
          const shownRole = click ? 'button' : role || 'group';
          at = add(element, parent, shownRole, name, value(element, role), states(element, focused, own, off), rect);
          inside = inside || (name !== '' && (usable || click || NAMED_BY_TEXT.has(role)));
        } else if (!inside && ownText(element)) {
          const text = tidy(said(element));
          const short = text.length <= LONG_TEXT;
          if (text !== '' && (short || isInnermost(element, tag, text, wanted))) {
            at = add(element, parent, 'text', text, '', [], textBox(element));
            inside = short;
          }
        }
      }
      if ((FIELD.has(role) && tag !== 'DIV') || tag === 'svg') continue;
      const below = children(element, tag);
      for (let index = below.length - 1; index >= 0; index -= 1) left.push([below[index], at, inside, off]);
    }
    return {
      list, truncated, url: location.href, title: get(document, 'title'), hidden: get(document, 'hidden'),
      width: innerWidth, height: innerHeight, view: helmdeck.view(),
    };
  }

  // A selector that finds the element again.
  function path(element) {
    const parts = [];
    for (let node = element; node && parts.length < 8; node = get(node, 'parentElement')) {
      const id = attribute(node, 'id');
      const tag = kind(node).toLowerCase();
      if (id && call(call(node, 'getRootNode'), 'querySelectorAll', `#${CSS.escape(id)}`).length === 1) {
        parts.unshift(`#${CSS.escape(id)}`);
        break;
      }
      const parent = get(node, 'parentElement');
      const same = parent ? [...get(parent, 'children')].filter((it) => kind(it) === kind(node)) : [];
      parts.unshift(same.length > 1 ? `${tag}:nth-of-type(${same.indexOf(node) + 1})` : tag);
    }
    return parts.join(' > ');
  }

  function describe(element, selector, near = element) {
    const shown = role(element);
    let selected = null;
    if (selector != null) {
      try {
        selected = !!call(near, 'closest', selector) || call(element, 'matches', selector);
      } catch {
        selected = false;
      }
    }
    const page = kind(element) === 'BODY' || kind(element) === 'HTML';
    const named = shown === '' || USABLE.has(shown) || shown === 'heading' ? tidy(said(element)) : '';
    const text = page ? get(document, 'title') : tidy(name(element)) || named;
    return {
      reference: reference(element), tag: kind(element).toLowerCase(),
      role: page ? 'document' : shown || (kind(element) === 'IFRAME' ? 'iframe' : 'generic'),
      name: cut(text, NAME), value: cut(value(element, shown), VALUE),
      states: states(element, focusedElement()), rect: round(box(element)), selector: path(element),
      selected, frame: null, url: location.href,
    };
  }

  // What is at a point of the viewport: the innermost element that has a role or can be clicked.
  function at({ x, y, selector }) {
    const hit = hitAt(x, y);
    if (!hit) return null;
    const frame = /^(IFRAME|FRAME)$/.test(kind(hit)) ? round(call(hit, 'getBoundingClientRect')) : null;
    let meant = hit;
    for (let node = hit; node && kind(node) !== 'BODY' && kind(node) !== 'HTML'; node = above(node)) {
      if (!PLAIN.has(role(node)) || clickable(node)) {
        meant = node;
        break;
      }
    }
    if (kind(meant) === 'LABEL' && meant.control) meant = meant.control;
    return { ...describe(meant, selector, hit), frame };
  }

  DOING.describe = (element, { matches }) => ({ described: describe(element, matches) });
  Object.assign(helmdeck, { elements, at });
})();
