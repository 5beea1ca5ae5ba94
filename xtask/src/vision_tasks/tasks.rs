//! The forty tasks.

use super::task::{
    Do::{self, Click, Double, Key, Middle, Named, Right, Scroll, Type},
    Oracle::{self, Bar, Logged, Tab},
    Start::{self, Gtk, Page, Xterm},
    Task,
};

/// Tasks without conditions: the instruction alone says what is wanted.
#[rustfmt::skip]
const PLAIN: &[Task] = &[
    plain("112/focus-url-bar", "Focus the URL bar", Page("<p>A page"), &[Named("Address and search bar")], Bar),
    small("112/new-tab", "Press New Tab", Page("<p>A page<script>setInterval(()=>post('alive'),300)</script>"), &[Named("New Tab")], Tab),
    plain("112/centre", "Click the centre of the window", Page("<div class=all onclick=\"did('centre')\">wide area"), &[Middle], Logged(&["centre"])),
    plain("button", "Click \"Save\"", Page("<button class=big data-t=a onclick=\"did('save')\">Save</button>"), &[Click("a")], Logged(&["save"])),
    small("button-small", "Click \"OK\"", Page("<button class=tiny data-t=a onclick=\"did('ok')\">OK</button> <button class=tiny onclick=\"did('no')\">No</button>"), &[Click("a")], Logged(&["ok"])),
    plain("link", "Click the \"Next page\" link", Page("<a data-t=a class=big href=/next>Next page</a>"), &[Click("a")], Logged(&["next"])),
    plain("type", "Type \"Ann\" into \"Name\"", Page("<label>Name <input data-t=a oninput=\"post('name '+value)\"></label>"), &[Click("a"), Type("Ann")], Logged(&["name Ann"])),
    plain("form", "Type \"Ann\" into \"Name\", then click \"Send\"", Page("<label>Name <input id=n data-t=a></label><p><button class=big data-t=b onclick=\"did('sent '+n.value)\">Send</button>"), &[Click("a"), Type("Ann"), Click("b")], Logged(&["sent Ann"])),
    small("checkbox", "Check the \"Accept\" checkbox", Page("<label><input type=checkbox data-t=a onchange=\"did('accept '+checked)\"> Accept</label>"), &[Click("a")], Logged(&["accept true"])),
    small("radio", "Select the \"Large\" radio button", Page("<p><label><input type=radio name=r> Small</label><p><label><input type=radio name=r data-t=a onchange=\"did('large')\"> Large</label>"), &[Click("a")], Logged(&["large"])),
    small("twice", "Click \"Up\", then click \"Up\"", Page("<button class=tiny data-t=a onclick=\"n=(window.n||0)+1;did('up '+n)\">Up</button>"), &[Click("a"), Click("a")], Logged(&["up 1", "up 2"])),
    small("uncheck", "Uncheck the \"Newsletter\" checkbox", Page("<label><input type=checkbox onchange=\"did('terms '+checked)\"> Terms</label> <label><input type=checkbox checked data-t=a onchange=\"did('news '+checked)\"> Newsletter</label>"), &[Click("a")], Logged(&["news false"])),
    plain("open-twice", "Double-click \"Report\"", Page("<button class=big data-t=a onclick=\"post('chosen')\" ondblclick=\"did('opened')\">Report</button>"), &[Double("a")], Logged(&["opened"])),
    small("heading-too", "Click \"Go\"", Page("<h2>Go</h2><button class=tiny data-t=a onclick=\"did('go')\">Go</button>"), &[Click("a")], Logged(&["go"])),
    small("details", "Click \"On\", then click \"Fan\"", Page("<button class=tiny data-t=a onclick=\"f.hidden=false;post('on')\">On</button> <button class=tiny id=f hidden data-t=b onclick=\"did('fan')\">Fan</button>"), &[Click("a"), Click("b")], Logged(&["on", "fan"])),
    plain("scroll", "Scroll down", Page("<div style=\"height:4000px\">long</div><script>onscroll=()=>post('scrolled')</script>"), &[Scroll(5)], Logged(&["scrolled"])),
    plain("key", "Press F2", Page("<script>onkeydown=e=>{if(e.key=='F2')did('f2')}</script><p>Press keys here"), &[Key("F2")], Logged(&["f2"])),
    small("small-form", "Type \"7\" into \"No\", then click \"Go\"", Page("<label>No <input id=n class=box data-t=a></label> <button class=tiny data-t=b onclick=\"did('go '+n.value)\">Go</button>"), &[Click("a"), Type("7"), Click("b")], Logged(&["go 7"])),
    plain("gtk-button", "Click \"Act\"", Gtk("button-tells"), &[Named("Act")], Logged(&["shown"])),
    plain("xterm-line", "Type \"echo hello\", then press Enter", Xterm("cat"), &[Type("echo hello"), Key("Return")], Logged(&["shown"])),
];

