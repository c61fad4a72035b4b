use super::*;
use crate::figures::tests::request;
use crate::forecast::{ExpectedEvent, ForecastCause, ForecastInterval};
use crate::report::{WatchHistory, WatchSurroundings};

fn fetch(address: SocketAddr, path: &str) -> String {
    let mut client = TcpStream::connect(address).expect("connected");
    let accepted = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2";
    write!(
        client,
        "GET {path} HTTP/1.1\r\nHost: x\r\nAccept: {accepted}\r\n\r\n"
    )
    .expect("asked");
    let mut text = String::new();
    client.read_to_string(&mut text).expect("answered");
    text
}

#[test]
fn who_does_not_know_openmetrics_gets_the_older_format() {
    let exporter = WatchExporter::new("sda");
    let open = {
        let mut text = String::new();
        let registry = exporter.registry.lock().expect("unharmed");
        encode(&mut text, &registry).expect("text");
        text
    };
    let plain = as_plain_text(&open);
    assert!(plain.contains("# TYPE ssdlab_watch_requests_total counter\n"));
    assert!(plain.contains("# HELP ssdlab_watch_requests_total Requests"));
    assert!(plain.contains("# TYPE ssdlab_watch_request_seconds histogram\n"));
    assert!(!plain.contains("# EOF") && !plain.contains("# UNIT"));
    let samples = |text: &str| text.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(samples(&plain), samples(&open));
}

#[test]
fn forecast_and_wear_are_metrics() {
    let exporter = WatchExporter::new("sda");
    let interval = |median: f64| ForecastInterval {
        low: median / 2.0,
        median,
        high: None,
    };
    exporter.set_forecast(&WatchForecast {
        drive: None,
        write_rate: 1e6,
        cliff: ForecastOutlook::Expected {
            event: ExpectedEvent {
                cause: ForecastCause::CacheFull,
                likelihood: 0.8,
                seconds: interval(600.0),
                bytes: interval(6e8),
                rate_after: None,
            },
        },
        throttling: ForecastOutlook::none("it stays cool", 0.0),
        life: ForecastOutlook::unknown("no rating", "a fact"),
    });
    exporter.set_wear(&DriveCounters {
        used_percent: Some(7.0),
        ..DriveCounters::default()
    });
    let mut text = String::new();
    let registry = exporter.registry.lock().expect("unharmed");
    encode(&mut text, &registry).expect("text");
    let forecast = |event: &str, bound: &str| {
        let name = "ssdlab_watch_forecast_seconds";
        format!("{name}{{device=\"sda\",event=\"{event}\",bound=\"{bound}\"}}")
    };
    for line in [
        format!("{} 300.0", forecast("write cliff", "low")),
        format!("{} 600.0", forecast("write cliff", "median")),
        format!("{} inf", forecast("write cliff", "high")),
        format!("{} inf", forecast("throttling", "low")),
        "ssdlab_watch_rated_life_used_ratio{device=\"sda\"} 0.07".to_owned(),
    ] {
        assert!(text.contains(&line), "{line} in {text}");
    }
    assert!(!text.contains("event=\"rated life\""), "it is not known");
    assert!(!text.contains("spare_ratio{"), "the drive does not say");
}

#[test]
fn what_is_scraped_is_what_was_watched() {
    let mut exporter = WatchExporter::new("sda");
    let mut history = WatchHistory::new(0);
    for i in 0..50_u64 {
        let flush = request("FF", 0, 0, i * 20_000_000, 0, 12_000_000);
        let slow = request("R", 8 * i, 4096, i * 20_000_000, 0, 150_000_000);
        for request in [flush, slow] {
            exporter.request(&request);
            history.add(request);
        }
    }
    history.advance(2_000_000_000);
    let figures = history.figures();
    exporter.second(&WatchReport::new(
        &history,
        figures,
        &WatchSurroundings::default(),
    ));
    let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
    let address = exporter.serve(loopback).expect("listening");
    let text = fetch(address, "/metrics");
    assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
    for line in [
        "ssdlab_watch_request_seconds_count{device=\"sda\",kind=\"flush\",layer=\"drive\"} 50",
        "stalls_total{device=\"sda\",kind=\"read\",cause=\"slow media or controller\"} 50",
        "ssdlab_watch_stalls_total{device=\"sda\",kind=\"flush\",cause=\"volatile buffer\"} 0",
        "cause{device=\"sda\",cause=\"limit of a control group\",layer=\"host\"} 0",
        "ssdlab_watch_requests_total{device=\"sda\",kind=\"read\"} 50",
        "ssdlab_watch_moved_bytes_total{device=\"sda\",kind=\"read\"} 204800",
        "# EOF",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    let slow = "ssdlab_watch_cause{device=\"sda\",cause=\"slow media or controller\"";
    let row = text
        .lines()
        .find(|line| line.starts_with(slow))
        .expect("a row");
    let factor: f64 = row
        .rsplit(' ')
        .next()
        .and_then(|word| word.parse().ok())
        .expect("a number");
    assert!(factor > 1.5, "{row}");
    let foretold = text
        .lines()
        .filter(|line| line.contains("forecast_seconds{"));
    assert_eq!(foretold.count(), 0, "no model is named");
    assert!(fetch(address, "/").starts_with("HTTP/1.1 404"));
    assert!(exporter.serve(address).is_err(), "the port is taken");
}
