//! Starts tasks and runs futures whose types are erased.
//!
//! Tokio's scheduler is generic: each type of future that is spawned, and each closure that may
//! block, compiles it again, twice for a spawned future. In crates with dozens of tasks that was a
//! tenth of the code. One allocation for each task avoids it.

use std::pin::Pin;

use tokio::{runtime::Runtime, task::JoinHandle};

/// A future of any type. Public functions that other crates call once return it: an `async fn` is
/// compiled in the crates that await it, with everything that it awaits itself.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Erases the type of a future, for `JoinSet` and `TaskTracker`.
pub fn boxed<'a, T>(work: impl Future<Output = T> + Send + 'a) -> BoxFuture<'a, T> {
    Box::pin(work)
}

/// Starts a task, like `tokio::spawn`.
pub fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    spawn_boxed(Box::pin(work))
}

fn spawn_boxed<T: Send + 'static>(work: BoxFuture<'static, T>) -> JoinHandle<T> {
    tokio::spawn(work)
}

/// Runs what may block for a moment, like `tokio::task::block_in_place`.
pub fn block_in_place<T>(work: impl FnOnce() -> T) -> T {
    let (mut work, mut result) = (Some(work), None);
    run_in_place(&mut || result = work.take().map(|work| work()));
    match result {
        Some(result) => result,
        None => unreachable!("the closure has run"),
    }
}

fn run_in_place(work: &mut dyn FnMut()) {
    tokio::task::block_in_place(work);
}

/// Runs a future to its end, like `Runtime::block_on`.
pub fn block_on<T>(runtime: &Runtime, work: impl Future<Output = T>) -> T {
    let mut result = None;
    run_on(runtime, Box::pin(async { result = Some(work.await) }));
    match result {
        Some(result) => result,
        None => unreachable!("the future has ended"),
    }
}

fn run_on(runtime: &Runtime, work: Pin<Box<dyn Future<Output = ()> + '_>>) {
    runtime.block_on(work);
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::*;

    #[test]
    fn tasks_and_closures_return_their_results() {
        let runtime = Builder::new_multi_thread().build().unwrap();
        let words = ["one".to_owned(), "two".to_owned()];
        let count = block_on(&runtime, async {
            let sum = spawn(async { 1 + 1 }).await.unwrap();
            spawn(async move { block_in_place(|| words.len()) + sum }).await.unwrap()
        });
        assert_eq!(count, 4);
    }

    #[test]
    fn a_panic_in_a_closure_is_passed_on() {
        let runtime = Builder::new_multi_thread().build().unwrap();
        let task = block_on(&runtime, async {
            spawn(async { block_in_place(|| assert!(std::env::args().count() == 0)) }).await
        });
        assert!(task.is_err_and(|error| error.is_panic()));
    }
}