/// Tasks with conditions.
#[rustfmt::skip]
const CHECKED: &[Task] = &[
    checked("canvas", "Click \"Start\" in the drawing", Page("<canvas id=c width=500 height=300></canvas><script>paint('Start',60,60,200,60,30)</script>"), URL, &[Click("Start")], Logged(&["Start"])),
    tiny("canvas-small", "Click \"Go\" in the drawing", Page("<canvas id=c width=500 height=300></canvas><script>paint('Go',100,80,28,24,16)</script>"), URL, &[Click("Go")], Logged(&["Go"])),
    checked("row", "Click \"Buy\" in the row \"Apple\"", Page("<table class=wide><tr><td>Plum<td><button class=big onclick=\"did('plum')\">Buy</button><tr><td>Apple<td><button class=big data-t=a onclick=\"end('apple')\">Buy</button><tr><td>Pear<td><button class=big onclick=\"did('pear')\">Buy</button></table>"), URL, &[Click("a")], Logged(&["apple"])),
    tiny("row-small", "Click \"On\" in the row \"Radio\"", Page("<table class=wide><tr><td>Lamp<td><button class=tiny onclick=\"did('lamp')\">On</button><tr><td>Radio<td><button class=tiny data-t=a onclick=\"end('radio')\">On</button><tr><td>Heater<td><button class=tiny onclick=\"did('heater')\">On</button></table>"), URL, &[Click("a")], Logged(&["radio"])),
    checked("long-form", "Type \"Ann\" into \"Name\", type \"Paris\" into \"City\", then click \"Order\"", Page("<p><label>Name <input id=n data-t=a></label><p><label>City <input id=t data-t=b></label><p><button class=big data-t=c onclick=\"end('order '+n.value+' '+t.value)\">Order</button>"), URL, &[Click("a"), Type("Ann"), Click("b"), Type("Paris"), Click("c")], Logged(&["order Ann Paris"])),
    checked("list", "Click \"Colour\", then click \"Blue\"", Page("<button class=big data-t=a onclick=\"m.hidden=false;post('open')\">Colour</button><div id=m hidden><p><button class=big onclick=\"did('red')\">Red</button><p><button class=big data-t=b onclick=\"end('blue')\">Blue</button></div>"), URL, &[Click("a"), Click("b")], Logged(&["open", "blue"])),
    checked("slider", "Move the slider \"Volume\" to its maximum", Page("<label>Volume <input type=range data-t=a min=0 max=10 value=2 oninput=\"if(value==10)end('loud')\"></label>"), URL, &[Click("a"), Key("End")], Logged(&["loud"])),
    tiny("modal", "Click \"Del\", then click \"Yes\"", Page("<button class=tiny data-t=a onclick=\"m.showModal();post('asked')\">Del</button><dialog id=m><p>Really?<p><button class=tiny data-t=b onclick=\"m.close();end('yes')\">Yes</button> <button class=tiny onclick=\"m.close();did('no')\">No</button></dialog>"), URL, &[Click("a"), Click("b")], Logged(&["asked", "yes"])),
    checked("slow", "Click \"Load\"", Page("<button class=big data-t=a onclick=\"post('load');setTimeout(()=>end('loaded'),1200)\">Load</button>"), URL, &[Click("a")], Logged(&["load", "loaded"])),
    checked("below", "Scroll down, then click \"Agree\"", Page("<div style=\"height:2500px\">Terms of use</div><button class=big data-t=a onclick=\"end('agreed')\">Agree</button>"), URL, &[Scroll(30), Click("a")], Logged(&["agreed"])),
    checked("double", "Double-click \"File\"", Page("<div class=big data-t=a ondblclick=\"end('file')\">File</div>"), URL, &[Double("a")], Logged(&["file"])),
    checked("context", "Right-click \"Photo\", then click \"Remove\"", Page("<div class=big data-t=a oncontextmenu=\"event.preventDefault();m.hidden=false;post('context')\">Photo</div><div id=m hidden><button class=big data-t=b onclick=\"end('removed')\">Remove</button></div>"), URL, &[Right("a"), Click("b")], Logged(&["context", "removed"])),
    tiny("tab", "Click \"Fee\", then click \"Up\"", Page("<div role=tablist><button class=tiny role=tab>Day</button> <button class=tiny role=tab data-t=a onclick=\"f.hidden=false;post('fee')\">Fee</button></div><div id=f hidden><p><button class=tiny data-t=b onclick=\"end('up')\">Up</button></div>"), URL, &[Click("a"), Click("b")], Logged(&["fee", "up"])),
    tiny("pages", "Click \"12\"", Page("<button class=tiny onclick=\"did('10')\">10</button> <button class=tiny onclick=\"did('11')\">11</button> <button class=tiny data-t=a onclick=\"end('12')\">12</button>"), URL, &[Click("a")], Logged(&["12"])),
    tiny("close-icon", "Close the notice: click \"X\"", Page("<div style=\"border:1px solid;width:400px;padding:8px\">Notice of today <button class=tiny data-t=a onclick=\"end('closed')\">X</button></div>"), URL, &[Click("a")], Logged(&["closed"])),
    tiny("stars", "Rate it with 4 stars", Page("<p>Rate: <script>for(let i=1;i<6;i++)document.write(`<span class=tiny role=button aria-label=\"${i} stars\" data-t=s${i} onclick=\"${i==4?'end':'did'}('star ${i}')\">\u{2606}</span> `)</script>"), URL, &[Click("s4")], Logged(&["star 4"])),
    tiny("div-switch", "Click \"Lo\" in the row \"Fan\"", Page("<table class=wide><tr><td>Lamp<td><span class=tiny onclick=\"did('lamp')\">Lo</span><tr><td>Fan<td><span class=tiny data-t=a onclick=\"end('fan')\">Lo</span></table>"), URL, &[Click("a")], Logged(&["fan"])),
    tiny("agree-order", "Check \"Terms\", then click \"Buy\"", Page("<label><input type=checkbox id=k data-t=a onchange=\"post('terms '+checked)\"> Terms</label> <button class=tiny data-t=b onclick=\"k.checked?end('buy'):did('refused')\">Buy</button>"), URL, &[Click("a"), Click("b")], Logged(&["terms true", "buy"])),
    tiny("reload", "Press Reload", Page("<p>Reload this page<script>post('loaded');performance.getEntriesByType('navigation')[0].type=='reload'&&end('again')</script>"), URL, &[Named("Reload")], Logged(&["again"])),
    tiny("inner", "Click \"In\" inside the frame", Page("<iframe id=i width=300 height=120 srcdoc=\"<button style='width:28px;height:22px;padding:0' onclick=top.end('in')>In</button>\"></iframe><script>spots.inner=()=>{const r=i.getBoundingClientRect();return{x:r.x+2+8,y:r.y+2+8,width:28,height:22}}</script>"), URL, &[Click("inner")], Logged(&["in"])),
];

const URL: &str = r##"{"all":[{"check":"url_matches","url":"*#end"}]}"##;

const fn plain(
    name: &'static str,
    instruction: &'static str,
    start: Start,
    plan: &'static [Do],
    oracle: Oracle,
) -> Task {
    Task { name, instruction, start, success: "", plan, oracle, small: false }
}

const fn small(
    name: &'static str,
    instruction: &'static str,
    start: Start,
    plan: &'static [Do],
    oracle: Oracle,
) -> Task {
    Task { small: true, ..plain(name, instruction, start, plan, oracle) }
}

const fn checked(
    name: &'static str,
    instruction: &'static str,
    start: Start,
    success: &'static str,
    plan: &'static [Do],
    oracle: Oracle,
) -> Task {
    Task { success, ..plain(name, instruction, start, plan, oracle) }
}

const fn tiny(
    name: &'static str,
    instruction: &'static str,
    start: Start,
    success: &'static str,
    plan: &'static [Do],
    oracle: Oracle,
) -> Task {
    Task { small: true, ..checked(name, instruction, start, success, plan, oracle) }
}

/// All tasks.
pub fn all() -> Vec<Task> {
    PLAIN.iter().chain(CHECKED).copied().collect()
}
