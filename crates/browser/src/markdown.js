// Converts a page or one element to a list of Markdown blocks.
//
// Runs in an isolated world, so a page cannot replace the functions used here. But form fields
// shadow the properties of their form, so those are read through prototype getters.
function (root, limit) {
  const MAX_DEPTH = 400
  const MAX_NODES = 500000
  const MAX_QUOTES = 8

  const getter = (type, name) => {
    const get = Object.getOwnPropertyDescriptor(type.prototype, name).get
    return (node) => get.call(node)
  }
  const childNodes = getter(Node, 'childNodes')
  const nodeType = getter(Node, 'nodeType')
  const textContent = getter(Node, 'textContent')
  const localName = getter(Element, 'localName')
  const shadowRoot = getter(Element, 'shadowRoot')
  const parentElement = getter(Node, 'parentElement')
  const bodyOf = getter(Document, 'body')
  const titleOf = getter(Document, 'title')
  const attribute = (element, name) => Element.prototype.getAttribute.call(element, name) ?? ''
  const isVisible = (element) => Element.prototype.checkVisibility.call(element, { visibilityProperty: true })
  const matches = (element, selector) => Element.prototype.matches.call(element, selector)
  const within = (element, selector) => Element.prototype.closest.call(element, selector) !== null
  const all = (element, selector) => [...Element.prototype.querySelectorAll.call(element, selector)]

  const SKIPPED = new Set(['script', 'style', 'noscript', 'template', 'head', 'svg', 'canvas', 'video',
    'audio', 'object', 'embed', 'button', 'input', 'select', 'textarea', 'datalist', 'progress', 'meter'])
  const BLOCKS = new Set(['address', 'article', 'aside', 'blockquote', 'body', 'caption', 'center', 'dd',
    'details', 'dialog', 'div', 'dl', 'dt', 'fieldset', 'figcaption', 'figure', 'footer', 'form', 'h1',
    'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'hr', 'html', 'iframe', 'legend', 'li', 'main', 'nav', 'ol',
    'p', 'pre', 'search', 'section', 'summary', 'table', 'ul'])
  const ASIDE = 'aside, footer, [role=complementary], [role=contentinfo]'
  const NAVIGATION = 'nav, [role=navigation], [role=search], [role=menu], [role=menubar], [role=toolbar]'

  let seen = 0
  let said = 0
  let boilerplate = true

  // The byte limit is reached before as many characters.
  const isFull = () => said > limit || seen > MAX_NODES

  const isSkipped = (element) => {
    const tag = localName(element)
    if (SKIPPED.has(tag) || attribute(element, 'aria-hidden') === 'true') return true
    if (boilerplate && element !== root) {
      if (matches(element, NAVIGATION)) return true
      if (matches(element, ASIDE) && !within(element, 'main, article, [role=main]')) return true
    }
    if (tag === 'slot' || isVisible(element)) return false
    return getComputedStyle(element).display !== 'contents'
  }

  const children = (node) => {
    if (nodeType(node) !== Node.ELEMENT_NODE) return [...childNodes(node)]
    const shadow = shadowRoot(node)
    if (shadow) return [...childNodes(shadow)]
    if (localName(node) === 'slot') {
      const assigned = HTMLSlotElement.prototype.assignedNodes.call(node, { flatten: true })
      if (assigned.length > 0) return assigned
    }
    return [...childNodes(node)]
  }

  const isBlock = (element) => {
    const tag = localName(element)
    if (BLOCKS.has(tag)) return true
    if (tag === 'slot' || tag === 'br' || tag === 'img') return false
    const display = getComputedStyle(element).display
    return !display.startsWith('inline') && !display.startsWith('ruby') && display !== 'contents'
  }

  const holdsBlocks = (node, depth = 0) => depth < 20 && children(node).some((child) =>
    nodeType(child) === Node.ELEMENT_NODE && (BLOCKS.has(localName(child)) || holdsBlocks(child, depth + 1)))

  const squeeze = (text) => text.replace(/[ \t\n\r\f]+/g, ' ')
  const escape = (text) => text
    .replace(/[\\`*]/g, '\\$&')
    .replace(/(^|\W)_|_(?=\W|$)/g, (match) => match.replace('_', '\\_'))
    .replace(/<(?=[a-zA-Z/!])/g, '\\<')
    .replace(/\](?=[([])/g, '\\]')
  const escapeStart = (text) => text
    .replace(/^(#{1,6}|[-+>])(?=\s|$)/, '\\$1')
    .replace(/^(\d{1,9})([.)])(?=\s|$)/, '$1\\$2')

  // Puts marks around a text, with no spaces inside them.
  const marked = (text, mark) => {
    const [, before, inner, after] = text.match(/^(\s*)([^]*?)(\s*)$/)
    return inner === '' ? text : `${before}${mark}${inner}${mark}${after}`
  }

  const code = (text) => {
    const inner = squeeze(text).trim()
    if (inner === '') return ''
    const longest = Math.max(0, ...(inner.match(/`+/g) ?? []).map((run) => run.length))
    const fence = '`'.repeat(longest + 1)
    const pad = inner.startsWith('`') || inner.endsWith('`') ? ' ' : ''
    return fence + pad + inner + pad + fence
  }

  const address = (url) => url.replace(/[\s()<>]/g, (c) => encodeURIComponent(c).replace('(', '%28').replace(')', '%29'))

  const image = (element) => {
    const alt = squeeze(attribute(element, 'alt')).trim()
    if (alt === '') return ''
    const source = element.currentSrc || element.src || ''
    return /^https?:/.test(source) ? `![${escape(alt)}](${address(source)})` : `![${escape(alt)}]`
  }

  const link = (element, inner) => {
    const fallback = attribute(element, 'aria-label') || attribute(element, 'title')
    const text = squeeze(inner).trim() || escape(squeeze(fallback).trim())
    const raw = attribute(element, 'href')
    const href = typeof element.href === 'string' ? element.href : ''
    // Anchor marks that link to their own heading.
    if (text === '' || (raw.startsWith('#') && /^[#¶§🔗]$/u.test(text))) return ''
    const [, before] = inner.match(/^(\s*)/)
    const after = inner.trim() === '' ? '' : inner.match(/(\s*)$/)[1]
    if (!/^(https?|mailto|tel|ftp|file):/.test(href)) return before + text + after
    if (text === href) return `${before}<${href}>${after}`
    return `${before}[${text}](${address(href)})${after}`
  }

  // The inline text of a node.
  const inline = (node, state) => {
    seen += 1
    if (isFull()) return ''
    if (nodeType(node) === Node.TEXT_NODE) {
      const text = squeeze(textContent(node))
      said += text.length
      return escape(text)
    }
    if (nodeType(node) !== Node.ELEMENT_NODE || isSkipped(node)) return ''
    const tag = localName(node)
    if (state.depth > MAX_DEPTH) {
      const text = squeeze(textContent(node))
      said += text.length
      return escape(text)
    }
    const inner = (more = {}) => children(node)
      .map((child) => inline(child, { ...state, ...more, depth: state.depth + 1 })).join('')
    switch (tag) {
      case 'br': return state.flat ? ' ' : '\\\n'
      case 'img': return image(node)
      case 'a': return state.link ? inner() : link(node, inner({ link: true, flat: true }))
      case 'b': case 'strong': return state.bold ? inner() : marked(inner({ bold: true }), '**')
      case 'i': case 'em': case 'cite': case 'dfn': case 'var':
        return state.italic ? inner() : marked(inner({ italic: true }), '*')
      case 'del': case 's': return marked(inner(), '~~')
      case 'code': case 'kbd': case 'samp': case 'tt': {
        const text = textContent(node)
        said += text.length
        return code(text)
      }
      case 'q': return `“${inner()}”`
      case 'math': {
        const tex = all(node, 'annotation[encoding="application/x-tex"]')[0]
        return tex ? `$${squeeze(textContent(tex)).trim()}$` : inner()
      }
      default: return isBlock(node) ? ` ${inner()} ` : inner()
    }
  }

  const line = (node, state) => squeeze(children(node)
    .map((child) => inline(child, { ...state, flat: true, depth: state.depth + 1 })).join('')).trim()

  const language = (element) => {
    const inner = all(element, 'code')[0]
    let around = element
    for (let step = 0; step < 3 && around; step += 1) {
      for (const candidate of step === 0 && inner ? [inner, around] : [around]) {
        const found = attribute(candidate, 'class').match(/(?:^|\s)(?:language|lang|highlight-source|highlight|brush:?)-?\s*([\w+#]+)/i)
        if (found && !/^(none|text|plain|default|code|wrapper)$/i.test(found[1])) return found[1].toLowerCase()
        const named = attribute(candidate, 'data-lang') || attribute(candidate, 'data-language')
        if (/^[\w+#-]+$/.test(named)) return named.toLowerCase()
      }
      around = parentElement(around)
    }
    return ''
  }

  const preformatted = (element) => {
    const text = (element.innerText ?? textContent(element)).replace(/\r\n?/g, '\n').replace(/^\n+|\s+$/g, '')
    said += text.length
    if (text === '') return []
    const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length))
    const fence = '`'.repeat(longest + 1)
    return [`${fence}${language(element)}\n${text}\n${fence}`]
  }

  const indent = (text, by) => text.replace(/\n(?!\n|$)/g, '\n' + ' '.repeat(by))

  // The blocks of a list item as one text. A list directly follows the line before it.
  const item = (blocks) => blocks.reduce((text, block) =>
    text + (text === '' ? '' : /^([-*]|\d+\.) /.test(block) ? '\n' : '\n\n') + block, '')

  const list = (element, state) => {
    const ordered = localName(element) === 'ol'
    let number = Number.parseInt(attribute(element, 'start'), 10)
    if (Number.isNaN(number)) number = 1
    const items = []
    for (const child of children(element)) {
      if (nodeType(child) === Node.TEXT_NODE) {
        const text = inline(child, { ...state, depth: state.depth + 1 }).trim()
        if (text !== '') items.push(`- ${text}`)
        continue
      }
      if (nodeType(child) !== Node.ELEMENT_NODE || isSkipped(child)) continue
      const tag = localName(child)
      if (tag === 'ul' || tag === 'ol') {
        // Invalid HTML, but common: a nested list belongs to the item before it.
        const inner = list(child, { ...state, depth: state.depth + 1 }).join('\n')
        if (items.length > 0 && inner !== '') items.push(indent('    ' + inner, 4))
        else if (inner !== '') items.push(inner)
        continue
      }
      const text = item(blocks(child, { ...state, depth: state.depth + 1 }))
      const value = Number.parseInt(attribute(child, 'value'), 10)
      if (ordered && !Number.isNaN(value)) number = value
      if (text === '') continue
      const mark = ordered ? `${number}. ` : '- '
      number += 1
      items.push(mark + indent(text, mark.length))
      if (isFull()) break
    }
    return items.length === 0 ? [] : [items.join('\n')]
  }

  const definitions = (element, state) => {
    const items = []
    const visit = (node) => {
      for (const child of children(node)) {
        if (nodeType(child) !== Node.ELEMENT_NODE || isSkipped(child) || isFull()) continue
        const tag = localName(child)
        if (tag === 'dt') {
          const term = line(child, { ...state, bold: true })
          if (term !== '') items.push([`**${term}**`])
        } else if (tag === 'dd') {
          if (items.length === 0) items.push([])
          items[items.length - 1].push(...blocks(child, { ...state, depth: state.depth + 1 }))
        } else if (tag === 'div') visit(child)
      }
    }
    visit(element)
    const written = items.filter((parts) => parts.length > 0)
    return written.length === 0 ? [] : [written.map((parts) => '- ' + indent(item(parts), 2)).join('\n')]
  }

  const rowsOf = (table) => all(table, 'tr').filter((row) => row.closest('table') === table && !isSkipped(row))

  const table = (element, state) => {
    const rows = rowsOf(element)
    const cellsOf = (row) => [...row.children].filter((cell) => /^t[dh]$/.test(localName(cell)))
    const widest = Math.max(0, ...rows.map((row) => cellsOf(row).length))
    const layout = attribute(element, 'role') === 'presentation' || attribute(element, 'role') === 'none' ||
      widest < 2 || all(element, 'table, ul table').length > 0
    if (layout) {
      return rows.flatMap((row) => cellsOf(row).flatMap((cell) => isSkipped(cell) ? [] : blocks(cell, { ...state, depth: state.depth + 1 })))
    }
    const caption = all(element, 'caption')[0]
    const lines = []
    for (const row of rows) {
      if (isFull()) break
      const cells = cellsOf(row).flatMap((cell) => {
        const text = isSkipped(cell) ? '' : line(cell, state).replace(/\|/g, '\\|')
        const span = Math.min(Math.max(Number.parseInt(attribute(cell, 'colspan'), 10) || 1, 1), 50)
        return [text, ...Array(span - 1).fill('')]
      })
      if (cells.every((cell) => cell === '')) continue
      lines.push(cells)
    }
    const width = Math.max(0, ...lines.map((cells) => cells.length))
    if (width === 0) return []
    const written = lines.map((cells) => `| ${[...cells, ...Array(width - cells.length).fill('')].join(' | ')} |`)
    written.splice(1, 0, `|${' --- |'.repeat(width)}`)
    const title = caption && !isSkipped(caption) ? line(caption, state) : ''
    return title === '' ? [written.join('\n')] : [title, written.join('\n')]
  }

  const frame = (element, state) => {
    let document = null
    try { document = element.contentDocument } catch { /* another site's */ }
    return document && bodyOf(document) ? blocks(bodyOf(document), { ...state, depth: state.depth + 1 }) : []
  }

  // The blocks of an element with special handling; null for others.
  const special = (element, state) => {
    const tag = localName(element)
    switch (tag) {
      case 'h1': case 'h2': case 'h3': case 'h4': case 'h5': case 'h6': {
        const text = line(element, { ...state, bold: true })
        return text === '' ? [] : [`${'#'.repeat(Number(tag[1]))} ${text}`]
      }
      case 'ul': case 'ol': case 'menu': return list(element, state)
      case 'dl': return definitions(element, state)
      case 'pre': return preformatted(element)
      case 'hr': return ['---']
      case 'table': return table(element, state)
      case 'iframe': case 'frame': return frame(element, state)
      case 'blockquote': {
        const quotes = state.quotes + 1
        const inner = blocks(element, { ...state, quotes, depth: state.depth + 1 }).join('\n\n')
        if (quotes > MAX_QUOTES) return inner === '' ? [] : [inner]
        return inner === '' ? [] : [inner.replace(/^/gm, '> ').replace(/^> $/gm, '>')]
      }
      default: return null
    }
  }

  // The content of a node as blocks.
  const blocks = (node, state) => {
    const found = []
    let run = ''
    const end = () => {
      const text = run.replace(/[ \t]*\\\n[ \t]*/g, '\\\n').replace(/ {2,}/g, ' ').trim().replace(/(\\\n)+$|^(\\\n)+/g, '').trim()
      if (text !== '') found.push(escapeStart(text))
      run = ''
    }
    const visit = (from, depth) => {
      for (const child of children(from)) {
        if (isFull()) return
        const element = nodeType(child) === Node.ELEMENT_NODE
        if (!element || depth > MAX_DEPTH) {
          run += inline(child, { ...state, depth })
          continue
        }
        seen += 1
        if (isSkipped(child)) continue
        const written = special(child, { ...state, depth })
        if (written) {
          end()
          found.push(...written)
        } else if (isBlock(child)) {
          end()
          visit(child, depth + 1)
          end()
        } else if (localName(child) !== 'a' && holdsBlocks(child)) {
          visit(child, depth + 1)
        } else {
          run += inline(child, { ...state, depth })
        }
      }
    }
    visit(node, state.depth)
    end()
    return found
  }

  // The part of the page with most of its text, if there is one.
  const best = (body) => {
    const length = (element) => (element.innerText ?? '').length
    const whole = length(body)
    const outside = all(body, `${NAVIGATION}, ${ASIDE}`)
      .filter((element) => !within(element, 'main, article, [role=main]') &&
        !within(parentElement(element) ?? element, `${NAVIGATION}, ${ASIDE}`))
      .reduce((sum, element) => sum + length(element), 0)
    for (const selector of ['main, [role=main]', 'article']) {
      const parts = all(body, selector).slice(0, 50).map((element) => [length(element), element])
      const [most, element] = parts.reduce((a, b) => (b[0] > a[0] ? b : a), [0, null])
      if (element && most * 2 > whole - outside) return element
    }
    return body
  }

  const start = { depth: 0, quotes: 0, bold: false, italic: false, link: false, flat: false }
  const written = (element) => special(element, start) ?? blocks(element, start)
  const answer = (blocks) => ({ title: titleOf(document).slice(0, 300), blocks, full: isFull() })
  if (root) return answer(written(root))
  const body = bodyOf(document)
  if (!body) return answer([])
  let result = written(best(body))
  if (result.length === 0) {
    // A page may consist only of what is boilerplate elsewhere.
    boilerplate = false
    seen = said = 0
    result = written(body)
  }
  return answer(result)
}
