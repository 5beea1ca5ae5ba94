//! Difficult texts, typed into a terminal, a GTK program and a browser.

use helmdeck_wire::{
    clipboard::Clipboard,
    keyboard::{Key, Type},
    pointer::{Button, Click, Px},
    window::Window,
};

use x11rb::{
    connection::Connection as _,
    protocol::{
        xproto::{ConnectionExt as _, KEY_PRESS_EVENT, KEY_RELEASE_EVENT},
        xtest::ConnectionExt as _,
    },
};

use crate::{
    witness::Witness,
    world::{World, content},
};

const CTRL_L: u8 = 37;

const HARD: &[&str] = &[
    "-leading dash, \"quotes\" and `$(echo no)` \\n",
    "emoji 👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 😀",
    "مرحبا بالعالم",
    "你好，世界。繁體中文輸入法",
    "combining e\u{301} o\u{308} q\u{307}\u{323} and composed é ö ÉÖ ß ẞ",
    "Ünïcödé ČŠŽ Ελληνικά Русский עברית हिन्दी ไทย 한국어 € ‰ ∑ ½",
];

/// 2000 mixed characters, with far more different ones than there are spare keys. Split into lines,
/// because programs lay out a whole line again for each character.
fn mixed() -> String {
    let plain = "The quick brown fox, 42% of {dogs} & ~cats~ | ".chars();
    let foreign = ('\u{4e00}'..).take(400).chain(('а'..='я').chain('А'..='Я')).chain('À'..='ÿ');
    let emoji = '\u{1f600}'..='\u{1f64f}';
    let mixed = plain.cycle().zip(foreign.chain(emoji).cycle()).flat_map(<[char; 2]>::from);
    mixed.enumerate().map(|(at, char)| if at % 40 == 39 { '\n' } else { char }).take(2000).collect()
}

fn texts() -> Vec<String> {
    HARD.iter().map(|text| (*text).to_owned()).chain([mixed()]).collect()
}

async fn type_text(world: &World, text: &str) {
    let action = Type { text: text.to_owned(), delay_ms: 0 };
    let reply = world.display.type_text(&action).await.unwrap();
    assert_eq!(reply.length, text.chars().count());
}

async fn press(world: &World, keys: &str) {
    world.display.key(&Key { keys: keys.to_owned() }).await.unwrap();
}

