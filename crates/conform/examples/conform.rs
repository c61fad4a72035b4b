//! The suite without the command line: `conform KERNEL MODULES [--file] HYPERVISOR [ARGUMENT ...]`.

use ssdlab_conform::guest;
use ssdlab_conform::host::{CACHE_MODES, ConformPlan, MODELS, Transport, VHOST_USER, conform};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [word, count] = args.as_slice()
        && word == guest::ARGUMENT
    {
        guest::run(count.parse()?);
    }
    let [kernel, modules, command @ ..] = args.as_slice() else {
        return Err("conform KERNEL MODULES [--file] HYPERVISOR [ARGUMENT ...]".into());
    };
    let (transport, command) = match command {
        [word, rest @ ..] if word == "--file" => (Transport::File, rest),
        all => (Transport::Nbd, all),
    };
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let plan = ConformPlan {
        command: command.to_vec(),
        kernel: kernel.into(),
        modules: Some(modules.into()),
        guest: std::env::current_exe()?,
        models: owned(&[MODELS, &[VHOST_USER]].concat()),
        cache_modes: owned(CACHE_MODES),
        transport,
        timeout: Duration::from_secs(300),
    };
    let report = conform(&plan, &AtomicBool::new(false), &mut |line| {
        eprintln!("{line}")
    })?;
    print!("{}", report.render());
    Ok(())
}
