//! Roles, names and states, which snapshots compute themselves, against the browser's accessibility
//! tree.

use std::collections::HashMap;

use helmdeck_cdp::SessionId;
use serde_json::{Value, json};

use crate::{
    chromium::SOON,
    desk::{Desk, request},
};

/// Each element with the attribute `t` is compared.
const PAGE: &str = r#"<title>Hard</title>
<span id=one>First</span> <span id=two hidden>hidden <b>label</b></span>
<p><button t>Plain <b>bo</b>ld</button><p><button t aria-label=" Said ">x</button>
<p><button t aria-labelledby="one two none">x</button><p><button t title=Hint></button>
<p><button t><img alt=Icon src=x> <svg width=5 height=5><title>Drawn</title></svg>text</button>
<p><button t>a<span hidden>b</span><span aria-hidden=true>c</span><i style="visibility:hidden">d</i>e</button>
<p><button t><div>block</div><div>of <i style="display:inline-block">boxes</i>!</div>a<br>b</button>
<p><button t style="text-transform:uppercase">shout</button><p><button t role=link>Other role</button>
<p><button t>with <input value=typed> and <select><option>chosen</select></button>
<p><button t>x<span role=group>not said</span><span role=tooltip>said</span></button>
<style>.icon::before { content: "Before " } .icon::after { content: " after" }</style>
<p><button t class=icon>words</button><p><button t id=labelled>Own</button><label for=labelled>Its label</label>
<div t role="bogus button" tabindex=0>First known role</div><div t role=presentation tabindex=0 aria-label=Kept>x</div>
<p><a t href=/a><h3>Head</h3><p>and text</p></a><p><a t href=/b><img src=x title=Picture></a>
<p><a t href=/c title=Hint></a><p><a t href=/d><span aria-label=Inner>x</span> rest</a>
<p><label>Wrapped <input t value=1> behind</label><p><label for=f>For <b>it</b></label><input t id=f>
<p><input t placeholder=Sample><p><input t title=Hint placeholder=Sample><p><input t type=search aria-label=Find>
<p><input t type=number aria-label=Count><p><input t type=range aria-label=Volume><p><input t list=l aria-label=List>
<p><input t type=date aria-label=Day><p><input t type=color aria-label=Colour><p><input t type=submit>
<p><input t type=reset value=Again><p><input t type=image alt=Send src=x><p><input t type=file aria-label=File>
<p><label><input t type=checkbox> Agree</label><p><input t type=radio id=r><label for=r>Choose <i>me</i></label>
<p><textarea t aria-labelledby=two></textarea><p><label>Land <select t><option>A</select></label>
<p><select t multiple aria-label=Many><option>A</select><datalist id=l></datalist>
<div t role=checkbox tabindex=0 aria-checked=mixed>Some</div><div t role=switch tabindex=0>Light</div>
<div t role=slider tabindex=0 aria-label=Tone aria-valuenow=3></div><div t role=combobox tabindex=0 aria-label=Pick></div>
<div t role=textbox contenteditable aria-label=Story>Once</div><div role=menu><div t role=menuitem>Open</div></div>
<div role=tablist><div t role=tab>First tab</div></div><div role=listbox><div t role=option>An option</div></div>
<details><summary t>More <b>of it</b></summary></details><nav t title=Pages>n</nav><section t aria-label=Part>s</section>
<form t aria-label=Login>f</form><fieldset t><legend>Legend <b>too</b></legend>x</fieldset>
<figure t aria-label=Figure>f</figure><table t><caption>Plans</caption><tr><td>1</table>
<img t alt="A  cat" src=x><p><svg t width=9 height=9><title>Chart</title></svg>
<div t role=dialog aria-labelledby=h>d<h2 id=h>Head <i>ing</i></h2></div><div t role=img aria-label=Stars></div>
<h2 t>Two <span>parts</span></h2><div t role=heading aria-level=4>Level</div><iframe t title=Frame></iframe>
<p><meter t aria-label=Full value=.5></meter><p><progress t aria-label=Done></progress>
<p><input t required aria-label=Must><p><textarea t readonly aria-label=Fixed></textarea>
<p><input t type=email value=x aria-label=Wrong><p><input t type=checkbox required aria-label=Terms>
<p><input t aria-invalid=grammar aria-label=Odd><p><input t aria-required=true aria-readonly=true aria-label=Told>
<fieldset disabled><legend><input t aria-label=Free></legend><input t aria-label=Off><button t>Off too</button></fieldset>
<div aria-disabled=true><a t href=/x>Off</a><b t role=button>Free</b><input t aria-disabled=false aria-label=On></div>
<p><button t aria-expanded=true>Open</button><p><button t aria-pressed=mixed>Half</button>
<p><button t popovertarget=pop>Pop</button><div popover id=pop>popped</div>
<p><input t type=checkbox aria-label=Half id=half><p><input t type=radio checked aria-label=Chosen>
<details open><summary t>Opened</summary></details><div t role=dialog aria-modal=true aria-label=Modal>m</div>
<div role=tree><div t role=treeitem aria-expanded=false aria-selected=true aria-checked=true>Leaf</div></div>
<div role=radiogroup t aria-required=true aria-label=Group>g</div><p><input t id=focus aria-label=Focus>
<p aria-owns=owned><div><button t id=owned>Owned</button></div><x-safe></x-safe><script>
  customElements.define('x-safe', class extends HTMLElement { constructor() { super()
    this.attachShadow({ mode: 'closed' }).innerHTML = '<b id=one>Inner</b><button aria-labelledby=one>x</button>' } })
  half.indeterminate = true
  focus.focus()
