//! Prints the structure of the repository and every breach of its rules.

use ssdlab_tidy::mutants;
use ssdlab_tidy::print::{self, GraphOptions};
use ssdlab_tidy::repository::Repository;
use ssdlab_tidy::words::AvoidedWords;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
The rules of this repository, as commands.

Usage: ssdlab-tidy [--root FOLDER] COMMAND

  graph                    crates and modules, floors and circles
        --modules [CRATE]  all floors and arrows, of one crate or of every crate
        --unresolved       paths that were not found
  words [PATH...]          words to avoid, in files whose path begins with PATH
  lines                    lines of Rust by crate, tests apart
  mutants SEED ONE_IN      changes of `ssd` by rule, one in ONE_IN by SEED
        [FOLDER [ID...]]   writes them into a copy of the tree, without IDs

Exit code: 0 if every rule holds, 1 if one is broken, 2 after an error.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether every rule that the command looks at holds.
fn run(arguments: &[String]) -> Result<bool, String> {
    let (root, arguments) = match arguments {
        [option, root, rest @ ..] if option == "--root" => (PathBuf::from(root), rest),
        _ => (nearest_root()?, arguments),
    };
    let Some((command, rest)) = arguments.split_first() else {
        return Err(format!("a command is missing\n\n{HELP}"));
    };
    if ["help", "--help", "-h"].contains(&command.as_str()) {
        print!("{HELP}");
        return Ok(true);
    }
    let repository = Repository::read(&root);
    let repository = repository.map_err(|error| format!("{}: {error}", root.display()))?;
    match command.as_str() {
        "graph" => graph(&repository, rest),
        "words" => words(&repository, rest),
        "lines" if rest.is_empty() => {
            print!("{}", print::line_counts(&repository));
            Ok(true)
        }
        "mutants" => mutants(&repository, rest),
        _ => Err(format!("unknown: {}\n\n{HELP}", arguments.join(" "))),
    }
}

fn nearest_root() -> Result<PathBuf, String> {
    let current_dir = std::env::current_dir().map_err(|error| error.to_string())?;
    Repository::find(&current_dir).ok_or_else(|| "no workspace here; give --root FOLDER".to_owned())
}

fn graph(repository: &Repository, arguments: &[String]) -> Result<bool, String> {
    let mut options = GraphOptions::default();
    let mut remaining = arguments.iter().peekable();
    while let Some(argument) = remaining.next() {
        match argument.as_str() {
            "--modules" => {
                let name = remaining.next_if(|next| !next.starts_with('-'));
                options.modules = Some(name.cloned().unwrap_or_default());
            }
            "--unresolved" => options.unresolved = true,
            _ => return Err(format!("unknown: {argument}\n\n{HELP}")),
        }
    }
    let (text, wrong) = print::graph(repository, &options)?;
    print!("{text}");
    for offence in &wrong {
        eprintln!("wrong: {offence}");
    }
    Ok(wrong.is_empty())
}

fn mutants(repository: &Repository, arguments: &[String]) -> Result<bool, String> {
    let number = |text: &String| {
        text.parse::<u64>()
            .map_err(|_| format!("not a number: {text}"))
    };
    let (seed, one_in, rest) = match arguments {
        [seed, one_in, rest @ ..] => (number(seed)?, number(one_in)?.max(1), rest),
        _ => return Err(format!("a number is missing\n\n{HELP}")),
    };
    let files = mutants::mutated_files(repository);
    let chosen = mutants::chosen(&files, &mutants::Choice { seed, one_in })?;
    for mutant in &chosen {
        let (id, share, line) = (mutant.id, mutant.share, mutant.line);
        println!("{id}\t{share}\t{}\t{line}\t{}", mutant.file, mutant.name());
    }
    if let Some((folder, left_out)) = rest.split_first() {
        let left_out: Result<Vec<u64>, String> = left_out.iter().map(number).collect();
        let left_out = left_out?;
        let is_kept = |mutant: &&mutants::Mutant| !left_out.contains(&(mutant.id as u64));
        for source in &files {
            let own = chosen.iter().filter(|mutant| mutant.file == source.path);
            let own: Vec<_> = own.filter(is_kept).collect();
            write(
                folder,
                &source.path,
                &mutants::rewritten(&source.text, &own),
            )?;
        }
        let library = "crates/ssd/src/lib.rs";
        let text = repository.source(library).map_or("", |source| &source.text);
        write(folder, library, &format!("{text}\nmod mutant;\n"))?;
        write(
            folder,
            "crates/ssd/src/mutant.rs",
            &mutants::switch(chosen.len()),
        )?;
    }
    Ok(true)
}

fn write(folder: &str, path: &str, text: &str) -> Result<(), String> {
    let path = Path::new(folder).join(path);
    std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn words(repository: &Repository, paths: &[String]) -> Result<bool, String> {
    let list = AvoidedWords::of_the_house();
    let paths: Vec<&str> = paths
        .iter()
        .map(|path| path.trim_start_matches("./"))
        .collect();
    for path in &paths {
        if !Path::new(&repository.root).join(path).exists() {
            return Err(format!(
                "{path}: no such file below {}",
                repository.root.display()
            ));
        }
    }
    let is_selected =
        |path: &str| paths.is_empty() || paths.iter().any(|start| path.starts_with(start));
    let sources = repository
        .sources
        .iter()
        .filter(|source| is_selected(&source.path));
    let offences: Vec<String> = sources.flat_map(|source| list.offences(source)).collect();
    for offence in &offences {
        println!("{offence}");
    }
    eprintln!("{} offences", offences.len());
    Ok(offences.is_empty())
}
