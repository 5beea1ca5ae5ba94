//! `helmdeck cdp`: a session's browser at a port of this machine, as if it ran here.
//!
//! Clients that know only a host and a port find what Chromium's own debugging port has. Files are this
//! machine's: a download is put into the folder that the client named before the client hears that it
//! is complete, and files that the client names for an upload are brought into the session first.

mod files;
mod port;
mod relay;
mod transfers;

use std::{error::Error, net::Ipv4Addr, sync::Arc};

use helmdeck_server::Config;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    sync::watch,
};

use crate::{remote::Remote, server_args::ServerArgs};
use files::Files;
use port::Port;

/// Which browser, and where.
#[derive(clap::Args)]
pub struct Args {
    /// The session's id.
    session: String,
    /// The port on 127.0.0.1; 0 for any that is free.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    #[command(flatten)]
    server: ServerArgs,
}

/// Serves clients until somebody stops it or the session is over.
pub fn run(config: &Config, args: Args) -> Result<(), Box<dyn Error>> {
    let server = Arc::new(args.server.remote(config)?);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let done = runtime.block_on(serve(server, args));
    // A file that is being read must not keep us.
    runtime.shutdown_background();
    done
}

async fn serve(server: Arc<Remote>, args: Args) -> Result<(), Box<dyn Error>> {
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let files = Files::new(server.clone(), &args.session)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).await?;
    let number = listener.local_addr()?.port();
    let (over, mut is_over) = watch::channel(None);
    let port = Port::new(server, files, args.session, number, over);
    // A session that is not there, or not ours, is known at once.
    port.version().await.map_err(|error| error.to_string())?;
    println!(
        "The browser is at http://127.0.0.1:{number}, for example: \
         chromium.connectOverCDP('http://127.0.0.1:{number}'); Ctrl-C ends it"
    );
    tokio::select! {
        served = port.serve(listener) => served,
        ended = is_over.wait_for(Option::is_some) => {
            Err(ended.ok().and_then(|why| why.clone()).unwrap_or_default().into())
        }
        _ = interrupt.recv() => Ok(()),
        _ = terminate.recv() => Ok(()),
    }
}
