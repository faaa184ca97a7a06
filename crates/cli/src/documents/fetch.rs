//! Documents behind an address: read whole, within a time and a size, and never on to where it is less safe.

use std::time::Duration;

use futures::{AsyncReadExt as _, TryStreamExt as _};
use http::{Request, StatusCode, Uri, header, uri::Scheme};
use http_body_util::BodyExt as _;
use kube::{Config, client::Body};

use crate::{failure::Failure, progress};

/// How long it may take, redirects included.
const DEADLINE: Duration = Duration::from_secs(30);
/// How often an address may lead to another one.
const MOST_REDIRECTS: usize = 5;

/// Whether this is an address, not a file.
pub(super) fn is_address(text: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| text.starts_with(scheme))
}

/// The text behind an address.
pub(super) async fn text(address: &str, largest: u64) -> Result<String, Failure> {
    let fetched = tokio::time::timeout(DEADLINE, followed(address, largest));
    let words = format!("reading {address}");
    progress::during(&words, fetched).await.unwrap_or_else(|_| {
        let words = format!("{address} was not read within {} s", DEADLINE.as_secs());
        Err(Failure::new(words).next("Save it as a file first."))
    })
}

async fn followed(address: &str, largest: u64) -> Result<String, Failure> {
    let no_address = |words: &str| {
        Failure::usage(format!("{words} is no address")).next("Write https://HOST/PATH")
    };
    let mut uri: Uri = address.parse().map_err(|_| no_address(address))?;
    for _ in 0..=MOST_REDIRECTS {
        match fetched(&uri, largest).await? {
            Answer::Text(text) => return Ok(text),
            Answer::Elsewhere(place) => {
                let next = joined(&uri, &place).ok_or_else(|| no_address(&place))?;
                if uri.scheme() == Some(&Scheme::HTTPS) && next.scheme() != Some(&Scheme::HTTPS) {
                    return Err(Failure::new(format!(
                        "{address} leads from https to {next}, which anybody could change on its way"
                    )));
                }
                uri = next;
            }
        }
    }
    Err(Failure::new(format!(
        "{address} leads from one address to the next, without an end"
    )))
}

/// What an address answers.
enum Answer {
    Text(String),
    Elsewhere(String),
}

async fn fetched(uri: &Uri, largest: u64) -> Result<Answer, Failure> {
    let unread = |error: &(dyn std::error::Error + 'static)| {
        Failure::new(format!("{uri} cannot be read"))
            .because(error)
            .next("Try it in a browser, or save it as a file first.")
    };
    let mut server = uri.clone().into_parts();
    let path = server.path_and_query.replace("/".parse().expect("a path"));
    let server = Uri::from_parts(server).map_err(|error| unread(&error))?;
    let client =
        quadrille_planes::connect::over(&Config::new(server)).map_err(|error| unread(&error))?;
    let path = path.map_or_else(|| "/".to_owned(), |path| path.to_string());
    let request = Request::get(path)
        .body(Body::empty())
        .map_err(|error| unread(&error))?;
    let answer = client
        .send(request)
        .await
        .map_err(|error| unread(&error).unanswered(&error))?;
    let status = answer.status();
    let location = answer.headers().get(header::LOCATION);
    if let Some(place) = location.filter(|_| status.is_redirection()) {
        return Ok(Answer::Elsewhere(
            String::from_utf8_lossy(place.as_bytes()).into_owned(),
        ));
    }
    if status != StatusCode::OK {
        return Err(Failure::new(format!("{uri} answers {status}")).next("Check the address."));
    }
    let body = answer.into_body().into_data_stream();
    let body = body.map_err(std::io::Error::other).into_async_read();
    let mut text = String::new();
    let read = body.take(largest + 1).read_to_string(&mut text).await;
    if read.map_err(|error| unread(&error))? as u64 > largest {
        return Err(super::too_large(&uri.to_string()));
    }
    Ok(Answer::Text(text))
}

/// Where a redirect leads: to another server, or elsewhere on the same one.
fn joined(uri: &Uri, place: &str) -> Option<Uri> {
    if is_address(place) {
        return place.parse().ok();
    }
    let mut parts = uri.clone().into_parts();
    let path = if place.starts_with('/') {
        place.to_owned()
    } else {
        let folder = uri.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{folder}/{place}")
    };
    parts.path_and_query = Some(path.parse().ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_lead_to_other_servers_and_to_other_paths() {
        let from: Uri = "https://a.example/x/y.yaml".parse().unwrap();
        for (place, to) in [
            ("https://b.example/z", "https://b.example/z"),
            ("/z.yaml?raw=1", "https://a.example/z.yaml?raw=1"),
            ("z.yaml", "https://a.example/x/z.yaml"),
        ] {
            assert_eq!(joined(&from, place).unwrap().to_string(), to);
        }
        assert!(is_address("http://a") && !is_address("httpd.yaml") && !is_address("ftp://a"));
    }
}
