//! `helmdeck cdp`: serves a session's browser at a local port, as if it ran here.
//!
//! Clients that know only host and port find the same endpoints as on Chromium's own debugging
//! port. Files are local: a download is copied to the folder that the client named before the
//! client is notified, and files for an upload are copied into the session first.

mod files;
mod port;
mod relay;
mod transfers;

use std::{error::Error, net::Ipv4Addr, sync::Arc, time::Duration};

use http::StatusCode;
use tokio::{net::TcpListener, sync::watch, time::sleep};

use crate::{
    local::Config, remote::Remote, server_choice::ServerArgs, stop_signal::stop_signal,
    transfer::Refused,
};
use files::Files;
use port::Port;

/// How often to ask whether the session still exists, which no client may notice.
const ASK_EVERY: Duration = Duration::from_secs(15);

/// Which browser, and where to serve it.
#[derive(clap::Args)]
pub struct Args {
    /// The session's id.
    session: String,
    /// Port on 127.0.0.1; 0 for any free port.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    #[command(flatten)]
    server: ServerArgs,
}

/// Serves clients until the program is stopped or the session ends.
pub fn run(config: &Config, args: Args) -> Result<(), Box<dyn Error>> {
    let server = Arc::new(args.server.remote(config)?);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let done = helmdeck_task::block_on(&runtime, serve(server, args));
    // Do not wait for files that are being read.
    runtime.shutdown_background();
    done
}

async fn serve(server: Arc<Remote>, args: Args) -> Result<(), Box<dyn Error>> {
    let stop = stop_signal()?;
    let files = Files::new(server.clone(), &args.session)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).await?;
    let number = listener.local_addr()?.port();
    let (over, mut is_over) = watch::channel(None);
    let port = Port::new(server, files, args.session, number, over);
    // Fail at once if the session does not exist or belongs to another owner.
    port.version().await.map_err(|error| error.to_string())?;
    println!(
        "The browser is at http://127.0.0.1:{number}, for example: \
         chromium.connectOverCDP('http://127.0.0.1:{number}'); press Ctrl-C to stop"
    );
    tokio::select! {
        why = end_of_session(&port) => Err(why.into()),
        served = port.clone().serve(listener) => served,
        ended = is_over.wait_for(Option::is_some) => {
            Err(ended.ok().and_then(|why| why.clone()).unwrap_or_default().into())
        }
        () = stop => Ok(()),
    }
}

/// Waits until the server says that the session has ended, and returns its words.
async fn end_of_session(port: &Port) -> String {
    loop {
        sleep(ASK_EVERY).await;
        // The browser may be starting again, and the server, too.
        let Err(error) = port.version().await else { continue };
        let refused = error.downcast_ref::<Refused>();
        let is_over = |status| matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE);
        if refused.is_some_and(|refused| is_over(refused.status)) {
            return error.to_string();
        }
    }
}
