// Observes a page around an action, in the same isolated world as element.js. Nothing of it stays
// afterwards, and no content leaves the page: it is compared by hashes.
(() => {
  const { helmdeck } = globalThis;
  if ('watch' in helmdeck) return;

  // As in element.js: a form's own properties are shadowed by its fields.
  const get = (node, name) => Reflect.get(Object.getPrototypeOf(node), name, node);
  const call = (node, name, ...rest) => get(node, name).call(node, ...rest);

  // The documents that are observed: this one and those of same-origin frames in it, with the
  // position of their viewports.
  function* documents(doc = document, x = 0, y = 0, depth = 0) {
    yield { doc, x, y };
    if (depth >= 3) return;
    for (const frame of call(doc, 'querySelectorAll', 'iframe,frame')) {
      let inner = null;
      try {
        inner = get(frame, 'contentDocument');
      } catch {
        // It belongs to another site.
      }
      if (!inner || !inner.documentElement) continue;
      const at = call(frame, 'getBoundingClientRect');
      yield* documents(inner, x + at.x + frame.clientLeft, y + at.y + frame.clientTop, depth + 1);
    }
  }

  // Numbers for elements, so that two looks can tell whether they saw the same one.
  const numbers = new WeakMap();
  let numbered = 0;
  function numberOf(element) {
    if (!numbers.has(element)) numbers.set(element, (numbered += 1));
    return numbers.get(element);
  }

  // A short hash: contents are compared, never sent.
  function hashed(text) {
    let hash = 0x811c9dc5;
    for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    return hash >>> 0;
  }

  // What was inserted into a text; null if something else happened to it.
  function inserted(old, now) {
    const added = now.length - old.length;
    if (added <= 0) return null;
    let start = 0;
    while (start < old.length && old[start] === now[start]) start += 1;
    return now.endsWith(old.slice(start)) ? now.slice(start, start + added) : null;
  }

  // Whether an element has the focus itself. A frame of another origin, or the host of a closed tree, has it for
  // something inside.
  const isFrame = (element) => ['IFRAME', 'FRAME'].includes(get(element, 'tagName'));
  const NATIVE = new Set(['A', 'AREA', 'BUTTON', 'INPUT', 'SELECT', 'SUMMARY', 'TEXTAREA']);
  function ownFocus(element) {
    const name = get(element, 'tagName');
    if (isFrame(element)) return false;
    return NATIVE.has(name) || get(element, 'isContentEditable') || call(element, 'hasAttribute', 'tabindex');
  }

  const CLOCK = /^[^\d]{0,20}\d{1,2}:\d{2}(:\d{2})?([.,]\d+)?[^\d]{0,20}$/;
  const MOST = 32;
  let watching = null;

  function unwatch() {
    watching?.stop();
    watching = null;
  }

  // Begins to note mutations, scrolling and input events, and looks at the page.
  function watch({ ms }) {
    unwatch();
    const seen = { scrolls: 0, inputs: 0, focused: new Set(), mutated: new Map(), clocks: new Set(), last: 0 };
    const stops = [];
    const note = (node, clock) => {
      const element = get(node, 'nodeType') === 1 ? node : get(node, 'parentElement');
      if (!element) return;
      if (clock) {
        seen.clocks.add(element);
        return;
      }
      const now = performance.now();
      const known = seen.mutated.get(element);
      if (known) {
        known.times += 1;
        known.last = now;
      } else if (seen.mutated.size < MOST) {
        seen.mutated.set(element, { times: 1, first: now, last: now });
      } else {
        seen.last = now;
      }
    };
    const words = (nodes) => [...nodes].map((node) => get(node, 'textContent') ?? '').join('');
    const isClock = (change) => {
      const [old, now] = change.type === 'characterData'
        ? [change.oldValue ?? '', get(change.target, 'data') ?? '']
        : [words(change.removedNodes), words(change.addedNodes)];
      return change.type !== 'attributes' && CLOCK.test(old) && CLOCK.test(now);
    };
    for (const { doc } of documents()) {
      const observer = new MutationObserver((changes) => {
        for (const change of changes) note(change.target, isClock(change));
      });
      const all = { subtree: true, childList: true, characterData: true, attributes: true };
      observer.observe(doc, { ...all, characterDataOldValue: true });
      const scrolled = () => {
        seen.scrolls += 1;
        seen.last = performance.now();
      };
      const typed = () => {
        seen.inputs += 1;
        seen.last = performance.now();
      };
      const focused = ({ target }) => {
        if (seen.focused.size < MOST && ownFocus(target)) seen.focused.add(target);
      };
      const options = { capture: true, passive: true };
      doc.addEventListener('focusin', focused, options);
      doc.addEventListener('scroll', scrolled, options);
      doc.addEventListener('input', typed, options);
      stops.push(() => {
        observer.disconnect();
        doc.removeEventListener('focusin', focused, options);
        doc.removeEventListener('scroll', scrolled, options);
        doc.removeEventListener('input', typed, options);
      });
    }
    const late = setTimeout(unwatch, ms);
    watching = {
      seen,
      stop: () => {
        clearTimeout(late);
        for (const stop of stops) stop();
      },
    };
    return look();
  }

  // Whether an element changes all the time, as animations by scripts do.
  const regular = ({ times, first, last }) => times >= 12 && last - first >= 1000;
  const animated = ({ width, height }) => (Math.max(width, height) <= 160 ? 'spinner' : 'animation');

  // Looks at the page, with what happened since `watch`. With `end`, nothing is noted any longer.
  function look(end) {
    const rect = (element, x, y, spin) => {
      const at = call(element, 'getBoundingClientRect');
      // What turns needs the space of its diagonal.
      const round = spin ? Math.hypot(get(element, 'offsetWidth') ?? 0, get(element, 'offsetHeight') ?? 0) : 0;
      const [width, height] = [Math.max(at.width, round), Math.max(at.height, round)];
      return {
        x: x + at.x - (width - at.width) / 2,
        y: y + at.y - (height - at.height) / 2,
        width,
        height,
      };
    };
    const all = [...documents()];
    const place = (element) => {
      const own = get(element, 'ownerDocument');
      const { x, y } = all.find((one) => one.doc === own) ?? { x: 0, y: 0 };
      return rect(element, x, y);
    };
    const inside = (frame) => {
      const { x, y, width, height } = place(frame);
      return { x: x + frame.clientLeft, y: y + frame.clientTop, width, height };
    };
    const shown = ({ x, y, width, height }) =>
      width > 0 && height > 0 && x < innerWidth && y < innerHeight && x + width > 0 && y + height > 0;
    const periodic = [];
    let moving = 0;
    for (const { doc, x, y } of all) {
      for (const animation of doc.getAnimations?.() ?? []) {
        const { effect } = animation;
        const target = effect?.target;
        if (!target || animation.playState !== 'running' || periodic.length >= MOST) continue;
        const { endTime, duration } = effect.getComputedTiming();
        const at = rect(target, x, y, true);
        if (!shown(at)) continue;
        if (endTime === Infinity) {
          periodic.push({ ...at, kind: animated(at), ms: Number(duration) || 0 });
        } else {
          moving = Math.max(moving, Number(endTime) - Number(animation.currentTime ?? 0));
        }
      }
      for (const video of call(doc, 'querySelectorAll', 'video')) {
        const plays = !video.paused && !video.ended && video.readyState > 2;
        const at = rect(video, x, y);
        if (plays && shown(at) && periodic.length < MOST) periodic.push({ ...at, kind: 'video', ms: 0 });
      }
    }
    let active = document.activeElement;
    for (let depth = 0; active && depth < 20; depth += 1) {
      let inner = get(active, 'shadowRoot')?.activeElement ?? null;
      try {
        inner ??= get(active, 'contentDocument')?.activeElement ?? null;
      } catch {
        // It belongs to another site.
      }
      if (!inner) break;
      active = inner;
    }
    let focus = null;
    if (active && active !== document.body && active !== document.documentElement) {
      const editable = get(active, 'isContentEditable') === true;
      const value = active.value ?? (editable ? get(active, 'textContent') : '');
      let selection = [null, null];
      try {
        selection = [active.selectionStart ?? null, active.selectionEnd ?? null];
      } catch {
        // This kind of field has none.
      }
      const number = numberOf(active);
      const text = String(value ?? '');
      if (watching) watching.text ??= { number, text };
      const added = watching?.text?.number === number ? inserted(watching.text.text, text) : null;
      focus = {
        number,
        inserted: added === null ? null : hashed(added),
        value: hashed(`${value ?? ''}\u0000${active.checked ?? ''}\u0000${active.selectedIndex ?? ''}`),
        caret: hashed(`${selection[0]} ${selection[1]}`),
        rect: ownFocus(active) ? place(active) : null,
        // The page of the frame is asked, too.
        frame: isFrame(active) ? inside(active) : null,
      };
    }
    const seen = watching?.seen;
    const connected = (element) => get(element, 'isConnected');
    const known = [...(seen?.mutated ?? [])].filter(([element]) => connected(element));
    const mutated = known.filter(([, times]) => !regular(times)).map(([element]) => place(element));
    for (const [element, times] of known.filter(([, times]) => regular(times))) {
      const at = place(element);
      if (shown(at)) periodic.push({ ...at, kind: animated(at), ms: (times.last - times.first) / times.times });
    }
    const clocks = [...(seen?.clocks ?? [])].filter(connected).slice(0, MOST).map(place).filter(shown);
    const happened = last();
    if (end) unwatch();
    return {
      active: document.hasFocus(),
      visible: document.visibilityState === 'visible',
      view: helmdeck.view(),
      size: { width: innerWidth, height: innerHeight },
      focus,
      periodic: [...periodic, ...clocks.map((at) => ({ ...at, kind: 'clock', ms: 1000 }))],
      moving: Math.max(0, Math.min(moving, 60000)),
      ago: happened > 0 ? performance.now() - happened : null,
      focused: [...(seen?.focused ?? [])].filter(connected).map(place).filter(shown),
      scrolls: seen?.scrolls ?? 0,
      inputs: seen?.inputs ?? 0,
      mutated: mutated.filter(shown),
      hidden: mutated.length - mutated.filter(shown).length,
    };
  }

  // When something last happened that does not happen all the time.
  function last() {
    const { seen } = watching ?? {};
    if (!seen) return 0;
    const single = [...seen.mutated.values()].filter((one) => !regular(one));
    return Math.max(seen.last, ...single.map((one) => one.last));
  }

  // Waits until nothing has happened for `quiet` milliseconds, or `ms` are over.
  async function calm({ quiet, ms }) {
    const end = performance.now() + ms;
    for (;;) {
      const now = performance.now();
      const { moving } = look();
      const wait = Math.max(last() + quiet - now, moving > 20 && moving <= 2000 ? moving + quiet : 0);
      if (wait <= 0 || now >= end) return look();
      await new Promise((resolve) => setTimeout(resolve, Math.min(wait, end - now)));
    }
  }

  // Waits until the page has drawn what its last events changed: the second frame begins when the
  // first has been handed over. A hidden page draws nothing; on a busy machine, a frame takes long.
  function drawn() {
    return new Promise((resolve) => {
      const patience = document.visibilityState === 'visible' ? 1000 : 50;
      const late = setTimeout(() => resolve(look()), patience);
      requestAnimationFrame(() =>
        requestAnimationFrame(() =>
          setTimeout(() => {
            clearTimeout(late);
            resolve(look());
          }, 0),
        ),
      );
    });
  }

  Object.assign(helmdeck, { watch, look, calm, drawn });
})();
