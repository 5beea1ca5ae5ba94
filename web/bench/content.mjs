// The page that both desktops show: full of text, with what the bench clicks and reads.
//
// Beside the text it has a box of 240x60 that changes colour on a click, a box that starts and stops
// scrolling, and the same bar at the top and at the bottom: a magenta block, then 16 blocks with the time in
// milliseconds and 16 with the number of the frame, black for 0 and white for 1, lowest bit first. A picture
// whose two bars differ is torn. Short, because an agent types it.

export const title = "bench";
export const bits = 32;
/** The width and height of one block of a bar. */
export const block = 12;

export const html =
  `<title>${title}</title><style>b{position:fixed;top:40px;width:240px;height:60px}` +
  "canvas{position:fixed;left:300px}p{font:14px sans-serif}</style><body bgcolor=fafafa>" +
  "<b id=flip style=left:40px;background:#d00000></b><b id=go style=left:340px;background:#0000d0></b>" +
  `<canvas width=${block * (bits + 1)} height=${block} style=top:0></canvas>` +
  `<canvas width=${block * (bits + 1)} height=${block} style=bottom:0></canvas><script>` +
  "h='';for(i=1;i<300;i++)h+='<p>'+i+' The quick brown fox jumps over the lazy dog, line after line.'.repeat(3);" +
  "document.write(h);n=f=run=0;" +
  "draw=()=>{t=Date.now();n++;for(c of document.querySelectorAll('canvas')){g=c.getContext('2d');" +
  `g.fillStyle='#f0f';g.fillRect(0,0,${block},${block});for(j=0;j<${bits};j++){` +
  `g.fillStyle=(j<16?t>>j:n>>j-16)&1?'#fff':'#000';g.fillRect(${block}+${block}*j,0,${block},${block})}}};` +
  "step=()=>{if(run){scrollBy(0,6);if(scrollY+innerHeight>document.body.offsetHeight-20)scrollTo(0,0);" +
  "draw();requestAnimationFrame(step)}};draw();" +
  "flip.onclick=()=>flip.style.background=(f=!f)?'#00a000':'#d00000';" +
  "go.onclick=()=>{run=!run;step()}</script>";

/** The page as an address. */
export const address = `data:text/html,${html.replaceAll("%", "%25").replaceAll("#", "%23")}`;
