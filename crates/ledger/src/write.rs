//! Rows as a ledger file.

use crate::read::COLUMNS;
use crate::row::LedgerRow;

/// The rows as the text of a ledger file.
pub fn text(rows: &[LedgerRow]) -> String {
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::Any(b'\n'))
        .from_writer(Vec::new());
    writer.write_record(COLUMNS).expect("written to memory");
    for row in rows {
        writer.write_record(cells(row)).expect("written to memory");
    }
    let bytes = writer.into_inner().expect("written to memory");
    String::from_utf8(bytes).expect("cells are text")
}

/// A number as short as it can be read back: six digits are enough for any figure.
pub fn number(value: f64) -> String {
    let digits = 5 - value.abs().log10().floor().clamp(-9.0, 5.0) as i32;
    let text = format!("{value:.*}", digits.max(0) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn cells(row: &LedgerRow) -> Vec<String> {
    let shown = |value: Option<f64>| value.map(number).unwrap_or_default();
    let flag = |value: Option<bool>| match value {
        Some(true) => "yes".to_owned(),
        Some(false) => "no".to_owned(),
        None => String::new(),
    };
    let word = |word: Option<&'static str>| word.unwrap_or_default().to_owned();
    let (drive, load, figure) = (&row.drive, &row.load, &row.figure);
    vec![
        drive.maker.clone(),
        drive.model.clone(),
        drive.family.clone(),
        shown(drive.capacity_gb),
        drive.firmware.clone(),
        word(drive.interface.map(|link| link.word())),
        drive.form.clone(),
        whole(drive.bits_per_cell),
        drive.nand.clone(),
        flag(drive.dram),
        flag(drive.plp),
        shown(drive.raw_gib),
        whole(drive.year),
        row.state.state.word().to_owned(),
        row.state.how.clone(),
        row.path.through.word().to_owned(),
        row.path.how.clone(),
        word(load.rw.map(|rw| rw.word())),
        whole(load.read_pct),
        whole(load.block_bytes),
        whole(load.queue_depth),
        whole(load.jobs),
        word(load.sync.map(|sync| sync.word())),
        figure.metric.name().to_owned(),
        number(figure.value),
        figure.metric.unit().to_owned(),
        shown(figure.low),
        shown(figure.high),
        whole(figure.samples),
        row.kind.word().to_owned(),
        row.row_use.word().to_owned(),
        row.source.clone(),
        row.place.clone(),
        row.trap.clone(),
        row.note.clone(),
    ]
}

fn whole<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
