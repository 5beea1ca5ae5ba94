//! Tokens of a scripted task: the pictures of `observe: auto` against one screenshot for each step.

use helmdeck_testkit::{Server, Site};
use serde_json::{Value, json};

use super::{
    bar,
    shown::{Shown, with},
    vendors::FORMULAS,
};

/// Size of the screen.
const SCREEN: (u32, u32) = (1920, 1080);
/// The bar: this share of the tokens.
const SHARE: f64 = 1.0 / 3.0;

/// A step of the task.
enum Step {
    Click(i64, i64),
    Type(&'static str),
    Key(&'static str),
    Scroll,
    Navigate(&'static str),
    Terminal,
}

use Step::{Click, Key, Navigate, Scroll, Terminal, Type};

/// Fills in a form, uses menus, scrolls, looks at another page, and works in a terminal.
const TASK: [Step; 30] = [
    Click(190, 56),
    Type("Ada Lovelace"),
    Click(190, 106),
    Type("12 St James's Square"),
    Click(190, 156),
    Type("London"),
    Key("Tab"),
    Type("England"),
    Click(190, 256),
    Key("Down"),
    Key("Return"),
    Click(56, 306),
    Click(190, 390),
    Type("The engine weaves algebraic patterns."),
    Key("Return"),
    Type("Second line."),
    Click(580, 56),
    Click(580, 106),
    Click(190, 476),
    Scroll,
    Scroll,
    Key("ctrl+Home"),
    Navigate("/next"),
    Key("alt+Left"),
    Click(580, 56),
    Terminal,
    Type("echo hello\n"),
    Type("ls /\n"),
    Type("pwd\n"),
    Type("date --version | head -n 1\n"),
];

/// What the replies of the task had.
#[derive(Default)]
struct Sent {
    /// Sizes of pictures.
    pictures: Vec<(u32, u32)>,
    whole: usize,
    bytes: usize,
    /// Replies without their pictures.
    text: usize,
}

/// Measures and prints the table.
pub async fn run(server: &Server, site: &Site) {
    let client = server.admin();
    let page = Shown::open(&client, "1920x1080", &site.url("/next")).await;
    page.show(&site.url("/form")).await;
    // The agent knows the screen before the first step, in both ways.
    page.picture().await;
    let (mut sent, mut steps, mut whole_bytes) = (Sent::default(), Vec::new(), 0);
    for step in &TASK {
        let (name, reply) = step.perform(&page, site).await;
        steps.push(sent.add(name, reply));
        whole_bytes += page.picture().await.body.len();
    }
    page.desk.end().await;
    print(&sent, &steps, whole_bytes);
}

impl Step {
    async fn perform(&self, page: &Shown<'_>, site: &Site) -> (String, Value) {
        let (action, body) = match self {
            Click(x, y) => ("click", page.point((*x, *y))),
            Type(text) => ("type", json!({ "text": text })),
            Key(keys) => ("key", json!({ "keys": keys })),
            Scroll => {
                let more = json!({ "direction": "down", "amount": 10 });
                ("scroll", with(page.point((700, 600)), &more))
            }
            Navigate(path) => {
                let body = json!({ "url": site.url(path), "observe": "auto" });
                let reply = page.desk.browser("navigate", body).await.expect(200).json();
                return (format!("navigate {path}"), reply);
            }
            Terminal => {
                let args = ["-geometry", "80x24+900+300", "-e", "bash", "--norc"];
                ("launch", json!({ "command": "xterm", "args": args }))
            }
        };
        let reply = page.desk.act(action, with(body, &json!({ "observe": "auto" }))).await;
        if matches!(self, Terminal) {
            page.desk.take_keyboard("XTerm").await;
        }
        (self.name(), reply)
    }

    fn name(&self) -> String {
        match self {
            Click(x, y) => format!("click {x},{y}"),
            Type(text) => format!("type {:?}", text.chars().take(12).collect::<String>()),
            Key(keys) => format!("key {keys}"),
            Scroll => "scroll down".to_owned(),
            Navigate(path) => format!("navigate {path}"),
            Terminal => "launch xterm".to_owned(),
        }
    }
}

impl Sent {
    /// Notes a reply, and describes it.
    fn add(&mut self, step: String, mut reply: Value) -> String {
        let effect = reply.get("effect").and_then(Value::as_str).unwrap_or("?").to_owned();
        let picture = reply.as_object_mut().and_then(|reply| reply.remove("picture"));
        self.text += reply.to_string().len();
        let Some(picture) = picture else { return format!("{step}: {effect}, no picture") };
        let side = |name: &str| {
            let side = picture.get(name).and_then(Value::as_u64).unwrap_or(0);
            u32::try_from(side).unwrap_or(0)
        };
        let size = (side("width"), side("height"));
        let data = picture.get("data").and_then(Value::as_str).unwrap_or_default();
        self.bytes += data.len() / 4 * 3;
        self.whole += usize::from(size == SCREEN);
        self.pictures.push(size);
        format!("{step}: {effect}, {}×{}", size.0, size.1)
    }
}

fn print(sent: &Sent, steps: &[String], whole_bytes: usize) {
    let (width, height) = SCREEN;
    println!("\n## Tokens of a task of {} steps, {width}×{height}\n", TASK.len());
    println!(
        "| | a screenshot for each step | `observe: auto` | share | bar |\n|---|---|---|---|---|"
    );
    let steps_count = TASK.len() as u64;
    for (name, tokens) in FORMULAS {
        let all = u64::from(tokens(width, height)) * steps_count;
        let ours: u64 = sent.pictures.iter().map(|(w, h)| u64::from(tokens(*w, *h))).sum();
        let share = ours as f64 / all as f64;
        let bar = bar("≤ 1/3", share <= SHARE);
        println!("| {name}, tokens | {all} | {ours} | {share:.2} | {bar} |");
    }
    let pixels: u64 = sent.pictures.iter().map(|(w, h)| u64::from(*w) * u64::from(*h)).sum();
    let all = u64::from(width) * u64::from(height) * steps_count;
    println!("| pixels | {all} | {pixels} | {:.2} | – |", pixels as f64 / all as f64);
    let share = sent.bytes as f64 / whole_bytes as f64;
    println!("| bytes of PNG | {whole_bytes} | {} | {share:.2} | – |", sent.bytes);
    let (shown, whole) = (sent.pictures.len(), sent.whole);
    println!(
        "| pictures (whole screens) | {steps_count} ({steps_count}) | {shown} ({whole}) | – | – |"
    );
    println!("| bytes of the other fields of replies | – | {} | – | – |", sent.text);
    println!("\nSteps: {}.", steps.join("; "));
}
