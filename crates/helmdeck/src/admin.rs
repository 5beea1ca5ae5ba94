//! `helmdeck admin`: the admin account.

use std::error::Error;

use helmdeck_server::{Config, admin};
use secrecy::ExposeSecret;

/// What to do with the account.
#[derive(clap::Subcommand)]
pub enum Action {
    /// Create the account if there is none, and print `name<TAB>password`.
    Init,
    /// Reset the account's password, and print `name<TAB>password`.
    ResetPassword,
}

/// Prints the login if one was created, otherwise nothing.
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
