//! Operations on objects and uploads.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{Method, request::Parts};
use ring::digest::{SHA256, digest};

use super::{FakeS3, State, Upload, signature::hex};

/// Every part but the last has at least 5 MiB.
const LEAST_PART: usize = 5 << 20;

/// A request with a valid signature.
pub(super) struct Question {
    method: Method,
    bucket: String,
    key: String,
    query: BTreeMap<String, String>,
    range: Option<(usize, usize)>,
    body: Bytes,
}

pub(super) struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

fn ok(body: impl Into<Bytes>) -> Answer {
    Answer { status: 200, headers: Vec::new(), body: body.into() }
}

/// An error as S3 writes it.
pub(super) fn error(status: u16, code: &str) -> Answer {
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code>\
         <Message>of a test</Message><RequestId>1</RequestId></Error>"
    );
    Answer { status, ..ok(body) }
}

fn tag(content: &[u8]) -> String {
    format!("\"{}\"", hex(&digest(&SHA256, content).as_ref()[..16]))
}

fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, after @ ..] = rest {
        let coded = (*first == b'%').then(|| std::str::from_utf8(&after[..2]).unwrap());
        bytes.push(coded.map_or(*first, |digits| u8::from_str_radix(digits, 16).unwrap()));
        rest = if coded.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap()
}

impl Question {
    pub(super) fn new(head: &Parts, body: Bytes) -> Self {
        let path = head.uri.path().trim_start_matches('/');
        let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
        let pairs = head.uri.query().unwrap_or("").split('&').filter(|pair| !pair.is_empty());
        let query = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (name.to_owned(), decoded(value))
        });
        let range = head.headers.get("range").map(|range| {
            let range = range.to_str().unwrap().strip_prefix("bytes=").unwrap();
            let (first, last) = range.split_once('-').unwrap();
            (first.parse().unwrap(), last.parse().unwrap())
        });
        let (bucket, key, query) = (bucket.to_owned(), decoded(key), query.collect());
        Self { method: head.method.clone(), bucket, key, query, range, body }
    }

    pub(super) fn answer(self, state: &mut State) -> Answer {
        if self.bucket != FakeS3::BUCKET {
            return error(404, "NoSuchBucket");
        }
        let has = |name| self.query.contains_key(name);
        match (self.method.as_str(), self.key.is_empty()) {
            ("GET", true) if has("uploads") => self.list_uploads(state),
            ("GET", true) if has("list-type") => self.list(state),
            ("POST", false) if has("uploads") => self.begin(state),
            ("POST", false) if has("uploadId") => self.complete(state),
            ("PUT", false) if has("uploadId") => self.add_part(state),
            ("DELETE", false) if has("uploadId") => match state.uploads.remove(self.upload_id()) {
                Some(_) => Answer { status: 204, ..ok("") },
                None => error(404, "NoSuchUpload"),
            },
            ("PUT", false) => {
                state.objects.insert(self.key, self.body);
                ok("")
            }
            ("DELETE", false) => {
                state.objects.remove(&self.key);
                Answer { status: 204, ..ok("") }
            }
            ("GET", false) => self.get(state),
            ("HEAD", false) => match state.objects.get(&self.key) {
                Some(object) => {
                    let headers = vec![("content-length".into(), object.len().to_string())];
                    Answer { headers, ..ok("") }
                }
                None => Answer { status: 404, ..ok("") },
            },
            _ => error(405, "MethodNotAllowed"),
        }
    }

    fn upload_id(&self) -> &str {
        self.query.get("uploadId").map_or("", String::as_str)
    }

    fn get(&self, state: &State) -> Answer {
        let Some(object) = state.objects.get(&self.key) else { return error(404, "NoSuchKey") };
        match self.range {
            None => ok(object.clone()),
            Some((first, _)) if first >= object.len() => error(416, "InvalidRange"),
            Some((first, last)) => {
                let last = last.min(object.len() - 1);
                let range = format!("bytes {first}-{last}/{}", object.len());
                let headers = vec![("content-range".to_owned(), range)];
                Answer { status: 206, headers, body: object.slice(first..=last) }
            }
        }
    }

    fn list(&self, state: &State) -> Answer {
        let text = |name| self.query.get(name).map_or("", String::as_str);
        let (prefix, after) = (text("prefix"), text("continuation-token"));
        let asked = text("max-keys").parse().unwrap_or(1000);
        let keys = state.objects.keys().filter(|key| {
            key.starts_with(prefix) && (after.is_empty() || format!("after {key}").as_str() > after)
        });
        let keys: Vec<_> = keys.collect();
        let page = &keys[..keys.len().min(asked).min(state.page)];
        let mut body =
            String::from("<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
        for key in page {
            body += &format!("<Contents><Key>{key}</Key><Size>1</Size></Contents>");
        }
        let more = page.len() < keys.len();
        body += &format!("<IsTruncated>{more}</IsTruncated>");
        if let Some(last) = page.last().filter(|_| more) {
            // A token is any text.
            body += &format!("<NextContinuationToken>after {last}</NextContinuationToken>");
        }
        ok(body + "</ListBucketResult>")
    }

    fn list_uploads(&self, state: &State) -> Answer {
        let mut body = String::from("<ListMultipartUploadsResult>");
        for (id, Upload { key, .. }) in &state.uploads {
            body += &format!("<Upload><Key>{key}</Key><UploadId>{id}</UploadId></Upload>");
        }
        ok(body + "</ListMultipartUploadsResult>")
    }

    fn begin(self, state: &mut State) -> Answer {
        state.created += 1;
        // Ids of real services also need encoding.
        let id = format!("id/{}+=", state.created);
        state.uploads.insert(id.clone(), Upload { key: self.key, parts: BTreeMap::new() });
        ok(format!(
            "<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
        ))
    }

    fn add_part(self, state: &mut State) -> Answer {
        let number = self.query.get("partNumber").and_then(|it| it.parse().ok()).unwrap_or(0);
        let Some(upload) = state.uploads.get_mut(self.upload_id()) else {
            return error(404, "NoSuchUpload");
        };
        if !(1..=10_000).contains(&number) || upload.key != self.key {
            return error(400, "InvalidArgument");
        }
        let tag = tag(&self.body);
        upload.parts.insert(number, (tag.clone(), self.body));
        Answer { headers: vec![("etag".to_owned(), tag)], ..ok("") }
    }

    fn complete(&self, state: &mut State) -> Answer {
        let Some(upload) = state.uploads.get(self.upload_id()) else {
            return error(404, "NoSuchUpload");
        };
        let asked = String::from_utf8(self.body.to_vec()).unwrap();
        let parts = upload.parts.iter().map(|(number, (tag, _))| {
            format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>")
        });
        let parts: String = parts.collect();
        if asked != format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>") {
            return error(400, "InvalidPart");
        }
        let sizes: Vec<_> = upload.parts.values().map(|(_, part)| part.len()).collect();
        if sizes[..sizes.len() - 1].iter().any(|size| *size < LEAST_PART) {
            return error(400, "EntityTooSmall");
        }
        let content: Vec<u8> = upload.parts.values().flat_map(|(_, part)| part.to_vec()).collect();
        state.objects.insert(self.key.clone(), content.into());
        state.uploads.remove(self.upload_id());
        ok("<CompleteMultipartUploadResult></CompleteMultipartUploadResult>")
    }
}
