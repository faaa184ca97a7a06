//! Numbers about requests and the process, in Prometheus' text form.
//!
//! Names and labels follow Kubernetes where it has the same number, so that existing dashboards read them.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;

use super::{asked::Asked, process};

/// Upper bounds of the duration buckets, in seconds.
const BUCKETS: [f64; 14] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0,
];

/// Clients can make up resource names; beyond this many series new ones are counted together.
const MAX_SERIES: usize = 4000;

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Series {
    verb: &'static str,
    group: String,
    version: String,
    resource: String,
    subresource: String,
    scope: &'static str,
}

#[derive(Debug, Default)]
struct Requests {
    by_code: BTreeMap<u16, u64>,
    /// Per bucket, not cumulated; the last one is for everything slower.
    buckets: [u64; BUCKETS.len() + 1],
    seconds: f64,
    /// Long-running requests that are open now.
    open: i64,
}

type Gauge = Box<dyn Fn() -> f64 + Send + Sync>;

/// Counts requests; more numbers can be [hung in](Metrics::gauge).
#[derive(Default)]
pub struct Metrics {
    requests: Mutex<BTreeMap<Series, Requests>>,
    gauges: Mutex<Vec<(&'static str, &'static str, Gauge)>>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Metrics")
            .field("series", &self.requests.lock().len())
            .finish_non_exhaustive()
    }
}

impl Metrics {
    /// Adds a number that is read whenever somebody looks.
    pub fn gauge(
        &self,
        name: &'static str,
        help: &'static str,
        read: impl Fn() -> f64 + Send + Sync + 'static,
    ) {
        self.gauges.lock().push((name, help, Box::new(read)));
    }

    /// Counts an answered request. Watches are counted, not timed.
    pub fn answered(&self, asked: &Asked, code: u16, took: Duration) {
        self.with(asked, |requests| {
            *requests.by_code.entry(code).or_default() += 1;
            if !asked.is_long_running() {
                let seconds = took.as_secs_f64();
                let bucket = BUCKETS.iter().position(|bound| seconds <= *bound);
                requests.buckets[bucket.unwrap_or(BUCKETS.len())] += 1;
                requests.seconds += seconds;
            }
        });
    }

    /// Counts a long-running request as open until the guard is dropped.
    pub fn opened(self: &Arc<Self>, asked: &Asked) -> Open {
        self.with(asked, |requests| requests.open += 1);
        Open {
            metrics: self.clone(),
            asked: asked.clone(),
        }
    }

    fn with(&self, asked: &Asked, count: impl FnOnce(&mut Requests)) {
        let mut series = Series {
            verb: asked.verb,
            group: asked.group.clone(),
            version: asked.version.clone(),
            resource: asked.resource.clone(),
            subresource: asked.subresource.clone(),
            scope: asked.scope(),
        };
        let mut all = self.requests.lock();
        if all.len() >= MAX_SERIES && !all.contains_key(&series) {
            series = Series {
                verb: asked.verb,
                resource: "other".to_owned(),
                ..Series::default()
            };
        }
        count(all.entry(series).or_default());
    }

    /// The whole page.
    pub fn render(&self) -> String {
        let mut page = String::new();
        // Writing to a String cannot fail.
        let _ = self.render_requests(&mut page);
        for (name, help, value) in process::numbers() {
            let _ = single(&mut page, name, help, value);
        }
        for (name, help, read) in self.gauges.lock().iter() {
            let _ = single(&mut page, name, help, read());
        }
        page
    }

    fn render_requests(&self, page: &mut String) -> fmt::Result {
        let all = self.requests.lock();
        page.push_str(
            "# HELP apiserver_request_total Requests by verb, resource and response code.\n\
             # TYPE apiserver_request_total counter\n",
        );
        for (series, requests) in all.iter() {
            for (code, count) in &requests.by_code {
                writeln!(
                    page,
                    "apiserver_request_total{{{},code=\"{code}\"}} {count}",
                    labels(series)
                )?;
            }
        }
        page.push_str(
            "# HELP apiserver_request_duration_seconds Time to answer, without watches.\n\
             # TYPE apiserver_request_duration_seconds histogram\n",
        );
        for (series, requests) in all.iter() {
            render_histogram(page, &labels(series), requests)?;
        }
        page.push_str(
            "# HELP apiserver_longrunning_requests Open watches and other long-running requests.\n\
             # TYPE apiserver_longrunning_requests gauge\n",
        );
        for (series, requests) in all.iter().filter(|(_, requests)| requests.open != 0) {
            writeln!(
                page,
                "apiserver_longrunning_requests{{{}}} {}",
                labels(series),
                requests.open
            )?;
        }
        Ok(())
    }
}

