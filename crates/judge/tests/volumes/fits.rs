//! `fit` on three traces of the repository against every setting of the grid.

use ssdlab_judge::volumes::load;
use ssdlab_load::trace::ReadOptions;
use ssdlab_volume::catalogue::{VolumeSetting, resolve, volume};
use ssdlab_volume::fit::{
    FitLimit, FitPlan, SettingCost, VolumePrices, cheapest_of_all, fit, replay,
};
use std::path::Path;

const TRACES: [&str; 3] = [
    "zfs-2.1.11-log-1-dataset.csv.gz",
    "zfs-2.1.11-log-5-datasets.csv.gz",
    "zfs-2010-emulation-5-datasets.csv.gz",
];

/// Made up: only their ratios matter.
const PRICES: &str = "
currency = \"made up\"
[volumes.gp2]
gib = 0.1
[volumes.gp3]
gib = 0.08
operation = 0.005
operations_free = 3000
throughput = 0.04
throughput_free = 125
[volumes.io1]
gib = 0.125
operation = 0.065
[volumes.premium-ssd.tiers]
P1 = 0.6
P2 = 1.2
P3 = 2.4
P4 = 5.3
P6 = 10.2
P10 = 19.7
P15 = 38.0
P20 = 73.2
P30 = 135.2
P40 = 259.0
P50 = 495.6
P60 = 946.1
P70 = 1802.1
P80 = 3604.2
";

fn setting(cost: &SettingCost) -> VolumeSetting {
    let chosen = |value: u64| (value > 0).then_some(value);
    VolumeSetting {
        gib: cost.gib,
        operations: chosen(cost.operations),
        throughput: chosen(cost.throughput),
    }
}

#[test]
fn what_fit_buys_serves_the_load_and_is_the_cheapest() {
    let prices = VolumePrices::parse(PRICES, "prices").expect("they are read");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/traces");
    let (mut compared, mut exact) = (0, 0);
    for name in TRACES {
        let load = load(&examples.join(name), &ReadOptions::default()).expect("it is read");
        for latency_ns in [1_500_000, 5_000_000, 20_000_000] {
            let limit = FitLimit {
                latency_ns,
                share: 0.99,
            };
            let plan = FitPlan {
                load: &load,
                limit,
                gib_min: 8,
                instance: None,
                credit_permille: 0,
                prices: &prices,
            };
            for kind in ["gp2", "gp3", "io1", "premium-ssd"] {
                let file = volume(kind).expect("it is in the catalogue");
                let bought = fit(&file, &plan).expect("there is a setting");
                let cheapest = cheapest_of_all(&file, &plan);
                assert_eq!(
                    bought.serves,
                    cheapest.is_some(),
                    "{name} {kind} {latency_ns}"
                );
                let Some(cheapest) = cheapest else { continue };
                let mut config = resolve(&file, &setting(&bought.cost)).expect("it is sold");
                config.credit_permille = 0;
                let run = replay(config, &load, limit);
                assert!(run.latency_ns <= latency_ns, "{name} {kind}: {run:?}");
                let price = |cost: &SettingCost| cost.price.expect("it has a price");
                let ratio = price(&bought.cost) / price(&cheapest);
                assert!(
                    ratio <= 1.12,
                    "{name} {kind}: {bought:?} against {cheapest:?}"
                );
                compared += 1;
                exact += u32::from(bought.cost == cheapest);
            }
        }
    }
    println!("{compared} settings bought, {exact} the cheapest of all");
    assert!(compared >= 18, "{compared}");
}
