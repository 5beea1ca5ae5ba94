//! Elements by CSS, text, role and name, and the message when there is none.

use helmdeck_wire::ErrorCode;
use serde_json::json;

use crate::desk::{Desk, failure};

const PAGE: &str = r#"
<title>Shop</title>
<style>.up { text-transform: uppercase } .gone { display: none } .unseen { visibility: hidden }</style>
<div><p id=p>Add to <b>basket</b></p></div>
<button class=gone id=hidden>Buy</button> <button id=buy>Buy   now</button>
<a id=help href="/help">Help</a> <span class=up id=upper>loud words</span>
<label for=mail>Your e-mail</label> <input id=mail> <input id=q placeholder="Search here">
<input type=submit id=send value="Send it"> <span id=l1>Card</span> <span id=l2>number</span>
<input id=card aria-labelledby="l1 l2"> <button id=x aria-label="Close dialog">x</button>
<button id=pic><img src="data:," alt="Print"></button> <h2 id=h>Offers</h2>
<div role=button id=div tabindex=0>Div button</div> <input type=checkbox id=box title="Gift">
<select id=size aria-label=Size><option>S<option>M</select> <textarea id=note title=Note></textarea>
<div id=host></div> <div class=unseen id=unseen>Invisible</div><script>var text = "Only in a script"</script>
<button id=exact>Sign</button><button id=longer>Sign in</button>
<script>
  const outer = host.attachShadow({ mode: 'open' });
  outer.innerHTML = '<p>shadow</p><div id=inner></div>';
  outer.getElementById('inner').attachShadow({ mode: 'open' }).innerHTML =
    '<button class=deep id=deep>Deep button</button>';
</script>"#;

#[tokio::test]
async fn an_element_is_found_by_selector_text_role_and_name() {
    let desk = Desk::showing(PAGE).await;
    for (selector, id) in [
        ("#buy", "buy"),
        ("button", "buy"),
        (".deep", "deep"),
        ("text=buy", "buy"),
        ("text=ADD TO basket", "p"),
        ("text=\"basket\"", ""),
        ("text=loud", "upper"),
        ("text=Send it", "send"),
        ("text=deep button", "deep"),
        ("text=\"Sign in\"", "longer"),
        ("role=button[name=\"buy now\"]", "buy"),
        ("role=button[name=\"Sign\"]", "exact"),
        ("role=button[name=\"sign i\"]", "longer"),
        ("role=button[name=\"Close dialog\"]", "x"),
        ("role=button[name=\"Print\"]", "pic"),
        ("role=button[name=\"send\"]", "send"),
        ("role=button[name=\"div\"]", "div"),
        ("role=button[name=\"deep\"]", "deep"),
        ("role=link", "help"),
        ("role=textbox[name=\"e-mail\"]", "mail"),
        ("role=textbox[name=\"Card number\"]", "card"),
        ("role=textbox[name=\"search\"]", "q"),
        ("role=textbox[name=\"note\"]", "note"),
        ("role=combobox[name=\"size\"]", "size"),
        ("role=checkbox[name=\"gift\"]", "box"),
        ("role=heading[name=\"offers\"]", "h"),
    ] {
        let found = desk.extract(json!({ "selector": selector, "format": "html" })).await;
        let html = found.unwrap_or_else(|error| panic!("{selector}: {error}")).content;
        let named = if id.is_empty() { "<b>".to_owned() } else { format!("id=\"{id}\"") };
        assert!(html.contains(&named), "{selector} found {html}");
    }
}

#[tokio::test]
async fn an_invalid_selector_is_refused_at_once() {
    let desk = Desk::showing(PAGE).await;
    for selector in ["a[", "###", "button:nonsense"] {
        let (code, message) = failure(desk.click(json!({ "selector": selector })).await);
        assert_eq!(code, ErrorCode::InvalidSelector, "{message}");
        let (code, _) = failure(desk.wait_for(json!({ "selector": selector })).await);
        assert_eq!(code, ErrorCode::InvalidSelector);
    }
}

