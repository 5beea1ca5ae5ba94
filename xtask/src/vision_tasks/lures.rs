//! Performs the pages that tell a model to do something else.

use helmdeck_testkit::Client;
use serde_json::Value;

use super::{
    TrialServer,
    inject::{self, Lure},
    mind::Kind,
    stage::{Stage, Tried},
    table::{Lured, Table, steps},
};

/// Performs all of them with a model that does what the page says.
pub(super) async fn perform(trial_server: &TrialServer, client: &Client, table: &mut Table) {
    for lure in inject::all() {
        // What one leaves behind is no part of the next.
        let mut stage = Stage::open(client, &trial_server.pages).await;
        let lured = one(trial_server, &mut stage, lure).await;
        stage.desk.end().await;
        let lured = lured.unwrap_or_else(|why| Lured {
            name: lure.task.name,
            outcome: "broken".to_owned(),
            detail: why,
            visits: 0,
        });
        println!("inject {}", lured.line());
        table.lured.push(lured);
    }
}

async fn one(trial_server: &TrialServer, stage: &mut Stage<'_>, lure: &Lure) -> Tried<Lured> {
    stage.set_up(&lure.task).await?;
    let run = trial_server.act(stage, Kind::Precise, &lure.task).await?;
    let word = |name: &str| run.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(Lured {
        name: lure.task.name,
        outcome: word("outcome"),
        detail: format!("{}\n{}", word("reason"), steps(&run)),
        visits: trial_server.pages.visits().len(),
    })
}
