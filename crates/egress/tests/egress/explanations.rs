//! The output of `helmdeck egress test`.

use helmdeck_egress::{Cidr, Policy, explain};

use crate::world::Names;

async fn explained(text: &str, names: &Names) -> (bool, String) {
    let policy = Policy::new(Cidr::list("127.0.0.2").unwrap(), []);
    let explanation = explain(text, &policy, None, names).await.unwrap();
    (explanation.is_allowed(), explanation.to_string())
}

#[tokio::test]
async fn every_address_has_its_line() {
    let names = Names::of(&[&["93.184.216.34", "10.0.0.1", "127.0.0.2", "64:ff9b::a00:1"]]);
    let (allowed, text) = explained("https://Example.test/a?b", &names).await;
    assert!(allowed);
    assert_eq!(
        text,
        "example.test:443\n  93.184.216.34  allowed\n  \
         10.0.0.1  denied: 10.0.0.0/8 is closed: a private network\n  \
         127.0.0.2  allowed: 127.0.0.2/32 is on the allowlist\n  \
         64:ff9b::a00:1  denied: 10.0.0.0/8 is closed: a private network\n\
         allowed, through the allowed addresses only"
    );
}

#[tokio::test]
async fn a_refusal_explains_how_to_open_the_address() {
    let (allowed, text) = explained("http://169.254.169.254/latest", &Names::none()).await;
    assert!(!allowed);
    assert!(text.contains("169.254.169.254/32 is closed: the metadata server"), "{text}");
    assert!(text.contains("add 169.254.169.254, or a range that holds it"), "{text}");
}

#[tokio::test]
async fn names_and_failures_are_explained_too() {
    let (allowed, text) = explained("metadata.google.internal", &Names::none()).await;
    assert!(!allowed && text.contains("metadata server"), "{text}");
    let (allowed, text) = explained("http://host.helmdeck.internal:3000/", &Names::none()).await;
    assert!(!allowed && text.contains("127.0.0.0/8 is closed"), "{text}");
    let (allowed, text) = explained("unknown.test", &Names::none()).await;
    assert!(!allowed && text.contains("failed: the name does not resolve"), "{text}");
    let policy = Policy::new([], []);
    assert!(explain("http://1.2.3.4.5/", &policy, None, &Names::none()).await.is_err());
}