#[tokio::test]
async fn a_missing_element_is_answered_with_what_the_page_has() {
    let desk = Desk::showing(PAGE).await;
    for selector in ["text=Sign out", "role=button[name=\"Sign out\"]", "#sign-out"] {
        let missing = json!({ "selector": selector, "timeout_s": 0.2 });
        let (code, message) = failure(desk.click(missing).await);
        assert_eq!(code, ErrorCode::ElementNotFound);
        for words in ["\"Shop\"", "data:text/html", "button \"Sign in\"", selector] {
            assert!(message.contains(words), "{message}");
        }
    }
    let (code, message) = failure(desk.click(json!({ "selector": "ref=e999" })).await);
    assert_eq!(code, ErrorCode::ElementNotFound);
    assert!(message.contains("snapshot"), "{message}");
}

#[tokio::test]
async fn text_outside_the_visible_page_is_not_matched() {
    let desk = Desk::showing(PAGE).await;
    for selector in ["text=Only in a script", "text=shop"] {
        let missing = json!({ "selector": selector, "timeout_s": 0 });
        let (code, message) = failure(desk.extract(missing).await);
        assert_eq!(code, ErrorCode::ElementNotFound, "{message}");
    }
    let unseen = json!({ "selector": "text=Invisible", "timeout_s": 0 });
    let (code, message) = failure(desk.click(unseen).await);
    assert!(
        matches!(code, ErrorCode::ElementNotActionable | ErrorCode::ElementNotFound),
        "{message}"
    );
}

#[tokio::test]
async fn field_and_image_names_do_not_shadow_properties() {
    const NAMES: [&str; 34] = [
        "alt",
        "assignedSlot",
        "childNodes",
        "children",
        "checkVisibility",
        "closest",
        "focus",
        "getAttribute",
        "getBoundingClientRect",
        "getClientRects",
        "getRootNode",
        "host",
        "id",
        "innerText",
        "isConnected",
        "isContentEditable",
        "labels",
        "matches",
        "nodeType",
        "outerHTML",
        "ownerDocument",
        "parentElement",
        "querySelector",
        "querySelectorAll",
        "scrollIntoView",
        "shadowRoot",
        "tagName",
        "textContent",
        "title",
        "value",
        "hidden",
        "elementFromPoint",
        "createRange",
        "hasFocus",
    ];
    let fields: String = NAMES.map(|name| format!("<input type=hidden name={name}>")).concat();
    let images: String = NAMES.map(|name| format!("<img alt='' name={name}>")).concat();
    let desk = Desk::showing(&format!(
        "<div id=helmdeck></div><form id=f title=Order onsubmit='return false'>{fields}
         <p>Some words</p><input name=note aria-label=Note>
         <button onclick='this.textContent = \"Done\"'>Go</button></form>{images}",
    ))
    .await;
    for selector in ["form", "role=form", "role=form[name=\"Order\"]"] {
        assert!(desk.text(selector).await.starts_with("Some words"), "{selector}");
    }
    let html = desk.extract(json!({ "selector": "form", "format": "html" })).await.unwrap();
    assert!(html.content.starts_with("<form"), "{}", html.content);
    assert_eq!(desk.text("text=words").await, "Some words");
    desk.type_into(json!({ "selector": "form", "text": "in it" })).await.unwrap();
    assert_eq!(desk.value("document.forms[0].elements.note.value").await, "in it");
    desk.click(json!({ "selector": "role=button[name=\"Go\"]" })).await.unwrap();
    assert_eq!(desk.text("button").await, "Done");
    let clicked = desk.click(json!({ "selector": "form" })).await.unwrap();
    assert_eq!(clicked.hit.name, "Order");
    let missing = json!({ "selector": "text=Missing", "timeout_s": 0 });
    let (code, message) = failure(desk.click(missing).await);
    assert_eq!(code, ErrorCode::ElementNotFound, "{message}");
    assert!(message.contains("button \"Done\""), "{message}");
}
