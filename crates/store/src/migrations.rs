//! The schema, as a list of the files in `migrations/`. One that was released never changes.

use sqlx::{
    SqlSafeStr,
    migrate::{Migration, MigrationType, Migrator},
};

/// Number, what it does, and how.
const FILES: &[(i64, &str, &str)] = include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

/// All of them, in order.
pub fn all() -> Migrator {
    let migration = |(number, title, sql): &(i64, &'static str, &'static str)| {
        Migration::new(*number, (*title).into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    Migrator::with_migrations(FILES.iter().map(migration).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_listed_with_the_checksum_that_older_databases_have() {
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations")).unwrap();
        assert_eq!(files.count(), FILES.len());
        let migrations = all();
        let first = migrations.iter().next().unwrap();
        assert_eq!((first.version, &*first.description), (1, "instance and admin"));
        let checksum: String =
            first.checksum.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(checksum, "683cc6f08b740589");
    }
}