/// An open long-running request; dropping it counts it as closed.
#[derive(Debug)]
pub struct Open {
    metrics: Arc<Metrics>,
    asked: Asked,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.metrics
            .with(&self.asked, |requests| requests.open -= 1);
    }
}

fn render_histogram(page: &mut String, labels: &str, requests: &Requests) -> fmt::Result {
    let name = "apiserver_request_duration_seconds";
    let total: u64 = requests.buckets.iter().sum();
    if total == 0 {
        return Ok(());
    }
    let mut below = 0;
    for (bound, count) in BUCKETS.iter().zip(requests.buckets) {
        below += count;
        writeln!(page, "{name}_bucket{{{labels},le=\"{bound}\"}} {below}")?;
    }
    writeln!(page, "{name}_bucket{{{labels},le=\"+Inf\"}} {total}")?;
    writeln!(page, "{name}_sum{{{labels}}} {}", requests.seconds)?;
    writeln!(page, "{name}_count{{{labels}}} {total}")
}

fn single(page: &mut String, name: &str, help: &str, value: f64) -> fmt::Result {
    let kind = if name.ends_with("_total") {
        "counter"
    } else {
        "gauge"
    };
    writeln!(
        page,
        "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}"
    )
}

fn labels(series: &Series) -> String {
    let escaped = |text: &str| {
        text.replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n")
    };
    format!(
        "component=\"apiserver\",group=\"{}\",version=\"{}\",resource=\"{}\",subresource=\"{}\",scope=\"{}\",verb=\"{}\"",
        escaped(&series.group),
        escaped(&series.version),
        escaped(&series.resource),
        escaped(&series.subresource),
        series.scope,
        series.verb.to_uppercase(),
    )
}

#[cfg(test)]
mod tests {
    use http::{Method, Uri};

    use super::*;

    fn asked(uri: &str) -> Asked {
        Asked::read(&Method::GET, &uri.parse::<Uri>().unwrap())
    }

    fn line<'a>(page: &'a str, start: &str) -> &'a str {
        let found = page.lines().find(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("no line starts with {start}:\n{page}"))
    }

    #[test]
    fn requests_are_counted_by_resource_and_code_and_sorted_into_buckets() {
        let metrics = Metrics::default();
        let pods = asked("/api/v1/namespaces/shop/pods");
        metrics.answered(&pods, 200, Duration::from_millis(3));
        metrics.answered(&pods, 200, Duration::from_secs(100));
        metrics.answered(&pods, 403, Duration::from_millis(3));
        let page = metrics.render();
        let series = r#"component="apiserver",group="",version="v1",resource="pods",subresource="",scope="namespace",verb="LIST""#;
        assert!(page.contains(&format!(
            "apiserver_request_total{{{series},code=\"200\"}} 2\n"
        )));
        assert!(page.contains(&format!(
            "apiserver_request_total{{{series},code=\"403\"}} 1\n"
        )));
        let bucket =
            |le| format!("apiserver_request_duration_seconds_bucket{{{series},le=\"{le}\"}}");
        assert!(line(&page, &bucket("0.0025")).ends_with(" 0"));
        assert!(line(&page, &bucket("0.005")).ends_with(" 2"));
        assert!(line(&page, &bucket("60")).ends_with(" 2"));
        assert!(line(&page, &bucket("+Inf")).ends_with(" 3"));
    }

    #[test]
    fn open_watches_are_a_gauge_that_comes_back_to_nothing() {
        let metrics = Arc::new(Metrics::default());
        let watch = asked("/api/v1/pods?watch=1");
        let (first, second) = (metrics.opened(&watch), metrics.opened(&watch));
        let open = |page: &str| {
            page.lines()
                .filter(|line| line.starts_with("apiserver_longrunning_requests{"))
                .map(|line| line.rsplit(' ').next().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(open(&metrics.render()), ["2"]);
        drop((first, second));
        assert!(open(&metrics.render()).is_empty());
    }

    #[test]
    fn made_up_resources_cannot_grow_the_page_for_ever() {
        let metrics = Metrics::default();
        for number in 0..MAX_SERIES + 100 {
            let uri = format!("/api/v1/thing{number}");
            metrics.answered(&asked(&uri), 404, Duration::ZERO);
        }
        assert!(metrics.requests.lock().len() <= MAX_SERIES + 1);
        assert!(line(&metrics.render(), "process_resident_memory_bytes ").len() > 30);
    }

    #[test]
    fn gauges_are_read_when_somebody_looks() {
        let metrics = Metrics::default();
        metrics.gauge("quadrille_store_revision", "The store's revision.", || 42.0);
        assert!(metrics.render().ends_with("quadrille_store_revision 42\n"));
    }
}
