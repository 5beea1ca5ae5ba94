/**
 * xterm.js writes style elements and style attributes, which the page's content security policy refuses.
 * Style sheets and styles set by scripts are allowed, so xterm.js gets elements that use those. Its option
 * `documentOverride` would be the right place, but its rows and its scroll bar ignore it.
 */
const native = document.createElement.bind(document);

/** Makes xterm.js work without inline styles, until the returned function is called. */
export function avoidInlineStyles(): () => void {
  document.createElement = create as typeof document.createElement;
  return () => void Reflect.deleteProperty(document, "createElement");
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

/** An element whose text is a style sheet while the element is attached. */
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
