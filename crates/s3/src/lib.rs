//! A client for one bucket of an S3-compatible service: put, get, delete and list objects.
//!
//! [`Bucket`] has the operations. Requests are signed with AWS Signature Version 4 and sent over HTTP/1.1;
//! redirects are errors. Objects are streamed: an upload holds one part in memory, a download one piece.
//! Every call has a deadline, and is repeated after failures that may pass.

mod address;
mod bucket;
mod connection;
mod error;
mod query;
mod reader;
mod request;
mod sign;
mod upload;
mod xml;

pub use address::{Addressing, Endpoint};
pub use bucket::{Bucket, BucketSettings, Page};
pub use error::S3Error;
pub use reader::ObjectReader;
pub use request::RequestDeadlines;
