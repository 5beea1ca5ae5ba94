// The page's own log: what happened to it, as seen by its events and told by its handlers.
const log = [];
globalThis.log = log;
const say = (fact) => {
  if (top === self) log.push(fact);
  else top.postMessage({ say: fact }, '*');
};
addEventListener('message', ({ data }) => {
  if (data?.say) log.push(data.say);
  if (data?.tell) tell(data.tell);
});

// What every page tells without a handler.
const on = (type, then) => document.addEventListener(type, then, true);
const field = (it) => it?.matches?.('input, textarea, [contenteditable]');
on('input', () => say('value'));
on('focusin', () => say('focus'));
on('scroll', () => say('scrolled'));
on('toggle', () => say('shown'));
on('selectionchange', () => {
  if (field(document.activeElement)) say('caret');
});
addEventListener('hashchange', () => say('navigated'));
if (top === self) addEventListener('resize', () => say('resized'));
// A frame that gets the keyboard, wherever in it.
else addEventListener('focus', () => say('focus'));

// What handlers do.
const $ = (id) => document.getElementById(id);
let count = 0;
const tell = (text = 'done') => {
  $('said').textContent = `${text} ${(count += 1)}`;
  say('shown');
};
const tellBelow = () => {
  $('below').textContent = `hidden ${(count += 1)}`;
  say('hidden');
};
const show = (id, shown = true) => {
  $(id).hidden = !shown;
  say('shown');
};
const paint = (id, colour, side = 80) => {
  const pen = $(id).getContext('2d');
  pen.fillStyle = colour;
  pen.fillRect(10, 10, side, side);
  say('shown');
};
const ask = (how, text) => {
  say('dialog');
  return globalThis[how](text);
};
// A page that goes away cannot be asked for its log.
const leave = (fact) => navigator.sendBeacon(`/log?${fact}`);

// Where to act, and where the page is on the screen.
globalThis.place = () => {
  const { x, y, width, height } = (globalThis.acted ?? document.querySelector('[act]') ?? $('stage')).getBoundingClientRect();
  const side = (outerWidth - innerWidth) / 2;
  const [left, above] = [screenX + side, screenY + outerHeight - innerHeight - side];
  return { left, above, x: left + x + width / 2, y: above + y + height / 2 };
};
globalThis.focusActed = () => (globalThis.acted ?? document.querySelector('[act]')).focus();

// What moves beside the element.
const beside = {
  spinner: () => '<div id=spin></div>',
  glow: () => '<div id=glow></div>',
  clock: () => '<p id=clock></p>',
  canvas: () => '<canvas id=moving width=120 height=120></canvas>',
  video: () => '<video id=video width=120 height=120 muted autoplay></video>',
  caret: () => '<input id=caret>',
}[document.documentElement.dataset.beside];
if (beside) {
  $('beside').innerHTML = beside();
  const draw = (canvas) => {
    const pen = canvas.getContext('2d');
    let step = 0;
    const next = () => {
      step += 1;
      pen.fillStyle = `hsl(${(step * 7) % 360} 80% 50%)`;
      pen.fillRect(0, 0, 120, 120);
      pen.fillStyle = '#fff';
      pen.fillRect((step * 3) % 100, 50, 20, 20);
      requestAnimationFrame(next);
    };
    next();
  };
  if ($('clock')) {
    const tick = () => ($('clock').textContent = new Date().toTimeString().slice(0, 8));
    tick();
    setInterval(tick, 1000);
  }
  if ($('moving')) draw($('moving'));
  if ($('video')) {
    const source = Object.assign(document.createElement('canvas'), { width: 120, height: 120 });
    draw(source);
    $('video').srcObject = source.captureStream(15);
  }
}
