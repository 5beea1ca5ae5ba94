//! A person signs in for an agent, and the agent gets only the signed-in page.

use std::time::Duration;

use helmdeck_testkit::{Caster, Debugger, Desk, Page, Server, Site, eventually};
use serde_json::{Value, json};

/// Far longer than a picture takes.
const A_WHILE: Duration = Duration::from_secs(1);
const SOON: Duration = Duration::from_secs(20);
/// How often a person types before giving up.
const TRIES: u32 = 20;
const SECRET: &str = "hunter2";

/// Writes a line for each pressed key that any program of the session can see, 100 times a second.
const SPY: &str = r#"cat > ~/spy.pl <<'END'
use IO::Socket::UNIX;
my ($number) = $ENV{DISPLAY} =~ /:(\d+)/;
my $x = IO::Socket::UNIX->new("/tmp/.X11-unix/X$number") or die "no display";
sub get { my $all = ""; while (length $all < $_[0]) { sysread $x, $all, $_[0] - length $all, length $all or exit } $all }
syswrite $x, pack("a1 x v v v v x2", "l", 11, 0, 0, 0);
my $head = get(8);
get(4 * unpack("x6 v", $head));
open my $seen, ">", "$ENV{HOME}/keys";
$seen->autoflush;
for (;;) {
    syswrite $x, pack("C C v", 44, 0, 1);
    my $message = get(32);
    # Every client is told of changed keyboards: such events come before the reply.
    $message = get(32) while ord $message != 1;
    print $seen "pressed\n" if substr($message . get(8), 8) =~ /[^\0]/;
    select undef, undef, undef, 0.01;
}
END
(setsid perl ~/spy.pl > ~/spy.log 2>&1 &)
until [ -e ~/keys ]; do sleep 0.05; [ ! -s ~/spy.log ] || { cat ~/spy.log; exit; }; done; echo up"#;

/// How many pressed keys the spy has seen.
async fn spied(desk: &Desk<'_>) -> usize {
    desk.shell("wc -l < ~/keys").await.trim().parse().unwrap()
}

/// A login page, and a page with a unique colour.
fn page(path: &str) -> Page {
    Page::html(match path {
        "/welcome" => {
            "<title>nobody</title><body style='background:rgb(250,3,251)'><script>
            if (document.cookie == 'sid=1') document.title = 'signed in'</script>"
        }
        _ => {
            "<title>sign in</title><body style='margin:0'>
            <input type=password style='width:300px;height:60px' oninput=\"if (this.value == 'hunter2')
            { document.cookie = 'sid=1'; location = '/welcome' }\">"
        }
    })
}

/// Whether a program of the session sees that colour on the screen.
async fn is_on_screen(desk: &Desk<'_>) -> bool {
    let look = "scrot -o ~/s.png && /usr/bin/convert ~/s.png -format %c histogram:info: 2>/dev/null > ~/colours \
                && grep -ci fa03fb ~/colours; wc -l < ~/colours";
    let said = desk.shell(look).await;
    let counts: Vec<u32> = said.lines().map(|line| line.trim().parse().expect(&said)).collect();
    assert!(counts[1] > 1, "{said}");
    counts[0] > 0
}

