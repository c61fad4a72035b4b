//! Runs fuzz targets on stable Rust; with `--cfg fuzzing`, one of them under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

#[cfg(not(fuzzing))]
fn main() -> std::process::ExitCode {
    stable::main()
}

/// libFuzzer owns the command line, so the target is in `SSDLAB_FUZZ_TARGET`.
#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    static TARGET: std::sync::LazyLock<&ssdlab_fuzz::Target> = std::sync::LazyLock::new(|| {
        let name = std::env::var("SSDLAB_FUZZ_TARGET").expect("SSDLAB_FUZZ_TARGET");
        ssdlab_fuzz::targets::named(&name).expect("the name of a target")
    });
    (TARGET.run)(input);
});

#[cfg(not(fuzzing))]
mod stable {
    use clap::Parser;
    use rustix::process::{Resource, Rlimit, setrlimit};
    use ssdlab_base::parallel;
    use ssdlab_fuzz::run::{Finding, fuzz, replay};
    use ssdlab_fuzz::targets::{TARGETS, named};
    use ssdlab_fuzz::{Target, run};
    use std::path::{Path, PathBuf};
    use std::process::ExitCode;
    use std::time::Duration;

    /// Address space in bytes. A length field that is trusted exceeds it and ends the process.
    const MEMORY_MAX: u64 = 1 << 30;

    /// Feeds mutated inputs to the parsers of ssdlab.
    #[derive(Parser)]
    struct Args {
        /// Targets to run [default: all]
        targets: Vec<String>,
        /// Seconds for each target
        #[arg(long, default_value_t = 2.0)]
        seconds: f64,
        /// Seed of the mutations
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Runs this input only
        #[arg(long, value_name = "FILE")]
        replay: Option<PathBuf>,
        /// Writes the seeds of the target into this folder and runs nothing
        #[arg(long, value_name = "DIR")]
        write_seeds: Option<PathBuf>,
        /// Folder for an input that breaks a target
        #[arg(long, value_name = "DIR", default_value = "target/fuzz-findings")]
        findings: PathBuf,
    }

    pub fn main() -> ExitCode {
        let args = Args::parse();
        let limit = Rlimit {
            current: Some(MEMORY_MAX),
            maximum: Some(MEMORY_MAX),
        };
        setrlimit(Resource::As, limit).expect("a lower limit of memory");
        let mut chosen: Vec<&Target> = Vec::new();
        for name in &args.targets {
            let Some(target) = named(name) else {
                let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
                eprintln!("no target `{name}`\nhint: {}", names.join(", "));
                return ExitCode::from(2);
            };
            chosen.push(target);
        }
        if chosen.is_empty() {
            chosen.extend(TARGETS);
        }
        let mut code = ExitCode::SUCCESS;
        let run = |target: &&Target| run_one(target, &args);
        parallel::each(&chosen, parallel::cores(), run, |index, found| {
            if let Err(finding) = found {
                let (name, input) = (chosen[index].name, finding.input.display());
                eprintln!("{name}: {}; the input is in {input}", finding.reason);
                code = ExitCode::FAILURE;
            }
        });
        code
    }

    fn run_one(target: &Target, args: &Args) -> Result<(), Finding> {
        if let Some(folder) = &args.write_seeds {
            write_seeds(target, folder).expect("a folder that can be written");
            return Ok(());
        }
        if let Some(path) = &args.replay {
            let input = std::fs::read(path).expect("a readable input");
            return replay(target, &input, &args.findings);
        }
        let time = Duration::from_secs_f64(args.seconds);
        let run::Executed {
            corpus,
            executions,
            slowest,
        } = fuzz(target, args.seed, time, &args.findings)?;
        let name = target.name;
        let seed = args.seed;
        println!(
            "{name}: {executions} executions from {corpus} inputs, seed {seed}; slowest \
             {slowest:.1?}"
        );
        Ok(())
    }

    fn write_seeds(target: &Target, folder: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        for (number, seed) in (target.seeds)().iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number}")), seed)?;
        }
        Ok(())
    }
}
