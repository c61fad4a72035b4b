//! Which fio job files can be carried out, and why the others cannot:
//! `cargo run -p ssdlab-load --example fio_files -- fio/examples/*.fio`

#![allow(clippy::print_stdout)]

use ssdlab_load::fio;
use std::path::Path;

fn main() {
    let (mut accepted, mut refused) = (0, 0);
    for file in std::env::args().skip(1) {
        match fio::read(Path::new(&file)) {
            Ok(plan) => {
                accepted += 1;
                println!("accepted: {file}");
                for note in fio::notes(&plan) {
                    println!("  {note}");
                }
            }
            Err(error) => {
                refused += 1;
                println!("refused: {file}: {error}");
                if !error.hint().is_empty() {
                    println!("  hint: {}", error.hint());
                }
            }
        }
    }
    println!("{accepted} accepted, {refused} refused");
}