#[tokio::test]
async fn a_private_sign_in_is_invisible_to_others_and_the_agent_gets_the_page() {
    let server = Server::start_with(&[Site::REACHABLE]);
    let site = Site::start(page).await;
    let agent = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&agent).await;
    desk.browser("navigate", json!({ "url": site.url("/sign-in") })).await.expect(200);
    let token = server.run(["token", "--sub", "admin", "--scopes", "admin", "--human"]);
    let person = server.bearer(token.trim().to_owned());
    let private = format!("/api/v1/sessions/{}/private-sign-in", desk.id);

    // A debugging client that receives all events, and another viewer.
    let bearer = format!("Bearer {}", server.token("agent", "sessions:*"));
    let door = format!("/api/v1/sessions/{}/cdp", desk.id);
    let mut client = Debugger::open(&server, &door, &[("authorization", &bearer)]).await.unwrap();
    client.call(None, "Target.setDiscoverTargets", json!({ "discover": true })).await;
    let auto = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
    client.call(None, "Target.setAutoAttach", auto).await;
    let cast = format!("/api/v1/sessions/{}/cdp-stream", desk.id);
    let mut other = Caster::open(&server, &cast, &[("authorization", &bearer)]).await.unwrap();
    other.until(|other| !other.pictures.is_empty()).await;

    assert_eq!(desk.shell(SPY).await, "up\n");
    desk.act("hold_key", json!({ "keys": "shift", "seconds": 1 })).await;
    assert!(spied(&desk).await > 0, "keys of the display are visible");

    agent.post(&private, &json!({})).await.expect_error(403, "person_required");
    person.post(&private, &json!({})).await.expect_error(409, "not_driving");
    let mine = format!("Bearer {}", token.trim());
    let drive = format!("{cast}?take=true");
    let mut hand = Caster::open(&server, &drive, &[("authorization", &mine)]).await.unwrap();
    hand.until(|hand| hand.last("control")["may_drive"] == true).await;
    let begun = person.post(&private, &json!({})).await.expect(200).json();
    assert_eq!(begun["by"], "admin");
    assert_eq!(desk.describe().await["private_sign_in"], begun);
    for action in ["snapshot", "export_state", "network", "screenshot"] {
        desk.browser(action, json!({})).await.expect_error(409, "private");
    }
    other.until(|other| other.last("status")["status"] == "private").await;
    assert_eq!(other.last("tabs"), &json!([]));
    let pictures = other.pictures.len();

    let by_hand = Desk { client: &person, id: desk.id.clone() };
    let keys = spied(&by_hand).await;
    hand.pictures.clear();
    let at = |hand: &Caster, key: &str, value: &str| hand.last("tabs")[0][key] == value;
    hand.until(|hand| at(hand, "title", "sign in") && !hand.pictures.is_empty()).await;
    // The first picture may show a page without layout. A person would type again.
    for _ in 0..TRIES {
        hand.click(20, 20, 3).await;
        for letter in SECRET.chars() {
            for (kind, field) in [("rawKeyDown", "key"), ("char", "text"), ("keyUp", "key")] {
                let key = json!({ "type": kind, field: letter.to_string() });
                hand.send("Input.dispatchKeyEvent", key).await;
            }
        }
        hand.watch(A_WHILE).await;
        if at(&hand, "title", "signed in") {
            break;
        }
    }
    hand.until(|hand| at(hand, "title", "signed in")).await;
    assert_eq!(spied(&by_hand).await, keys, "no key reaches the display");
    // The agent cannot start programs now, but the person with control can.
    assert!(!is_on_screen(&by_hand).await);
    let programs = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c headless[=]new";
    assert_eq!(by_hand.shell(programs).await.trim(), "0");
    let targets = client.call(None, "Target.getTargets", json!({})).await;
    let heard = format!("{targets}{:?}", client.events);
    assert!(heard.contains("/sign-in") && !heard.contains("/welcome"), "{heard}");
    let cookies = client.call(None, "Storage.getCookies", json!({})).await;
    assert_eq!(cookies["cookies"], json!([]));
    other.watch(A_WHILE).await;
    assert_eq!(other.pictures.len(), pictures, "other viewers get no picture");

    let seq = |hand: &Caster| hand.last("frame")["seq"].as_u64();
    let before = seq(&hand);
    let ended = person.delete(&private).await.expect(200).json();
    assert_eq!(ended["url"], site.url("/welcome"));
    assert_eq!(desk.describe().await["private_sign_in"], Value::Null);
    desk.titled("signed in").await;
    // A page has its title before it is painted.
    let shown = eventually(SOON, async || is_on_screen(&by_hand).await.then_some(()));
    assert!(shown.await.is_some(), "the agent's browser shows it now");
    other.until(|other| other.pictures.len() > pictures).await;
    // Picture numbers continue to increase across browsers.
    hand.until(|hand| seq(hand) > before).await;
    let history = agent.get(&format!("/api/v1/sessions/{}/actions", desk.id)).await.text();
    assert!(history.contains("end_private_sign_in") && !history.contains(SECRET), "{history}");
}
