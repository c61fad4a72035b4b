//! `series.parquet`: the rows of `series.csv` in columns with types.
//!
//! One row group, no compression: a run has a row per second. Counts, bytes and whole nanoseconds
//! are 64-bit integers, means and lengths are doubles, what a target does not report is null.
//! Integers are written as packed differences. Dictionaries are not used: the crate would seed
//! their hashes from the system's random numbers, and panic without them.

use super::reader::RunDir;
use super::writer::write_bytes;
use super::{PARQUET_FILE, csv};
use crate::device::OP_NAMES;
use crate::record::{OpSecond, Second};
use parquet::basic::{Encoding, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use ssdlab_base::LabError;
use std::sync::Arc;

/// The values of a column, one per second.
enum ColumnValues {
    Whole(Vec<Option<i64>>),
    Real(Vec<f64>),
}

/// A column of `series.csv`.
struct ParquetColumn {
    name: String,
    optional: bool,
    values: ColumnValues,
}

impl RunDir {
    /// Writes `series.parquet` into the run directory, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_parquet(&self) -> Result<(), LabError> {
        let path = self.path.join(PARQUET_FILE);
        let bytes = encoded(&columns(&self.seconds)).map_err(|error| {
            LabError::file("writing", &path, std::io::Error::other(error.to_string()))
        })?;
        write_bytes(&path, &bytes)
    }
}

/// Every column of `series.csv`, in its order.
fn columns(seconds: &[Second]) -> Vec<ParquetColumn> {
    let whole = |value: &dyn Fn(&Second) -> u64| {
        let values = seconds.iter().map(|s| Some(clamped(value(s))));
        ColumnValues::Whole(values.collect())
    };
    let optional = |value: &dyn Fn(&Second) -> Option<u64>| {
        ColumnValues::Whole(seconds.iter().map(|s| value(s).map(clamped)).collect())
    };
    let real =
        |value: &dyn Fn(&Second) -> f64| ColumnValues::Real(seconds.iter().map(value).collect());
    let column = |name: &str, values| ParquetColumn {
        name: name.to_owned(),
        optional: false,
        values,
    };
    let starts = ColumnValues::Whole(seconds.iter().map(|s| Some(s.t_s)).collect());
    let mut columns = vec![
        column("phase", whole(&|s| s.phase as u64)),
        column("t_s", starts),
        column("length_s", real(&|s| s.length_s)),
    ];
    for (op, name) in OP_NAMES.iter().enumerate() {
        for part in csv::OP_COLUMNS {
            let values = match part {
                "mean_ns" => real(&|s| s.ops[op].mean_ns),
                _ => whole(&|s| whole_part(&s.ops[op], part)),
            };
            columns.push(column(&format!("{name}_{part}"), values));
        }
    }
    let unknown = |name: &str, values| ParquetColumn {
        optional: true,
        ..column(name, values)
    };
    columns.push(unknown(
        "nand_bytes_written",
        optional(&|s| s.nand_bytes_written),
    ));
    columns.push(unknown("device_flushes", optional(&|s| s.device_flushes)));
    columns
}

/// The whole number of one second's commands that a column of `series.csv` holds.
fn whole_part(op: &OpSecond, column: &str) -> u64 {
    match column {
        "count" => op.count,
        "bytes" => op.bytes,
        "p50_ns" => op.p50_ns,
        "p99_ns" => op.p99_ns,
        "p999_ns" => op.p999_ns,
        "max_ns" => op.max_ns,
        _ => unreachable!("no column `{column}`"),
    }
}

/// Readers take 64-bit integers as signed; nothing here comes near the difference.
fn clamped(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn encoded(columns: &[ParquetColumn]) -> Result<Vec<u8>, ParquetError> {
    let fields: Result<Vec<_>, _> = columns.iter().map(field).collect();
    let schema = Type::group_type_builder("series").with_fields(fields?);
    let writer = format!("ssdlab {}", env!("CARGO_PKG_VERSION"));
    let mut properties = WriterProperties::builder()
        .set_created_by(writer)
        .set_dictionary_enabled(false);
    for column in columns {
        if let ColumnValues::Whole(_) = column.values {
            let name = ColumnPath::from(column.name.as_str());
            properties = properties.set_column_encoding(name, Encoding::DELTA_BINARY_PACKED);
        }
    }
    let properties = properties.build();
    let mut bytes = Vec::new();
    let schema = Arc::new(schema.build()?);
    let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties))?;
    let mut rows = file.next_row_group()?;
    let mut remaining = columns.iter();
    while let (Some(mut open), Some(column)) = (rows.next_column()?, remaining.next()) {
        match (open.untyped(), &column.values) {
            (ColumnWriter::Int64ColumnWriter(writer), ColumnValues::Whole(values)) => {
                let present: Vec<i64> = values.iter().flatten().copied().collect();
                let levels = values.iter().map(|value| i16::from(value.is_some()));
                let levels: Option<Vec<i16>> = column.optional.then(|| levels.collect());
                writer.write_batch(&present, levels.as_deref(), None)?;
            }
            (ColumnWriter::DoubleColumnWriter(writer), ColumnValues::Real(values)) => {
                writer.write_batch(values, None, None)?;
            }
            _ => unreachable!("the schema is made of the columns"),
        }
        open.close()?;
    }
    rows.close()?;
    file.close()?;
    Ok(bytes)
}

fn field(column: &ParquetColumn) -> Result<Arc<Type>, ParquetError> {
    let kind = match column.values {
        ColumnValues::Whole(_) => Physical::INT64,
        ColumnValues::Real(_) => Physical::DOUBLE,
    };
    let repetition = if column.optional {
        Repetition::OPTIONAL
    } else {
        Repetition::REQUIRED
    };
    let built = Type::primitive_type_builder(&column.name, kind).with_repetition(repetition);
    Ok(Arc::new(built.build()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::testing;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use ssdlab_load::plan::{Language, Mix};

    /// The names are those of the CSV file, and each value is the one that its row has.
    #[test]
    fn the_columns_are_those_of_the_csv_file() {
        let jobs = vec![testing::job("a", Mix::ReadWrite { read_pct: 50 })];
        let plan = testing::plan(Language::Ssdlab, jobs);
        let mut seconds = testing::record(&plan, 5, 3).seconds;
        seconds[2].nand_bytes_written = None;
        let bytes = encoded(&columns(&seconds)).unwrap();
        let file = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let header = csv::series_header(crate::run_dir::FORMAT_VERSION);
        let mut rows = 0;
        for (row, second) in file.get_row_iter(None).unwrap().zip(&seconds) {
            let text = csv::series_row(second);
            let row = row.unwrap();
            let found = row.get_column_iter().map(|(name, value)| {
                let value = match value {
                    Field::Long(n) => n.to_string(),
                    Field::Double(n) => format!("{n:?}"),
                    Field::Null => String::new(),
                    other => panic!("{name}: {other:?}"),
                };
                (name.as_str(), value)
            });
            let wanted = header.split(',').zip(text.trim_end().split(','));
            let wanted = wanted.map(|(name, value)| (name, value.to_owned()));
            assert_eq!(found.collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
            rows += 1;
        }
        assert_eq!(rows, seconds.len());
    }
}
