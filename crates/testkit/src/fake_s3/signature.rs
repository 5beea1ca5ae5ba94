//! Checks signatures as a service does: it makes its own and compares. Shares no code with the client.

use http::request::Parts;
use ring::{
    digest::{SHA256, digest},
    hmac::{HMAC_SHA256, Key, sign},
};

use super::FakeS3;

/// Fails with the code of S3.
pub(super) fn check(head: &Parts, body: &[u8]) -> Result<(), &'static str> {
    let header = |name: &str| head.headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or("");
    let authorization = header("authorization").strip_prefix("AWS4-HMAC-SHA256 ");
    let fields = authorization.ok_or("AccessDenied")?.split(',').map(str::trim);
    let fields: Vec<_> = fields.filter_map(|field| field.split_once('=')).collect();
    let field = |name: &str| {
        fields.iter().find(|(it, _)| *it == name).map(|(_, value)| *value).ok_or("AccessDenied")
    };
    let (scope, names, claimed) =
        (field("Credential")?, field("SignedHeaders")?, field("Signature")?);
    let (access_key, scope) = scope.split_once('/').ok_or("AccessDenied")?;
    if access_key != FakeS3::ACCESS_KEY {
        return Err("InvalidAccessKeyId");
    }
    let [day, region, service, end] = scope.split('/').collect::<Vec<_>>()[..] else {
        return Err("AuthorizationHeaderMalformed");
    };
    let time = header("x-amz-date");
    if region != FakeS3::REGION
        || (service, end) != ("s3", "aws4_request")
        || !time.starts_with(day)
    {
        return Err("AuthorizationHeaderMalformed");
    }
    let names: Vec<_> = names.split(';').collect();
    if ["host", "x-amz-content-sha256", "x-amz-date"].iter().any(|it| !names.contains(it)) {
        return Err("AccessDenied");
    }
    let payload = hex(digest(&SHA256, body).as_ref());
    if header("x-amz-content-sha256") != payload {
        return Err("XAmzContentSHA256Mismatch");
    }

    let mut query: Vec<_> = head.uri.query().unwrap_or("").split('&').collect();
    query.sort_unstable();
    let mut canonical = vec![head.method.to_string(), head.uri.path().to_owned(), query.join("&")];
    canonical.extend(names.iter().map(|name| format!("{name}:{}", header(name).trim())));
    canonical.extend([String::new(), names.join(";"), payload]);
    let canonical = hex(digest(&SHA256, canonical.join("\n").as_bytes()).as_ref());
    let to_sign = ["AWS4-HMAC-SHA256", time, scope, &canonical].join("\n");

    let mut key = ["AWS4", FakeS3::SECRET_KEY].concat().into_bytes();
    for part in [day, region, service, end] {
        key = sign(&Key::new(HMAC_SHA256, &key), part.as_bytes()).as_ref().to_vec();
    }
    let signature = hex(sign(&Key::new(HMAC_SHA256, &key), to_sign.as_bytes()).as_ref());
    if signature == claimed { Ok(()) } else { Err("SignatureDoesNotMatch") }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
