//! The pages that the benchmark acts on.

use std::{fmt::Write as _, time::Duration};

use helmdeck_testkit::Page;

/// One page for all interactions: `do` says what happens at a click, `ms` how long it takes, and
/// `with` what else moves in view. What moves on its own has the attribute `data-periodic`.
const INTERACTION: &str = r#"<!doctype html><title>bench</title><style>
* { font: 16px sans-serif; box-sizing: border-box }
body { margin: 0; background: #fff }
.at { position: fixed; left: 40px; width: 240px; height: 40px }
#go { top: 40px } #field { top: 100px }
#out { position: fixed; left: 40px; top: 170px; width: 620px }
#extra { position: fixed; left: 760px; top: 40px }
.row { height: 30px; background: #eef; margin: 4px 0; padding: 4px }
.box { width: 120px; height: 80px; background: #063 }
.spin { width: 40px; height: 40px; border: 6px solid #ccc; border-top-color: #06c;
  border-radius: 50%; animation: turn 1s linear infinite }
@keyframes turn { to { transform: rotate(360deg) } }
@keyframes slide { from { transform: translateX(400px) } }
</style><div id=out></div><div id=extra data-periodic></div><script>
const query = new URLSearchParams(location.search);
const [kind, ms, extra] = [query.get('do'), Number(query.get('ms')), query.get('with')];
const make = (parent, tag, props = {}) => {
  const element = Object.assign(document.createElement(tag), props);
  parent.append(element);
  return element;
};
const tags = { select: 'select', link: 'a' };
const go = make(document.body, tags[kind] ?? 'button', { id: 'go', className: 'at', textContent: 'Go' });
const field = make(document.body, 'input', { id: 'field', className: 'at', autocomplete: 'off' });
const add = (text) => make(out, 'div', { className: 'row', textContent: text });
const any = () => Math.random().toString().slice(2);
const read = (path) => fetch(path).then((answer) => answer.text());
// Another address each time, so that no interaction depends on an earlier one.
const slow = () => read(`/slow/${any()}?ms=${ms}`);
const steps = async (wait) => {
  for (const step of ['one', 'two', 'three']) add(`${step} ${(await wait()) ?? ''}`);
};
const later = () => new Promise((done) => setTimeout(done, ms));
const moves = (property, from, to) => {
  const box = make(out, 'div', { className: 'box' });
  box.style[property] = from;
  box.style.transition = `${property} ${ms}ms`;
  return () => { box.style[property] = to };
};
const menu = () => {
  const list = make(out, 'div');
  for (const name of ['Open', 'Save', 'Close']) make(list, 'div', { className: 'row', textContent: name });
  return list;
};
const modal = () => {
  const asked = make(document.body, 'dialog', { textContent: 'Are you sure?' });
  asked.style.cssText = `opacity: 0; transition: opacity ${ms}ms`;
  asked.showModal();
  requestAnimationFrame(() => { asked.style.opacity = 1 });
};
const busy = async () => {
  const spin = make(out, 'div', { className: 'spin' });
  const text = await slow();
  spin.remove();
  add(text);
};
const kinds = {
  now: () => add('Saved'),
  fetch: () => slow().then(add),
  // The next page of a list, from the address that gave the first one.
  more: () => read(`/items?page=2&ms=${ms}`).then(add),
  navigate: () => { location = `/next?ms=${ms}` },
  tab: () => open('/next'),
  menu,
  fading: () => { menu().animate([{ opacity: 0 }, { opacity: 1 }], ms) },
  toast: () => { add('Saved').style.animation = `slide ${ms}ms` },
  dialog: () => alert('Hello'),
  modal,
  busy,
  list: () => steps(slow),
  timers: () => steps(later),
  image: () => { make(out, 'img', { src: `/image/${any()}?ms=${ms}` }) },
  check: () => { make(out, 'input', { type: 'checkbox', checked: true }); add('Checked') },
};
const prepared = {
  transition: () => moves('transform', 'none', 'translateX(400px)'),
  fade: () => moves('opacity', '1', '0.1'),
  unfold: () => moves('height', '80px', '300px'),
};
const act = prepared[kind]?.() ?? kinds[kind] ?? (() => {});
if (kind === 'select') ['Go', 'Red', 'Green', 'Blue'].forEach((text) => make(go, 'option', { textContent: text }));
else if (kind === 'link') go.href = '/next';
else go.onclick = act;
if (kind === 'more') read('/items?page=1').then(add);
if (kind === 'suggest') field.oninput = () => { if (field.value.endsWith('d')) slow().then(add) };
if (kind === 'scroll') for (let n = 0; n < 80; n += 1) {
  make(document.body, 'p', { textContent: `line ${n}`, style: 'margin-left: 400px' });
}
// A click on the button leaves the caret where it is.
if (extra === 'caret') go.onmousedown = (event) => event.preventDefault();
const paint = (canvas) => {
  const draw = canvas.getContext('2d');
  let turn = 0;
  return () => {
    turn += 7;
    draw.fillStyle = `hsl(${turn % 360} 80% 50%)`;
    draw.fillRect(0, 0, canvas.width, canvas.height);
  };
};
const place = document.getElementById('extra');
if (extra === 'spinner') make(place, 'div', { className: 'spin' });
if (extra === 'clock') {
  const clock = make(place, 'div');
  const tick = () => { clock.textContent = new Date().toLocaleTimeString('en-GB') };
  tick();
  setInterval(tick, 1000);
}
if (extra === 'canvas') {
  const frame = paint(make(place, 'canvas', { width: 160, height: 120 }));
  const next = () => { frame(); requestAnimationFrame(next) };
  next();
}
if (extra === 'video') {
  const canvas = Object.assign(document.createElement('canvas'), { width: 160, height: 120 });
  setInterval(paint(canvas), 40);
  make(place, 'video', { muted: true, srcObject: canvas.captureStream(25) }).play();
}
</script>"#;

/// A form with a menu and a long list below, for the scripted task.
const FORM: &str = r#"<!doctype html><title>form</title><style>
* { font: 16px sans-serif; box-sizing: border-box }
body { margin: 0; background: #fff; height: 3000px }
form > * { position: absolute; left: 40px; width: 300px; height: 32px }
#menu { position: absolute; left: 500px; top: 40px; width: 160px; height: 32px }
#list { position: absolute; left: 500px; top: 76px; width: 160px; background: #eef }
#said { position: absolute; left: 500px; top: 300px }
p { position: absolute; left: 800px }
</style><form onsubmit="event.preventDefault(); said.textContent = 'Sent'">
<input id=f0 style="top: 40px" placeholder=Name><input id=f1 style="top: 90px" placeholder=Street>
<input id=f2 style="top: 140px" placeholder=City><input id=f3 style="top: 190px" placeholder=Country>
<select id=f4 style="top: 240px"><option>Basic<option>Plus<option>Pro</select>
<input id=f5 type=checkbox style="top: 290px; width: 32px">
<textarea id=f6 style="top: 340px; height: 100px"></textarea>
<button id=f7 style="top: 460px">Send</button></form>
<button id=menu onclick="list.hidden = !list.hidden">Menu</button>
<div id=list hidden><div onclick="pick('Open')">Open</div><div onclick="pick('Save')">Save</div></div>
<div id=said></div><script>
const pick = (text) => { said.textContent = text; list.hidden = true };
for (let n = 0; n < 70; n += 1) {
  const line = document.createElement('p');
  line.textContent = `Line ${n} of a long page with some words in it`;
  line.style.top = `${n * 40}px`;
  document.body.append(line);
}
</script>"#;

/// What a path shows.
pub fn page(path: &str) -> Page {
    let (name, query) = path.split_once('?').unwrap_or((path, ""));
    let ms = query.split('&').find_map(|part| part.strip_prefix("ms=")?.parse().ok());
    let delay = Duration::from_millis(ms.unwrap_or(0));
    match name {
        "/act" => Page::html(INTERACTION),
        "/form" => Page::html(FORM),
        "/items" => Page::html("Answered").after(delay),
        "/many" => Page::html(many()),
        "/text" => Page::html(text(query)),
        "/click" => Page::html(CLICKS),
        _ if name.starts_with("/slow/") => Page::html("Answered").after(delay),
        _ if name.starts_with("/image/") => image().after(delay),
        _ => Page::html("<title>next</title><h1>Next page</h1><p>Another document.").after(delay),
    }
}

/// A page whose text changes at every click.
const CLICKS: &str = "<!doctype html><title>clicks</title><body style='font: 20px sans-serif'>\
    <button style='width: 300px; height: 60px' onclick='said.textContent = ++n'>Count</button>\
    <p id=said></p><script>let n = 0</script>";

fn image() -> Page {
    let body = "<svg xmlns='http://www.w3.org/2000/svg' width='300' height='200'>\
        <rect width='300' height='200' fill='#836'/></svg>";
    Page { headers: "content-type: image/svg+xml\r\n".to_owned(), ..Page::html(body) }
}

/// More than a thousand elements that are all in view.
fn many() -> String {
    let mut body = "<!doctype html><title>many</title><style>body { margin: 0; font: 9px sans-serif }\
        button { font: inherit; width: 44px; height: 20px; padding: 0; margin: 1px; border: 1px solid }\
        </style>"
        .to_owned();
    for number in 0..1200 {
        let _ = write!(body, "<button>n {number}</button>");
    }
    body
}

/// Text that only a picture has: no element has it.
fn text(query: &str) -> String {
    format!(
        "<!doctype html><title>text</title><body style='margin: 0'>\
         <canvas id=c width=1900 height=940></canvas><script>\
         const draw = c.getContext('2d'); draw.font = '18px sans-serif';\
         for (let y = 0; y < 36; y += 1)\
           draw.fillText('Row ' + y + ' of page {query} has plain words that people read on a screen \
         every day, such as invoice, harbour, and window', 20, 30 + y * 25);\
         draw.fillText('Zanzibar ferry', 1500, 500)</script>"
    )
}