/// Types every text into an empty document and copies it back.
async fn type_and_copy(world: &World, window: &Window) {
    let (x, y) = (Px(window.x + window.width as i32 / 2), Px(window.y + window.height as i32 / 2));
    world.display.click(&Click { x, y, button: Button::Left }).await.unwrap();
    let witness_layout = layout(world);
    for text in texts() {
        world.display.clipboard(&Clipboard { text: Some("old".to_owned()) }).await.unwrap();
        press(world, "ctrl+a Delete").await;
        let begin = std::time::Instant::now();
        type_text(world, &text).await;
        println!("{} characters took {:?}", text.chars().count(), begin.elapsed());
        press(world, "ctrl+a ctrl+c").await;
        let deadline = crate::world::soon();
        loop {
            let copied = world.display.clipboard(&Clipboard { text: None }).await.unwrap().text;
            if copied != "old" || tokio::time::Instant::now() > deadline {
                assert_eq!(copied, text);
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }
    assert_eq!(layout(world), witness_layout);
}

fn layout(world: &World) -> Vec<u32> {
    let (x, _) = x11rb::connect(Some(&world.name)).unwrap();
    let (min, max) = (x.setup().min_keycode, x.setup().max_keycode);
    x.get_keyboard_mapping(min, max - min + 1).unwrap().reply().unwrap().keysyms
}

/// A terminal that writes its raw keyboard input to a file.
async fn terminal(world: &World) -> (crate::world::Program, std::path::PathBuf) {
    let file = world.home.path().join("typed");
    let script =
        format!("stty raw -echo; printf '\\033]0;ready\\007'; exec cat > {}", file.display());
    let program = world.xterm(&["-u8", "-e", "sh", "-c", &script]);
    world.window("ready").await;
    (program, file)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_reads_what_is_typed() {
    let (world, _manager) = World::managed().await;
    let (_terminal, file) = terminal(&world).await;
    let before = layout(&world);
    let mut expected = String::new();
    for text in texts() {
        type_text(&world, &text).await;
        type_text(&world, "\r\n\t").await;
        expected += &format!("{}\r\t", text.replace('\n', "\r"));
    }
    let typed = content(&file, expected.len()).await;
    assert_eq!(String::from_utf8_lossy(&typed), expected);
    assert_eq!(layout(&world), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn caps_lock_and_held_keys_do_not_change_a_text() {
    let (world, _manager) = World::managed().await;
    let (_terminal, file) = terminal(&world).await;
    press(&world, "Caps_Lock").await;
    type_text(&world, "small and BIG é É").await;
    // Caps Lock is on again.
    press(&world, "a").await;
    press(&world, "Caps_Lock").await;
    press(&world, "a").await;

    let (x, screen) = x11rb::connect(Some(&world.name)).unwrap();
    let root = x.setup().roots[screen].root;
    let ctrl = |kind| x.xtest_fake_input(kind, CTRL_L, 0, root, 0, 0, 0).unwrap();
    let is_down = || {
        let keys = x.query_keymap().unwrap().reply().unwrap().keys;
        keys[usize::from(CTRL_L / 8)] & (1 << (CTRL_L % 8)) != 0
    };
    ctrl(KEY_PRESS_EVENT);
    assert!(is_down());
    type_text(&world, "cé").await;
    assert!(is_down());
    ctrl(KEY_RELEASE_EVENT);
    assert!(!is_down());
    let expected = "small and BIG é ÉAacé";
    assert_eq!(String::from_utf8_lossy(&content(&file, expected.len()).await), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_type_actions_do_not_mix() {
    let (world, _manager) = World::managed().await;
    let (_terminal, file) = terminal(&world).await;
    let texts = ["first: aé👍b ".repeat(20), "second: zÉ你y ".repeat(20)];
    let (one, two) = tokio::join!(type_text(&world, &texts[0]), type_text(&world, &texts[1]));
    let ((), ()) = (one, two);
    let typed = content(&file, texts[0].len() + texts[1].len()).await;
    assert_eq!(String::from_utf8_lossy(&typed), texts.concat());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gtk_program_reads_what_is_typed() {
    let (world, _manager) = World::managed().await;
    let _mousepad = world.run("mousepad", &[]);
    let window = world.window("Mousepad").await;
    world.display.wait_until_painted("Mousepad", crate::world::soon()).await.unwrap();
    type_and_copy(&world, &window).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_reads_what_is_typed() {
    let (world, _manager) = World::managed().await;
    let page = "<title>ready</title><textarea autofocus spellcheck=false \
        style='position:fixed;inset:35vh 25vw'></textarea>";
    let begin = std::time::Instant::now();
    let _chromium = world.chromium(page).await;
    println!("the browser was painted after {:?}", begin.elapsed());
    let window = world.window("ready").await;
    type_and_copy(&world, &window).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_text_leaves_the_layout_as_it_was() {
    let world = World::bare();
    let witness = Witness::on(&world.name);
    let before = witness.layout();
    let display = world.display.clone();
    let text = "é👍".repeat(1000);
    let typing = tokio::spawn(async move { display.type_text(&Type { text, delay_ms: 5 }).await });
    while witness.layout() == before {
        tokio::task::yield_now().await;
    }
    typing.abort();
    assert!(typing.await.unwrap_err().is_cancelled());
    press(&world, "Shift_L").await;
    assert_eq!(witness.layout(), before);
    assert!(!witness.anything_down());
}
