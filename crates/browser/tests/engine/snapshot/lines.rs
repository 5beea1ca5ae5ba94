//! The content and format of snapshot lines.

use serde_json::json;

use super::desk::{Desk, assert_shows};

#[tokio::test]
async fn fields_show_their_names_states_and_values_and_no_password() {
    let (desk, _server) = Desk::showing(
        r#"<title>Sign in</title><h1>Sign in</h1>
        <label>E-mail: <input value="me@example.com" required></label>
        <div><span id=l>Password</span></div>
        <div><input type=password aria-labelledby=l value=hunter2></div>
        <label><input type=checkbox checked> Stay</label>
        <input type=radio name=r id=r disabled><label for=r>Never</label>
        <label>Country <select><option>France<option selected>Germany<option>Spain</select></label>
        <input aria-label=City placeholder="Where you live">
        <textarea aria-label=Note>first
second</textarea>
        <div contenteditable aria-label=Story role=textbox>Once <b>upon</b></div>
        <input type=range aria-label=Volume value=7>
        <button aria-pressed=true autofocus>Bold</button>
        <button aria-expanded=false>Menu</button>
        <button disabled>Send</button>
        <details><summary>More</summary>hidden words</details>"#,
    )
    .await;
    let snapshot = desk.snapshot(json!({})).await;
    assert_eq!(snapshot.title, "Sign in");
    assert!(!snapshot.delta && !snapshot.truncated);
    assert_shows(
        &snapshot.snapshot,
        r#"
heading "Sign in" [level=1]
textbox "E-mail:" [ref=#] [required]: me@example.com
textbox "Password" [ref=#]
checkbox "Stay" [ref=#] [checked]
radio "Never" [ref=#] [disabled]
combobox "Country" [ref=#] [options: France | Germany | Spain]: Germany
textbox "City" [ref=#] [placeholder="Where you live"]
textbox "Note" [ref=#]: first second
textbox "Story" [ref=#]: Once upon
slider "Volume" [ref=#]: 7
button "Bold" [ref=#] [pressed] [focused]
button "Menu" [ref=#] [collapsed]
button "Send" [ref=#] [disabled]
summary "More" [ref=#] [collapsed]"#
            .trim_start(),
    );
    assert!(!snapshot.snapshot.contains("hunter2") && !snapshot.snapshot.contains('•'));

    // Passwords stay hidden even if the page shows them in plain text.
    desk.run("document.querySelector('[type=password]').value = 'correct horse'").await;
    assert!(!desk.text().await.contains("horse"));
}

#[tokio::test]
async fn meaningless_elements_are_left_out_and_inline_content_stays_on_one_line() {
    let (desk, _server) = Desk::showing(
        r#"<nav><ul><li><a href=/a>Start</a><li><a href=/b>Help</a>
            <ul><li><a href=/c>Contact</a></ul></ul></nav>
        <main><div><div><section><h2><a href=#x>Part</a> one</h2>
        <p>See the <a href="https://www.example.org/x">book</a>, or <em>ask</em>.</p>
        <div>One</div><div>Two <span>three</span></div>
        <ul><li>milk<li><b>bread</b> and butter<li><input type=checkbox aria-label=done> eggs</ul>
        <ol><li><p>first</p><p>again</p></ol>
        <a href=/pic><img src=x alt=""></a><a href=/home><img alt=Home></a>
        <img alt="A cat"><img src=y>
        <a href=/card><h3>Card</h3><p>with words</p></a>
        <div role=alert>Wrong</div><div role=status></div>
        <p style="display:none">hidden</p><p aria-hidden=true>decoration</p>
        </section></div></div></main>"#,
    )
    .await;
    assert_shows(
        &desk.text().await,
        r#"
navigation
  - link "Start" [ref=#]
  - link "Help" [ref=#]
    - link "Contact" [ref=#]
main
  heading [level=2]: link "Part" [ref=#] one
  text: See the link "book" [ref=#] [to example.org], or ask.
  text: One
  text: Two three
  - milk
  - bread and butter
  - checkbox "done" [ref=#] eggs
  - first again
  link [ref=#] [to /pic]
  link "Home" [ref=#]
  img "A cat"
  link "Card with words" [ref=#]
  alert: Wrong"#
            .trim_start(),
    );
}

#[tokio::test]
async fn tables_have_a_line_for_each_row() {
    let (desk, _server) = Desk::showing(
        r#"<table aria-label=Plans><tr><th>Name<th>Price<th></tr>
        <tr><td>Small<td>1 €<td><button>Buy</button>
        <tr><td><a href=/l>Large</a><td><td><button>Buy</button> or <button>Ask</button></table>
        <div role=grid aria-label=Files><div role=row aria-selected=true tabindex=0>
        <div role=gridcell>a.txt</div><div role=gridcell>3 kB</div></div></div>"#,
    )
    .await;
    assert_shows(
        &desk.text().await,
        r#"
table "Plans"
  | Name | Price |
  | Small | 1 € | button "Buy" [ref=#]
  | link "Large" [ref=#] |  | button "Buy" [ref=#] or button "Ask" [ref=#]
grid "Files"
  row [ref=#] [selected]: a.txt | 3 kB"#
            .trim_start(),
    );
}

#[tokio::test]
async fn everything_clickable_has_a_ref() {
    let (desk, _server) = Desk::showing(
        r#"<div id=root><div style="cursor:pointer" id=card>Card <span>of mine</span></div>
        <span onclick="1" class="icon close" style="display:block;width:9px;height:9px"></span>
        <div tabindex=0>Reachable</div><div tabindex=-1>Not reachable</div>
        <div onclick="1">Row <button>Delete</button></div>
        <label style="cursor:pointer">Name <input></label>
        <div onclick="1" style="visibility:hidden">Unseen</div>
        <div contenteditable>draft</div><p>plain</p></div>
        <script>document.body.onclick = root.onclick = () => 1;
          for (let i = 0; i < 50; i++) root.append(Object.assign(document.createElement('p'), { textContent: i }))
        </script>"#,
    )
    .await;
    let text = desk.text().await;
    let (head, numbers) = text.split_once("text: 0\n").unwrap();
    assert_shows(
        head,
        r#"
generic "Card of mine" [ref=#]
generic [ref=#]: .icon.close
generic "Reachable" [ref=#]
text: Not reachable
generic [ref=#]: Row button "Delete" [ref=#]
textbox "Name" [ref=#]
textbox [ref=#]: draft
text: plain"#
            .trim_start(),
    );
    assert!(!numbers.contains("[ref="), "{numbers}");
}

#[tokio::test]
async fn open_and_closed_shadow_roots_are_part_of_the_page() {
    let (desk, _server) = Desk::showing(
        r#"<my-card><span>slotted</span></my-card><my-safe></my-safe><script>
        for (const [name, mode] of [['my-card', 'open'], ['my-safe', 'closed']])
          customElements.define(name, class extends HTMLElement { constructor() { super()
            this.attachShadow({ mode }).innerHTML = `<button>${mode}</button><p><slot></slot></p>` } })
        </script>"#,
    )
    .await;
    assert_shows(
        &desk.text().await,
        "button \"open\" [ref=#]\ntext: slotted\nbutton \"closed\" [ref=#]",
    );
}

#[tokio::test]
async fn secrets_are_not_part_of_names_values_or_texts() {
    let (desk, _server) = Desk::showing(
        r#"<style>.dots { -webkit-text-security: disc }</style>
        <button>Send <input type=password value=hunter2></button>
        <label id=l>Code <input class=dots value=hunter2></label><div role=group aria-labelledby=l>g</div>
        <textarea style="-webkit-text-security: disc" aria-label=Key>hunter2</textarea>
        <div contenteditable class=dots role=textbox aria-label=Pin>hunter2</div><p class=dots>hunter2</p>"#,
    )
    .await;
    let text = desk.text().await;
    assert!(!text.contains("hunter2"), "{text}");
    for line in ["button \"Send\"", "textbox \"Code\"", "group \"Code\"", "textbox \"Pin\""] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
}

#[tokio::test]
async fn the_focus_is_shown_in_open_and_closed_shadow_roots() {
    let (desk, _server) = Desk::showing(
        r#"<my-card></my-card><my-safe></my-safe><button>light</button><script>
        for (const [name, mode] of [['my-card', 'open'], ['my-safe', 'closed']])
          customElements.define(name, class extends HTMLElement { constructor() { super()
            globalThis['its_' + mode] = this.attachShadow({ mode })
            globalThis['its_' + mode].innerHTML = `<button>first</button><input aria-label=${mode}>` } })
        </script>"#,
    )
    .await;
    for (root, line) in [("open", 1), ("closed", 3)] {
        desk.run(&format!("its_{root}.lastChild.focus()")).await;
        let text = desk.text().await;
        let focused: Vec<usize> =
            (0..5).filter(|at| text.lines().nth(*at).unwrap().contains("[focused]")).collect();
        assert_eq!(focused, [line], "{text}");
    }
}

#[tokio::test]
async fn a_part_of_the_page_can_be_requested() {
    let (desk, _server) = Desk::showing(
        r#"<nav><a href=/>Home</a></nav><form aria-label=Login><div id=in><p>Hello</p>
        <b id=bold>fat <i>and</i> more</b><button>Go</button></div></form>"#,
    )
    .await;
    let part = async |selector: &str| desk.snapshot(json!({ "selector": selector })).await.snapshot;
    assert_shows(
        &part("form").await,
        "form \"Login\"\n  text: Hello\n  text: fat and more button \"Go\" [ref=#]",
    );
    assert_shows(&part("#in").await, "text: Hello\ntext: fat and more button \"Go\" [ref=#]");
    // This element has no accessibility node.
    assert_shows(&part("#bold").await, "text: fat and more");
    assert_shows(&part("text=Go").await, "button \"Go\" [ref=#]");
}
