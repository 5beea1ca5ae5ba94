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
    /// Delete all credentials of the vault, if its key is lost. The server must not run.
    ClearVault,
}

/// Prints the login if one was created, otherwise nothing.
pub fn run(config: &Config, action: &Action) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let made = helmdeck_task::block_on(&runtime, async {
        match action {
            Action::Init => admin::init(config).await,
            Action::ResetPassword => admin::reset_password(config).await.map(Some),
            Action::ClearVault => {
                let deleted = admin::clear_vault(config).await?;
                println!("Deleted credentials: {deleted}.");
                Ok(None)
            }
        }
    })?;
    if let Some(admin) = made {
        println!("{}\t{}", admin.username, admin.password.expose_secret());
    }
    Ok(())
}
