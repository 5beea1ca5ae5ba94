/**
 * xterm.js writes style elements and style attributes, which the page's content security policy refuses.
 * Style sheets and styles that a script makes are allowed, so xterm.js gets elements that use those.
 */
const native = document.createElement.bind(document);

/** For the option `documentOverride`: this document, with elements that need no inline style. */
export const withoutInlineStyle: Document = new Proxy(document, {
  get: (target, name) => {
    if (name === "createElement") return create;
    const value: unknown = Reflect.get(target, name, target);
    return typeof value === "function" ? (value.bind(target) as unknown) : value;
  },
});

/** Does the same to `document` itself while `work` runs: the scroll bar of xterm.js 6 ignores the option. */
export function avoidingInlineStyle(work: () => void): void {
  document.createElement = create as typeof document.createElement;
  try {
    work();
  } finally {
    Reflect.deleteProperty(document, "createElement");
  }
}

function create(tag: string, options?: ElementCreationOptions): HTMLElement {
  if (tag === "style") return styleSheet();
  const element = native(tag, options);
  if (tag === "span") element.setAttribute = setAttribute;
  return element;
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === "style") this.style.cssText = value;
  else HTMLElement.prototype.setAttribute.call(this, name, value);
}

/** An element whose text is a style sheet for as long as the element is there. */
function styleSheet(): HTMLElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const element = native("template");
  Object.defineProperty(element, "textContent", { set: (css: string) => sheet.replaceSync(css) });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
    HTMLElement.prototype.remove.call(element);
  };
  return element;
}
