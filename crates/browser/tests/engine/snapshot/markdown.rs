//! Pages as Markdown.

use serde_json::json;

use super::desk::Desk;
use crate::server::{Reply, Server};

async fn written(body: &str) -> String {
    let (desk, server) = Desk::showing(body).await;
    let content = desk.markdown(json!({})).await.content;
    content.replace(&server.url(""), "http://here")
}

#[tokio::test]
async fn text_links_and_pictures() {
    let content = written(
        r#"<title>T</title><h1>The <em>title</em></h1><p>A <b>bold </b>word, an <i>italic</i> one,
        <code>some `code`</code> and <del>none</del>.<br>Next <a href="/a (b)">line</a>.</p>
        <p><a href="https://example.org/">https://example.org/</a> <a href="javascript:x()">do</a>
        <a href="/pic"><img src="/i.png" alt="A cat"></a><img src=/no.png></p>
        <div>One</div><div>Two</div><h2>Next<a href=#next>¶</a></h2><hr>
        <blockquote><p>Said</p><p>once</p></blockquote><p># no heading, 2 * 3, snake_case_name</p>"#,
    )
    .await;
    let expected = "\
# The *title*

A **bold** word, an *italic* one, `` some `code` `` and ~~none~~.\\
Next [line](http://here/a%20%28b%29).

<https://example.org/> do [![A cat](http://here/i.png)](http://here/pic)

One

Two

## Next

---

> Said
>
> once

\\# no heading, 2 \\* 3, snake_case_name
";
    assert_eq!(content, expected, "\n{content}");
}

#[tokio::test]
async fn lists_code_and_tables() {
    let content = written(
        r#"<ul><li>one<li>two<ul><li>deeper<li>still</ul><li><p>three</p><p>more</p></ul>
        <ol start=9><li>nine<li>ten<pre><code class="language-rust">fn main() {
    let a = "```";
}
</code></pre></ol>
        <dl><dt>Term<dd>What it is</dl>
        <table><caption>Prices</caption><tr><th>Name<th>Price<tr><td>a|b<td><b>1</b><br>2
        <tr><td colspan=2>wide</table>
        <table role=presentation><tr><td>left<td>right</table>"#,
    )
    .await;
    let expected = "\
- one
- two
  - deeper
  - still
- three

  more

9. nine
10. ten

    ````rust
    fn main() {
        let a = \"```\";
    }
    ````

- **Term**

  What it is

Prices

| Name | Price |
| --- | --- |
| a\\|b | **1** 2 |
| wide |  |

left

right
";
    assert_eq!(content, expected, "\n{content}");
}

#[tokio::test]
async fn boilerplate_is_left_out() {
    let text = "Something to read here. ".repeat(5);
    let content = written(&format!(
        "<style>p {{ color: red }}</style><header>Site</header><nav><a href=/>Home</a></nav>
        <main><h1>Head</h1><nav>in it</nav><p>{text}</p><aside>A note.</aside>
        <p hidden>hidden</p><p style='visibility:hidden'>unseen</p><button>Copy</button>
        <script>1</script><template>t</template></main>
        <aside>Adverts</aside><footer>Imprint</footer>"
    ))
    .await;
    assert_eq!(content, format!("# Head\n\n{}\n\nA note.\n", text.trim()));

    // If `main` does not hold the main text, everything except the boilerplate is returned.
    let content = written(&format!("<main>Little</main><div>{text}</div><footer>F</footer>")).await;
    assert_eq!(content, format!("Little\n\n{}\n", text.trim()));
    assert_eq!(written("<nav><p>Only this</p></nav>").await, "Only this\n");
}

#[tokio::test]
async fn shadow_roots_and_frames_of_the_same_site_are_read() {
    let server = Server::start(|path| {
        Reply::page(match path {
            "/" => {
                "<my-card>slotted</my-card><iframe src=/inner></iframe><script>
                document.querySelector('my-card').attachShadow({ mode: 'open' })
                  .innerHTML = '<h2>In shadow</h2><p><slot></slot></p>'</script>"
            }
            _ => "<p>Inside a <b>frame</b></p>",
        })
    })
    .await;
    let desk = Desk::start().await;
    desk.go(&server.url("/")).await;
    let markdown = desk.markdown(json!({})).await;
    assert_eq!(markdown.content, "## In shadow\n\nslotted\n\nInside a **frame**\n");
    // A part of a frame.
    let part = desk.markdown(json!({ "selector": "text=frame" })).await;
    assert!(part.content.contains("frame"), "{}", part.content);
}

#[tokio::test]
async fn a_part_of_a_page_and_a_limited_page() {
    let paragraphs: String =
        (0..100).map(|n| format!("<p>Paragraph {n} has some words.</p>")).collect();
    let body = format!("<title>Long</title>{paragraphs}<ul id=list><li>a<li>b</ul>");
    let (desk, _server) = Desk::showing(&body).await;
    let part = desk.markdown(json!({ "selector": "#list" })).await;
    assert_eq!((part.content.as_str(), part.truncated), ("- a\n- b\n", false));
    assert_eq!(part.title, "Long");

    let cut = desk.markdown(json!({ "max_bytes": 500 })).await;
    assert!(cut.truncated && cut.content.len() <= 500);
    assert!(cut.content.ends_with(" has some words.\n"), "{}", cut.content);
    let whole = desk.markdown(json!({})).await;
    assert!(!whole.truncated && whole.content.ends_with("- a\n- b\n"));
}