</script>"#;

#[tokio::test]
async fn roles_names_and_states_are_those_of_the_browser() {
    let desk = Desk::showing(PAGE).await;
    let cdp = &desk.chromium.cdp;
    let params = json!({ "targetId": desk.active().await.0, "flatten": true });
    let attached: Value = cdp.call(None, "Target.attachToTarget", params, SOON).await.unwrap();
    let session = SessionId::from(attached["sessionId"].as_str().unwrap());
    let ask = async |method: &str, params: Value| -> Value {
        cdp.call(Some(&session), method, params, SOON).await.unwrap()
    };

    let tree = ask("Accessibility.getFullAXTree", json!({})).await;
    let nodes = tree["nodes"].as_array().unwrap().iter();
    let theirs: HashMap<i64, String> =
        nodes.filter_map(|node| Some((node["backendDOMNodeId"].as_i64()?, head(node)))).collect();
    let root = ask("DOM.getDocument", json!({})).await["root"]["nodeId"].clone();
    let params = json!({ "nodeId": root, "selector": "[t]" });
    let elements = ask("DOM.querySelectorAll", params).await["nodeIds"].clone();
    let elements = elements.as_array().unwrap();
    assert!(elements.len() > 60, "{}", elements.len());

    let mut wrong = Vec::new();
    for (index, element) in elements.iter().enumerate() {
        let described = ask("DOM.describeNode", json!({ "nodeId": element })).await;
        let id = described["node"]["backendNodeId"].as_i64().unwrap();
        desk.value(&format!("document.querySelectorAll('[t]')[{index}].id ||= 't{index}'")).await;
        let name = desk.value(&format!("document.querySelectorAll('[t]')[{index}].id")).await;
        let selector = format!("#{}", name.as_str().unwrap());
        let snapshot = request(json!({ "selector": selector, "timeout_s": 60 }));
        let snapshot = desk.browser.snapshot(&snapshot).await.unwrap().snapshot;
        let ours = shown(snapshot.lines().next().unwrap_or_default());
        if ours != theirs[&id] {
            wrong.push((ours, theirs[&id].clone()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");

    let whole = request(json!({ "timeout_s": 60 }));
    let whole = desk.browser.snapshot(&whole).await.unwrap().snapshot;
    assert!(whole.contains("button \"Inner\""), "{whole}");
}

/// The role and name in a line of a snapshot, and its states.
fn shown(line: &str) -> String {
    let end = line.find(" [").or_else(|| line.find(": ")).unwrap_or(line.len());
    let states = line.split(" [").skip(1).filter_map(|state| Some(state.split_once(']')?.0));
    let others = ["ref=", "options:", "placeholder=", "to "];
    let states = states.filter(|state| !others.iter().any(|other| state.starts_with(other)));
    format!("{} {:?}", &line[..end], states.collect::<Vec<_>>())
}

/// The role, name and states of a node of the accessibility tree as a snapshot shows them.
fn head(node: &Value) -> String {
    let role = match node["role"]["value"].as_str().unwrap_or_default() {
        "image" => "img",
        "DisclosureTriangle" => "summary",
        "Iframe" => "iframe",
        "ColorWell" => "color",
        "Date" => "date",
        role => role,
    };
    let name = node["name"]["value"].as_str().unwrap_or_default();
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let name = if name.is_empty() { name } else { format!(" \"{name}\"") };
    let property = |name: &str| {
        let mut all = node["properties"].as_array().into_iter().flatten();
        let value = all.find(|property| property["name"] == name).map(|it| &it["value"]["value"]);
        value.map_or(String::new(), |value| value.to_string().replace('"', ""))
    };
    let mut states = Vec::new();
    for state in ["checked", "pressed"] {
        match property(state).as_str() {
            "true" => states.push(state.to_owned()),
            "mixed" => states.push(format!("{state}=mixed")),
            _ => {}
        }
    }
    let flags = ["disabled", "selected", "focused", "required", "readonly", "modal"];
    states.extend(flags.iter().filter(|it| property(it) == "true").map(|it| (*it).to_owned()));
    match property("expanded").as_str() {
        "true" => states.push("expanded".to_owned()),
        // The options of a list are shown.
        "false" if property("hasPopup") != "menu" => states.push("collapsed".to_owned()),
        _ => {}
    }
    if !matches!(property("invalid").as_str(), "" | "false") {
        states.push("invalid".to_owned());
    }
    if role == "heading" {
        states.push(format!("level={}", property("level")));
    }
    format!("{role}{name} {states:?}")
}
