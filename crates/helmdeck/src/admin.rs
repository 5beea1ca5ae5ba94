//! `helmdeck admin`: the account that logs in.

use std::error::Error;

use helmdeck_server::{Config, admin};
use secrecy::ExposeSecret;

/// What to do about the account.
#[derive(clap::Subcommand)]
pub enum Action {
    /// Make the account if there is none, and print `name<TAB>password`.
    Init,
    /// Give the account a new password, and print `name<TAB>password`.
    ResetPassword,
}

/// Prints the login if one was made; nothing otherwise.
pub fn run(config: &Config, action: &Action) -> Result<(), Box<dyn Error>> {
    let made =
        tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
            match action {
                Action::Init => admin::init(config).await,
                Action::ResetPassword => admin::reset_password(config).await.map(Some),
            }
        })?;
    if let Some(admin) = made {
        println!("{}\t{}", admin.username, admin.password.expose_secret());
    }
    Ok(())
}
